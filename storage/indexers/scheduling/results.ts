import { StateError } from '../../../protocols/errors.js';
import { Waiters } from '../../../protocols/waiters.js';
import type { Hit, SearchOutcome, SearchResults } from '../contract.js';

/** The connection of results to the search that finds them. */
export interface ResultSource {
  /** Starts the search, which delivers its first batch. */
  start(): void;
  /** Requests the next batch. */
  pull(): void;
  /** Ends the search; no more batches are needed. */
  stop(): void;
}

const ABORTED: SearchOutcome = { complete: false, reason: 'aborted', warnings: [] };

/** The owner's side of one search: requests a batch when the last one is consumed. */
export class EmbeddedResults implements SearchResults, AsyncIterator<Hit> {
  readonly outcome: Promise<SearchOutcome>;
  readonly #source: ResultSource;
  readonly #signal: AbortSignal | undefined;
  #settle: (outcome: SearchOutcome) => void = () => undefined;
  #state: 'new' | 'running' | 'ended' = 'new';
  #hits: readonly Hit[] = [];
  #next = 0;
  #last = false;
  #error: Error | undefined;
  /** Calls of `next` that wait for hits. */
  readonly #waiters = new Waiters();

  constructor(source: ResultSource, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
    this.outcome = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get arrived(): number {
    return Math.max(0, this.#hits.length - this.#next);
  }

  get isDelivered(): boolean {
    return this.#last || this.#state === 'ended';
  }

  [Symbol.asyncIterator](): this {
    if (this.#state !== 'new') throw new StateError('the results of a query can be iterated once');
    return this;
  }

  async next(): Promise<IteratorResult<Hit, undefined>> {
    if (this.#state === 'new') this.#begin();
    for (;;) {
      if (this.#error !== undefined) {
        const error = this.#error;
        this.#error = undefined;
        throw error;
      }
      if (this.#state === 'ended') return { done: true, value: undefined };
      const hit = this.#hits[this.#next];
      if (hit !== undefined) {
        this.#next++;
        return { done: false, value: hit };
      }
      if (this.#last) {
        this.#end();
        continue;
      }
      if (this.#hits.length > 0) {
        this.#hits = [];
        this.#next = 0;
        this.#source.pull();
      }
      await this.#waiters.wait();
    }
  }

  async return(): Promise<IteratorResult<Hit, undefined>> {
    this.abort();
    return { done: true, value: undefined };
  }

  /** Receives a batch; with an outcome it is the last one. */
  deliver(hits: readonly Hit[], outcome: SearchOutcome | undefined): void {
    if (this.#state === 'ended') return;
    this.#hits = hits;
    this.#next = 0;
    if (outcome !== undefined) {
      this.#last = true;
      this.#settle(outcome);
    } else if (hits.length === 0) this.#source.pull();
    this.#waiters.wakeAll();
  }

  /** Ends the iteration with an error, which the next `next()` throws. */
  fail(error: Error): void {
    if (this.#state === 'ended') return;
    this.#error = error;
    this.#settle({ complete: false, warnings: [error.message] });
    this.#end();
  }

  /** Ends the iteration without an error. */
  readonly abort = (): void => {
    if (this.#state === 'ended') return;
    if (this.#state === 'running' && !this.#last) this.#source.stop();
    this.#settle(ABORTED);
    this.#end();
  };

  #begin(): void {
    this.#state = 'running';
    if (this.#signal?.aborted === true) {
      this.#state = 'new';
      this.abort();
      return;
    }
    this.#signal?.addEventListener('abort', this.abort, { once: true });
    try {
      this.#source.start();
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #end(): void {
    this.#state = 'ended';
    this.#hits = [];
    this.#signal?.removeEventListener('abort', this.abort);
    this.#waiters.wakeAll();
  }
}
