// The slots of `Max-Queries`, which queries hold and give away while others need them.
import { LRUCache } from 'lru-cache';
import { FairQueue, RecentWork, type TurnRule } from '../../../protocols/fair-queue.js';
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { PauseSwitch } from '../../../storage/indexers/index.js';

/** Who wants a slot, and for how long the request may wait. */
export interface SlotRequest {
  /** The client that the slot is for, usually its address. Requests without one count as different clients. */
  readonly client?: string | undefined;
  /** Milliseconds to wait; 0 does not wait. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds for which the query has held slots before; one that has used little comes first. Default 0.
   */
  readonly usedMs?: number;
  /**
   * Called when others wait and the holder has had its turn. The holder disposes of the slot and returns true,
   * or keeps it because it cannot pause. Default: it is kept until its holder disposes of it.
   */
  readonly onRecall?: () => boolean;
}

interface Waiter {
  readonly request: SlotRequest;
  grant(slot: Disposable): void;
}

interface Holder {
  readonly key: unknown;
  /** When its turn began, milliseconds. */
  since: number;
  readonly onRecall: (() => boolean) | undefined;
}

/** The share of the slots that one client may hold, so that the others find one. */
const CLIENT_SHARE = 0.75;

/** Milliseconds for which a query holds its slot while others wait that have had a turn, too. */
const TURN_MS = 50;

/** The same while cheap ones wait, which have held slots for less than this: most of them need no second turn. */
const SHORT_TURN_MS = 4;

/** Every such slot goes to a query that has had its turn, so that a stream of new ones does not stop it. */
const GRANTS_PER_LONG = 4;

/** Every such slot goes to the query that has waited longest, whatever its client has had. */
const GRANTS_PER_OLDEST = 16;

/** The work of a client counts half after this many milliseconds, whether its queries have ended or it has gone. */
const HALF_LIFE_MS = 5_000;

/** Clients whose work is remembered; the one that has been quiet longest is forgotten first. */
const MAX_CLIENTS = 10_000;

/** Levels of the requests that wait: of queries that have not used a short turn yet, and of the others. */
const [CHEAP, LONG] = [0, 1];

/**
 * BRK-7.3 `Max-Queries`: limits the number of concurrent queries. A slot is held while a page of results is
 * computed, not while the client reads it. The next slot is that of the client whose queries have had least of
 * them lately, whatever their number, and also if all that it asked before is over or was left by it; the requests
 * of one client keep their order. One client holds three quarters of the slots at most. While
 * others wait, a query that can pause gives its slot away after a short turn and waits for its next one after
 * the queries that have used less: a cheap query waits for one turn of expensive ones, not for their end.
 */
export class QuerySlots {
  readonly #max: () => number;
  /** The requests that wait, by client. */
  readonly #queue = new FairQueue<unknown, Waiter>();
  /** Slots in use, the oldest turn first. */
  readonly #holders = new Set<Holder>();
  /** Slots in use, by client. */
  readonly #held = new Map<unknown, number>();
  /** What each client has had, in milliseconds of one slot. */
  readonly #work = new LRUCache<string, RecentWork>({ max: MAX_CLIENTS });
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
    return this.#queue.size;
  }

  /** Waits for a slot. Returns undefined if none becomes free in time, or after an abort. */
  async acquire(request: SlotRequest): Promise<Disposable | undefined> {
    const { client, waitMs, signal, usedMs = 0 } = request;
    if (signal?.aborted === true) return undefined;
    const key: unknown = client ?? Symbol('request');
    // `#set Max-Queries` may have added slots. Those that wait go first: afterwards none of them may have one.
    this.#serveWaiting();
    if (this.#holders.size < this.#max() && this.#isBelowShare(key)) return this.#grant(key, request);
    if (waitMs <= 0) return undefined;
    return new Promise((resolve) => {
      const settle = (slot?: Disposable) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#queue.remove(waiting);
        if (this.waiting === 0) clearTimeout(this.#recallTimer);
        resolve(slot);
      };
      const waiting = this.#queue.add(key, { request, grant: settle }, usedMs < SHORT_TURN_MS ? CHEAP : LONG);
      const abort = () => settle();
      const timer = setTimeout(abort, waitMs);
      signal?.addEventListener('abort', abort, { once: true });
      this.#recall();
    });
  }

  #isBelowShare(key: unknown): boolean {
    return (this.#held.get(key) ?? 0) < Math.max(1, Math.floor(this.#max() * CLIENT_SHARE));
  }

  #grant(key: unknown, { onRecall }: SlotRequest): Disposable {
    const holder: Holder = { key, since: performance.now(), onRecall };
    this.#holders.add(holder);
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    return { [Symbol.dispose]: () => this.#release(holder) };
  }

  #release(holder: Holder): void {
    if (!this.#holders.delete(holder)) return;
    const { key } = holder;
    // Those who hold slots at a time divide the time among themselves.
    this.#charge(holder, 1 + this.#holders.size);
    const held = (this.#held.get(key) ?? 1) - 1;
    if (held === 0) this.#held.delete(key);
    else this.#held.set(key, held);
    this.#serveWaiting();
  }

  get #nextRule(): TurnRule {
    const grants = this.#grants + 1;
    if (grants % GRANTS_PER_OLDEST === 0) return 'oldest';
    return grants % GRANTS_PER_LONG === 0 ? 'last level' : 'level';
  }

  #workOf(key: unknown, now: number): number {
    return typeof key === 'string' ? (this.#work.peek(key)?.at(now) ?? 0) : 0;
  }

  #charge({ key, since }: Holder, sharers: number): void {
    if (typeof key !== 'string') return;
    const now = performance.now();
    const work = this.#work.get(key) ?? new RecentWork(HALF_LIFE_MS);
    work.add((now - since) / sharers, now);
    this.#work.set(key, work);
  }

  /** Gives the free slots to the clients in their turn. */
  #serveWaiting(): void {
    while (this.#holders.size < this.#max()) {
      const now = performance.now();
      const found = this.#queue.take(this.#nextRule, (key) =>
        this.#isBelowShare(key) ? this.#workOf(key, now) : Infinity,
      );
      if (found === undefined) break;
      this.#grants += 1;
      const { key, item } = found;
      item.grant(this.#grant(key, item.request));
    }
    this.#recall();
  }

  /** Recalls a slot for each request that waits, from those whose turn is over. */
  #recall(): void {
    if (this.#isRecalling) return;
    clearTimeout(this.#recallTimer);
    const cheap = this.#queue.sizeOf(CHEAP);
    let wanted = cheap > 0 ? cheap : this.waiting;
    if (wanted === 0) return;
    const now = performance.now();
    const turnMs = cheap > 0 ? SHORT_TURN_MS : TURN_MS;
    this.#isRecalling = true;
    try {
      for (const holder of [...this.#holders]) {
        if (holder.onRecall === undefined || !this.#isUseful(holder)) continue;
        const left = holder.since + turnMs - now;
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
    if (this.waiting > 0 && this.#holders.size > 0) this.#recallLater(turnMs);
  }

  #recallLater(milliseconds: number): void {
    clearTimeout(this.#recallTimer);
    this.#recallTimer = setTimeout(() => this.#recall(), Math.ceil(milliseconds));
  }

  /** A holder that cannot pause now is asked again after another turn. */
  #prolong(holder: Holder, now: number): void {
    if (!this.#holders.delete(holder)) return;
    this.#charge(holder, 1 + this.#holders.size);
    holder.since = now;
    this.#holders.add(holder);
  }

  /**
   * Whether a client that waits may have the slot of this holder: its own, or another one while it has less
   * than its share.
   */
  #isUseful({ key }: Holder): boolean {
    for (const client of this.#queue.keys()) if (client === key || this.#isBelowShare(client)) return true;
    return false;
  }
}

/** Options of a {@link QuerySlot}. */
export interface QuerySlotOptions {
  readonly slots: QuerySlots;
  /** The client by which slots are given. */
  readonly client: string | undefined;
  readonly signal: AbortSignal;
  /** Returns the milliseconds that the query may still wait for its next turn. */
  readonly remainingMs: () => number;
}

/**
 * A slot of `Max-Queries` for the whole of a query, taken with {@link enter} and given back with {@link leave}.
 * When its turn is over and others wait, the query pauses at the engine ({@link pause}), gives the slot away
 * and takes the next one that it gets.
 */
export class QuerySlot implements Disposable {
  /** To be passed to the engine. */
  readonly pause = new PauseSwitch();
  readonly #options: QuerySlotOptions;
  #slot: Disposable | undefined;
  /** Ends the waiting for the next turn. */
  #waiting: LinkedAbort | undefined;
  #usedMs = 0;
  #since = 0;

  constructor(options: QuerySlotOptions) {
    this.#options = options;
  }

  /** Waits for a slot. Returns false if none becomes free in time, or after an abort. */
  async enter(waitMs: number): Promise<boolean> {
    const slot = await this.#acquire(waitMs, this.#options.signal);
    this.#take(slot);
    return slot !== undefined;
  }

  /** Gives the slot back. May be called twice. */
  leave(): void {
    this.#waiting?.abort();
    this.#waiting?.[Symbol.dispose]();
    this.#waiting = undefined;
    this.#giveBack();
    this.pause.resume();
  }

  [Symbol.dispose](): void {
    this.leave();
  }

  #acquire(waitMs: number, signal: AbortSignal): Promise<Disposable | undefined> {
    const { slots, client } = this.#options;
    return slots.acquire({ client, waitMs, signal, usedMs: this.#usedMs, onRecall: this.#onRecall });
  }

  #take(slot: Disposable | undefined): void {
    this.#slot = slot;
    this.#since = performance.now();
  }

  #giveBack(): void {
    const slot = this.#slot;
    if (slot === undefined) return;
    this.#slot = undefined;
    this.#usedMs += performance.now() - this.#since;
    slot[Symbol.dispose]();
  }

  readonly #onRecall = (): boolean => {
    if (!this.pause.isWatched || this.#slot === undefined) return false;
    this.pause.pause();
    this.#giveBack();
    const waiting = new LinkedAbort(this.#options.signal);
    this.#waiting = waiting;
    void this.#acquire(this.#options.remainingMs(), waiting.signal).then((slot) => {
      if (this.#waiting !== waiting) {
        slot?.[Symbol.dispose]();
        return;
      }
      this.#waiting = undefined;
      waiting[Symbol.dispose]();
      this.#take(slot);
      // Without a slot the query's time is over: it continues to its end.
      this.pause.resume();
    });
    return true;
  };
}
