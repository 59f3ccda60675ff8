import { setImmediate as nextTick } from 'node:timers/promises';
import type { Mutex } from '../../../protocols/mutex.js';
import type { GathererBatch, GathererStore } from '../../../storage/index.js';
import type { Counters } from './accounting.js';
import type { InactiveQueues } from './inactive-queues.js';
import type { SeenUris } from './seen-uris.js';
import type { WorkQueue } from './work-queue.js';

/** Writes what the frontier changes: every batch takes the records of its queues and the counters along. */
export class FrontierWriter {
  readonly counters: Counters = { nextOrdinal: 1, succeeded: 0, failed: 0, disregarded: 0, bytes: 0 };
  /** A write that nobody waits for has failed. */
  failure: { readonly error: unknown } | undefined;
  #writes: Promise<unknown> = Promise.resolve();
  /** They wait for the seen filter to be written. */
  readonly #seenWaiters: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  /** What is to be done when a batch is written. */
  readonly #followers = new Map<GathererBatch, (() => void)[]>();

  constructor(
    readonly store: GathererStore,
    private readonly seen: SeenUris,
    private readonly mutex: Mutex,
    private readonly inactive: InactiveQueues,
    private readonly onFailure: () => void,
  ) {}

  /** Puts the records of the queues into the batch and hands it to the store; what was handed over first is written first. */
  submit(batch: GathererBatch, queues: readonly WorkQueue[], lazy = false): Promise<void> {
    const changed = new Set(queues);
    for (const queue of changed) {
      queue.writes++;
      batch.putQueue(queue.toRecord());
    }
    batch.putFrontierState({ ...this.counters, nextSequence: this.inactive.nextSequence });
    const followers = this.#followers.get(batch);
    this.#followers.delete(batch);
    const written = batch.commit({ lazy }).then(() => {
      for (const queue of changed) queue.writes--;
      for (const follow of followers ?? []) follow();
    });
    this.#writes = written.catch(() => undefined);
    return written;
  }

  /** {@link submit} for those who do not wait: `then` runs when it is written; a failure ends the crawl. */
  submitAside(batch: GathererBatch, queues: readonly WorkQueue[], then: () => void): void {
    this.submit(batch, queues).then(then, (error) => this.fail(error));
  }

  /** Runs `work` when the batch is written. */
  after(batch: GathererBatch, work: () => void): void {
    const followers = this.#followers.get(batch);
    if (followers === undefined) this.#followers.set(batch, [work]);
    else followers.push(work);
  }

  fail(error: unknown): void {
    this.failure ??= { error };
    this.onFailure();
  }

  /** Waits for the writes under way. */
  async settled(): Promise<void> {
    await this.store.flush();
    await this.#writes;
  }

  /**
   * Lets the seen filter reach the disk. One with files of its own must not be there before the batches that queue what it holds: so
   * it is written when none is under way, for all that wait at that time together.
   */
  keepSeen(): Promise<void> {
    if (this.seen.inStore) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (this.#seenWaiters.push({ resolve, reject }) === 1)
        void this.mutex.runExclusive(() => this.writeSeen());
    });
  }

  /** The caller holds the mutex. */
  async writeSeen(): Promise<void> {
    try {
      await this.settled();
      // Whoever has just heard that its batch is written comes to wait for this.
      await nextTick();
      await this.seen.written();
      for (const { resolve } of this.#seenWaiters.splice(0)) resolve();
    } catch (error) {
      for (const { reject } of this.#seenWaiters.splice(0)) reject(error);
    }
  }
}
