// One request for objects, from where it enters to the engine.
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import type { SessionShare } from '../../host/fair-share.js';
import { QuerySlot, type QuerySlots } from './query-slots.js';
import type { PageBudget, ReplyMemory } from './reply-memory.js';

/** Longest delay of a timer, milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Time for which a query waits for its first slot, unless the caller sets another (BRK-4.18). */
const DEFAULT_WAIT_MS = 10_000;

/** The cost of an item of a reply, and of each byte, until they are sent; milliseconds of processor time. */
const ITEM_COST_MS = 0.002;
const BYTE_COST_MS = 0.000_005;

/** Who sends a request. */
export interface Caller {
  /** Its share of the event loop. Default: the request waits for no turns. */
  readonly share?: Pick<SessionShare, 'mayContinue' | 'turn' | 'charge'> | undefined;
  /** Its address: clients take turns (`query-slots.ts`). Default: another client than all others. */
  readonly client?: string | undefined;
  /**
   * Milliseconds for which a query waits for a slot when `Max-Queries` are running, default 10 000 (BRK-4.18).
   */
  readonly waitMs?: number | undefined;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Ends the reply when it occupies memory that others wait for (`reply-memory.ts`). Default: it is never
   * ended.
   */
  readonly cut?: ((reason: string) => void) | undefined;
  /** Resolves when a refusal may be sent. Default: immediately. */
  readonly beforeRefusal?: (() => Promise<void>) | undefined;
}

/** The resources that the requests of a Broker share. */
export interface SharedResources {
  readonly slots: QuerySlots;
  readonly memory: ReplyMemory;
  /** Aborted when the broker closes. */
  readonly closing: AbortSignal;
  /** BRK-8.14 `Glimpse-MaxLife`: the longest lifetime of a query, seconds. */
  readonly maxLife: number;
}

/**
 * A query or a bulk transfer: made once, where it enters (a connection to the port, a call in this process),
 * and passed through to the engine. Its maker disposes of it: that stops the request and gives back its slot,
 * its memory and its timer.
 */
export class RequestContext implements Disposable {
  readonly client: string | undefined;
  /** Milliseconds for which the request waits for its first slot. */
  readonly waitMs: number;
  /** The memory of its pages. */
  readonly pages: PageBudget;
  /** Its slot of `Max-Queries`. */
  readonly slot: QuerySlot;
  /** Whether the next page takes work that needs a slot; false when all that is left is to make the reply. */
  needsSlot = true;
  /**
   * Aborted when the request is over: by its caller, by the end of its lifetime, or because the broker closes.
   */
  readonly signal: AbortSignal;
  /** Resolves when a refusal may be sent; rejects when the client is gone. */
  readonly beforeRefusal: () => Promise<void>;
  readonly #share: Caller['share'];
  readonly #stop: LinkedAbort;
  readonly #sources: readonly (AbortSignal | undefined)[];
  readonly #maxLifeMs: number;
  /** End of the lifetime, on the clock of `performance.now()`. */
  #end: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasExpired = false;

  constructor({ slots, memory, closing, maxLife }: SharedResources, caller: Caller = {}) {
    this.client = caller.client;
    this.waitMs = caller.waitMs ?? DEFAULT_WAIT_MS;
    this.pages = memory.enter(caller);
    this.beforeRefusal = caller.beforeRefusal ?? (() => Promise.resolve());
    this.#share = caller.share;
    this.#sources = [caller.signal, closing];
    this.#stop = new LinkedAbort(...this.#sources);
    this.signal = this.#stop.signal;
    this.#maxLifeMs = Math.min(maxLife * 1000, MAX_TIMER_MS);
    const { client, signal } = this;
    this.slot = new QuerySlot({ slots, client, signal, remainingMs: () => this.remainingMs });
  }

  /** Whether the caller or the end of the broker has ended the request. */
  get isCanceled(): boolean {
    return this.#sources.some((source) => source?.aborted);
  }

  /** Whether the lifetime is over. */
  get hasExpired(): boolean {
    return this.#hasExpired;
  }

  /**
   * Milliseconds of the lifetime that are left, at least 1; without {@link expireAfter} the longest lifetime.
   */
  get remainingMs(): number {
    return this.#end === undefined ? this.#maxLifeMs : Math.max(1, this.#end - performance.now());
  }

  /** Ends the request after some milliseconds. */
  expireAfter(milliseconds: number): void {
    const delay = Math.min(milliseconds, MAX_TIMER_MS);
    this.#end = performance.now() + delay;
    this.#timer = setTimeout(() => {
      this.#hasExpired = true;
      this.#stop.abort();
    }, delay).unref();
  }

  /**
   * Takes memory for a page. While it waits for others to read their pages, the request has no slot: the
   * rest of this page needs none.
   */
  hold(bytes: number): Promise<Disposable> {
    const held = this.pages.tryHold(bytes);
    if (held !== undefined) return Promise.resolve(held);
    this.slot.leave();
    return this.pages.hold(bytes, this.signal);
  }

  /**
   * Waits until the client has its turn to work in this thread, without a slot. Rejects when the request is over:
   * for a client that is gone nothing is done.
   */
  async turn(): Promise<void> {
    if (this.#share === undefined || this.#share.mayContinue()) return;
    this.slot.leave();
    await this.#share.turn(this.signal);
    this.signal.throwIfAborted();
  }

  /** Charges the client for items of its reply. */
  charge(items: number, bytes: number): void {
    this.#share?.charge(items * ITEM_COST_MS + bytes * BYTE_COST_MS);
  }

  /** Stops the request; it gives back what it has at its next step. */
  abort(): void {
    this.#stop.abort();
  }

  /** Gives everything back. May be called twice. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#stop[Symbol.dispose]();
    this.slot.leave();
    this.pages[Symbol.dispose]();
  }
}
