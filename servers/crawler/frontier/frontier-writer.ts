import { setImmediate as nextTick } from 'node:timers/promises';
import type { Mutex } from '../../../protocols/mutex.js';
import type { GathererBatch } from '../../../storage/index.js';
import type { Counters } from './accounting.js';
import type { FrontierStore } from './frontier-store.js';
import type { InactiveQueues } from './inactive-queues.js';
import type { SeenUris } from './seen-uris.js';
import type { WorkQueue } from './work-queue.js';

/** Writes the frontier's batches, each with the records of its queues and the counters. */
export class FrontierWriter {
  readonly #seen: SeenUris;
  readonly #mutex: Mutex;
  readonly #inactive: InactiveQueues;
  readonly #onFailure: () => void;
  /** URIs in queues that are not retired, as of the batch that is submitted. */
  pending: () => number = () => 0;
  readonly counters: Counters = { nextOrdinal: 1, succeeded: 0, failed: 0, disregarded: 0, bytes: 0 };
  /** Failure of a write that no caller awaits. */
  failure: { readonly error: unknown } | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  /** Callers that wait for the seen filter to be written. */
  readonly #seenWaiters: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  /** Callbacks to run after a batch is written. */
  readonly #callbacks = new Map<GathererBatch, (() => void)[]>();

  constructor(
    readonly store: FrontierStore,
    seen: SeenUris,
    mutex: Mutex,
    inactive: InactiveQueues,
    onFailure: () => void,
  ) {
    this.#seen = seen;
    this.#mutex = mutex;
    this.#inactive = inactive;
    this.#onFailure = onFailure;
  }

  /**
   * Adds the records of the queues to the batch and submits it to the store, which writes batches in the order
   * of submission. Resolves after the write and the callbacks of {@link after}. A lazy batch waits up to 5 ms
   * for others, so that one write stores them all.
   */
  submit(batch: GathererBatch, queues: readonly WorkQueue[], lazy = false): Promise<void> {
    const changed = new Set(queues);
    for (const queue of changed) {
      queue.writes++;
      batch.putQueue(queue.toRecord());
    }
    const { nextSequence } = this.#inactive;
    batch.putFrontierState({ ...this.counters, nextSequence, pending: this.pending() });
    const callbacks = this.#callbacks.get(batch);
    this.#callbacks.delete(batch);
    const written = batch.commit({ lazy }).then(() => {
      for (const queue of changed) queue.writes--;
      for (const callback of callbacks ?? []) callback();
    });
    this.#writes = written.catch(() => undefined);
    return written;
  }

  /** {@link submit} without waiting: runs `then` after the write; a failure ends the crawl. */
  submitInBackground(batch: GathererBatch, queues: readonly WorkQueue[], then: () => void): void {
    this.submit(batch, queues).then(then, (error) => this.fail(error));
  }

  /** Registers `work` to run after the batch is written. Must be called before the batch is submitted. */
  after(batch: GathererBatch, work: () => void): void {
    const callbacks = this.#callbacks.get(batch);
    if (callbacks === undefined) this.#callbacks.set(batch, [work]);
    else callbacks.push(work);
  }

  /** Records a failure, which ends the crawl. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.#onFailure();
  }

  /** Waits for the writes in flight. */
  async settled(): Promise<void> {
    await this.store.flush();
    await this.#writes;
  }

  /**
   * Writes the seen filter to disk under the mutex. A filter with its own files must not be written before the
   * batches that queue its URIs. It is written while no batch is in flight, once for all callers that wait.
   */
  flushSeen(): Promise<void> {
    if (this.#seen.inStore) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (this.#seenWaiters.push({ resolve, reject }) === 1)
        void this.#mutex.runExclusive(() => this.flushSeenUnderMutex());
    });
  }

  /**
   * {@link flushSeen} for a caller that holds the mutex. A failure is reported to the callers of
   * {@link flushSeen} only.
   */
  async flushSeenUnderMutex(): Promise<void> {
    try {
      await this.settled();
      // Callers whose batch was just written arrive here in the next tick.
      await nextTick();
      await this.#seen.commit();
      for (const { resolve } of this.#seenWaiters.splice(0)) resolve();
    } catch (error) {
      for (const { reject } of this.#seenWaiters.splice(0)) reject(error);
    }
  }
}
