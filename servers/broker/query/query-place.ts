// The place of one query: it is given away while others need it, and the query pauses meanwhile.
import { LinkedAbort } from '../../../protocols/linked-abort.js';
import { Pace } from '../../../storage/indexers/index.js';
import type { QuerySlot, QuerySlots } from './query-slots.js';

/** Options of a {@link QueryPlace}. */
export interface QueryPlaceOptions {
  readonly slots: QuerySlots;
  /** The client by which places are given. */
  readonly client: string | undefined;
  readonly signal: AbortSignal;
  /** Returns the milliseconds that the query may still wait for its next turn. */
  readonly remainingMs: () => number;
}

/**
 * A slot of `Max-Queries` for the whole of a query, taken with {@link enter} and given back with {@link leave}. When its turn is over and
 * others wait, the query pauses at the engine ({@link pace}), gives the slot away and takes the next one that it gets.
 */
export class QueryPlace implements Disposable {
  /** To be passed to the engine. */
  readonly pace = new Pace();
  readonly #options: QueryPlaceOptions;
  #slot: QuerySlot | undefined;
  /** Ends the waiting for the next turn. */
  #waiting: LinkedAbort | undefined;
  #usedMs = 0;
  #since = 0;

  constructor(options: QueryPlaceOptions) {
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
    this.pace.resume();
  }

  [Symbol.dispose](): void {
    this.leave();
  }

  #acquire(waitMs: number, signal: AbortSignal): Promise<QuerySlot | undefined> {
    const { slots, client } = this.#options;
    return slots.acquire({ client, waitMs, signal, usedMs: this.#usedMs, onRecall: this.#onRecall });
  }

  #take(slot: QuerySlot | undefined): void {
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
    if (!this.pace.isWatched || this.#slot === undefined) return false;
    this.pace.pause();
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
      // Without a slot the query's time is over: it goes on to its end.
      this.pace.resume();
    });
    return true;
  };
}
