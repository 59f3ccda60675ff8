// The places of `Max-Queries`, as resources that their holder disposes of.

/** A place of a running query. Disposing of it twice has no effect. */
export type QuerySlot = Disposable;

/** Who wants a slot, and for how long the request may wait. */
export interface SlotRequest {
  /** The client that the slot is for, usually its address. Requests without one count as different clients. */
  readonly client?: string | undefined;
  /** Milliseconds to wait; 0 does not wait. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for which the query has held slots before; one that has used little comes first. Default 0. */
  readonly usedMs?: number;
  /**
   * Called when others wait and the holder has had its turn. The holder disposes of the slot and returns true, or keeps it because it
   * cannot pause. Default: it is kept until its holder disposes of it.
   */
  readonly onRecall?: () => boolean;
}

interface Waiter {
  readonly request: SlotRequest;
  grant(slot: QuerySlot): void;
}

interface Holder {
  readonly key: unknown;
  /** When its turn began, milliseconds. */
  since: number;
  readonly onRecall: (() => boolean) | undefined;
}

/** The share of the slots that one client may hold, so that the others find one. */
const CLIENT_SHARE = 0.75;

/** Milliseconds for which a query holds its slot while others wait; a query that has held slots for less is a cheap one. */
const TURN_MS = 50;

/** Every such slot goes to a query that has had its turn, so that a stream of new ones does not stop it. */
const GRANTS_PER_LONG = 4;

/** The requests that wait, by client, in the order in which the clients are served. */
class Line {
  readonly clients = new Map<unknown, Set<Waiter>>();

  get size(): number {
    let count = 0;
    for (const waiters of this.clients.values()) count += waiters.size;
    return count;
  }

  add(key: unknown, waiter: Waiter): void {
    const waiters = this.clients.get(key);
    if (waiters === undefined) this.clients.set(key, new Set([waiter]));
    else waiters.add(waiter);
  }

  remove(key: unknown, waiter: Waiter): void {
    const waiters = this.clients.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.clients.delete(key);
  }

  /** The first request of the first client that may have a slot; the client goes to the end of the line. */
  next(mayHave: (key: unknown) => boolean): readonly [key: unknown, waiter: Waiter] | undefined {
    for (const [key, waiters] of this.clients) {
      const [first] = waiters;
      if (first === undefined || !mayHave(key)) continue;
      this.clients.delete(key);
      this.clients.set(key, waiters);
      return [key, first];
    }
    return undefined;
  }
}

/**
 * BRK-7.3 `Max-Queries`: limits the number of concurrent queries. A slot is held while a page of results is computed, not while the
 * client reads it. Waiting clients take turns, whatever the number of their requests; the requests of one client keep their order. One
 * client holds three quarters of the slots at most. While others wait, a query that can pause gives its slot away after a short turn and
 * waits for its next one behind the queries that have used less: a cheap query waits for one turn of expensive ones, not for their end.
 */
export class QuerySlots {
  readonly #max: () => number;
  /** Requests of queries that have not used a turn yet. */
  readonly #cheap = new Line();
  readonly #long = new Line();
  /** Slots in use, the oldest turn first. */
  readonly #holders = new Set<Holder>();
  /** Slots in use, by client. */
  readonly #held = new Map<unknown, number>();
  #grants = 0;
  #recallTimer: NodeJS.Timeout | undefined;
  #isRecalling = false;

  /** @param max returns the number of slots, which a command may change */
  constructor(max: () => number) {
    this.#max = max;
  }

  get inUse(): number {
    return this.#holders.size;
  }

  /** Requests that wait for a slot. */
  get waiting(): number {
    return this.#cheap.size + this.#long.size;
  }

  /** Waits for a slot. Returns undefined if none becomes free in time, or after an abort. */
  async acquire(request: SlotRequest): Promise<QuerySlot | undefined> {
    const { client, waitMs, signal, usedMs = 0 } = request;
    if (signal?.aborted === true) return undefined;
    const key: unknown = client ?? Symbol('request');
    // `#set Max-Queries` may have added slots.
    this.#serveWaiting();
    const line = usedMs < TURN_MS ? this.#cheap : this.#long;
    // A client that waits already goes first to those of its requests that came earlier.
    if (this.#mayHave(key) && !line.clients.has(key)) return this.#grant(key, request);
    if (waitMs <= 0) return undefined;
    return new Promise((resolve) => {
      const settle = (slot?: QuerySlot) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        line.remove(key, waiter);
        if (this.waiting === 0) clearTimeout(this.#recallTimer);
        resolve(slot);
      };
      const waiter: Waiter = { request, grant: settle };
      const abort = () => settle();
      const timer = setTimeout(abort, waitMs);
      signal?.addEventListener('abort', abort, { once: true });
      line.add(key, waiter);
      this.#recall();
    });
  }

  get #share(): number {
    return Math.max(1, Math.floor(this.#max() * CLIENT_SHARE));
  }

  readonly #mayHave = (key: unknown): boolean =>
    this.#holders.size < this.#max() && (this.#held.get(key) ?? 0) < this.#share;

  #grant(key: unknown, { onRecall }: SlotRequest): QuerySlot {
    const holder: Holder = { key, since: performance.now(), onRecall };
    this.#holders.add(holder);
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    return { [Symbol.dispose]: () => this.#release(holder) };
  }

  #release(holder: Holder): void {
    if (!this.#holders.delete(holder)) return;
    const { key } = holder;
    const held = (this.#held.get(key) ?? 1) - 1;
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#serveWaiting();
  }

  /** Gives the free slots to the clients in their turn. */
  #serveWaiting(): void {
    for (;;) {
      const isLongFirst = (this.#grants + 1) % GRANTS_PER_LONG === 0;
      const [first, second] = isLongFirst ? [this.#long, this.#cheap] : [this.#cheap, this.#long];
      const found = first.next(this.#mayHave) ?? second.next(this.#mayHave);
      if (found === undefined) break;
      this.#grants += 1;
      const [key, waiter] = found;
      waiter.grant(this.#grant(key, waiter.request));
    }
    this.#recall();
  }

  /** Recalls a slot for each request that waits, from those whose turn is over. */
  #recall(): void {
    if (this.#isRecalling) return;
    clearTimeout(this.#recallTimer);
    let wanted = this.waiting;
    if (wanted === 0) return;
    const now = performance.now();
    this.#isRecalling = true;
    try {
      for (const holder of [...this.#holders]) {
        if (holder.onRecall === undefined || !this.#isUseful(holder)) continue;
        const left = holder.since + TURN_MS - now;
        if (left > 0) {
          this.#recallLater(left);
          return;
        }
        // The holder asks for its next turn before this returns.
        if (holder.onRecall()) wanted -= 1;
        else this.#prolong(holder, now);
        if (wanted === 0) break;
      }
    } finally {
      this.#isRecalling = false;
    }
    if (this.waiting > 0 && this.#holders.size > 0) this.#recallLater(TURN_MS);
  }

  #recallLater(milliseconds: number): void {
    clearTimeout(this.#recallTimer);
    this.#recallTimer = setTimeout(() => this.#recall(), Math.ceil(milliseconds));
  }

  /** A holder that cannot pause now is asked again after another turn. */
  #prolong(holder: Holder, now: number): void {
    if (!this.#holders.delete(holder)) return;
    holder.since = now;
    this.#holders.add(holder);
  }

  /** Whether a client that waits may have the slot of this holder: its own, or another one while it has less than its share. */
  #isUseful({ key }: Holder): boolean {
    for (const { clients } of [this.#cheap, this.#long]) {
      for (const client of clients.keys())
        if (client === key || (this.#held.get(client) ?? 0) < this.#share) return true;
    }
    return false;
  }
}
