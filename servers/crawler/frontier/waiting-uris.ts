// The URIs that wait for a retry beside their queues, which continue meanwhile.

import type { Clock } from '../../../protocols/clock.js';
import type { GathererBatch, QueueEntry, WaitingUri } from '../../../storage/index.js';
import type { WaitingReport } from '../control.js';
import type { Aside } from './contract.js';
import type { FrontierWriter } from './frontier-writer.js';
import type { CandidateIntake } from './intake.js';
import type { QueueLifeCycle } from './life-cycle.js';
import type { QueueMemory } from './queue-memory.js';
import { isTooLong } from './stored-times.js';

/** Maximum number of URIs that return to their queues in one batch. */
const RETURN_LIMIT = 500;

export interface WaitingUrisOptions {
  readonly memory: QueueMemory;
  readonly cycle: QueueLifeCycle;
  readonly writer: FrontierWriter;
  readonly intake: CandidateIntake;
  readonly clock: Clock;
  /** Runs work with the frontier's mutex held. */
  readonly exclusive: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called after URIs returned to their queues. */
  readonly onReturned: () => void;
}

/**
 * The URIs that wait for a retry. They are rows of the store, ordered by the time when they are due; memory
 * holds only their number and the earliest time. A URI leaves its queue in the batch that makes it wait, and
 * returns to its place in the batch that ends the wait, so that a crash finds it in one of the two. While its
 * queue sleeps it waits there like any other URI.
 */
export class WaitingUris {
  readonly #options: WaitingUrisOptions;
  /** Number of URIs that wait, on disk or in a batch in flight. */
  count = 0;
  /** Milliseconds since 1970; undefined if it is not known that a URI waits. */
  #earliest: number | undefined;
  #return: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #closed = false;
  /** Whether every stored URI is due, whatever its time. */
  #overdue = false;

  constructor(options: WaitingUrisOptions) {
    this.#options = options;
  }

  /** Reads the waiting URIs of an interrupted crawl. */
  async restore(): Promise<void> {
    const { waiting } = this.#options.writer.store;
    this.count = await waiting.count();
    const [first] = await waiting.page({ limit: 1 });
    if (first === undefined) return;
    this.#overdue = isTooLong(first.dueTime, this.#options.clock.now());
    this.#expect(this.#overdue ? 0 : first.dueTime);
  }

  /**
   * Moves a URI in process from its queue to the waiting ones. Returns a function to call after the batch is
   * written.
   */
  add(entry: QueueEntry, { delayMs, status, reason }: Aside, batch: GathererBatch): () => void {
    const dueTime = this.#options.clock.now() + Math.max(0, Math.ceil(delayMs));
    batch.dequeue(entry).putWaiting({ dueTime, entry, status, reason });
    this.count++;
    return () => this.#expect(dueTime);
  }

  /** The return of due URIs that is in flight; begins one if URIs are due. */
  get returning(): Promise<void> | undefined {
    if (this.#earliest !== undefined && this.#earliest <= this.#options.clock.now()) void this.returnDue();
    return this.#return;
  }

  /** Returns the due URIs to their queues. @param all whether those that are not due return too */
  returnDue(all = false): Promise<void> {
    const everything = all || this.#overdue;
    this.#overdue = false;
    this.#return ??= this.#returnUntil(everything ? Number.POSITIVE_INFINITY : this.#options.clock.now())
      .catch((error: unknown) => this.#options.writer.fail(error))
      .finally(() => {
        this.#return = undefined;
        this.#options.onReturned();
      });
    return this.#return;
  }

  /** Deletes one in the batch, if it still waits. The caller holds the frontier's mutex. */
  async delete(waiting: WaitingUri, batch: GathererBatch): Promise<boolean> {
    if (!(await this.#options.writer.store.waiting.has(waiting))) return false;
    batch.deleteWaiting(waiting);
    this.count--;
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
  }

  async #returnUntil(time: number): Promise<void> {
    this.#earliest = undefined;
    for (let more = true; more && !this.#closed; ) {
      const { entries, written } = await this.#options.exclusive(async () => {
        // Rows of batches in flight are read too.
        await this.#options.writer.settled();
        const first = await this.#options.writer.store.waiting.page({ limit: RETURN_LIMIT });
        const due = first.filter(({ dueTime }) => dueTime <= time);
        more = due.length === RETURN_LIMIT;
        const next = first.find(({ dueTime }) => dueTime > time);
        if (next !== undefined) this.#expect(next.dueTime);
        const entries = due.map(({ entry }) => entry);
        if (entries.length === 0) return { entries, written: Promise.resolve() };
        const batch = this.#options.writer.store.batch();
        const queues = await this.#options.memory.load([...new Set(entries.map(({ classKey }) => classKey))]);
        for (const waiting of due) {
          batch.deleteWaiting(waiting).enqueue(waiting.entry);
          const queue = this.#options.memory.queues.get(waiting.entry.classKey)!;
          queue.count++;
          this.count--;
          if (queue.state !== 'retired') this.#options.cycle.queued++;
        }
        for (const queue of queues) this.#options.cycle.hold(queue, batch);
        return { entries, written: this.#options.writer.submit(batch, queues) };
      });
      await written;
      this.#options.intake.markAvailable(entries);
    }
  }

  #expect(dueTime: number): void {
    if (this.#earliest !== undefined && this.#earliest <= dueTime) return;
    this.#earliest = dueTime;
    this.#cancelTimer?.();
    if (this.#closed) return;
    const { clock } = this.#options;
    this.#cancelTimer = clock.setTimer(() => {
      if (this.#closed || this.#earliest === undefined) return;
      if (this.#earliest <= clock.now()) void this.returnDue();
      else {
        // The longest delay of a timer is shorter than the wait.
        const time = this.#earliest;
        this.#earliest = undefined;
        this.#expect(time);
      }
    }, dueTime - clock.now());
  }
}

/** The report of a stored URI that waits. */
export function waitingReport({
  dueTime,
  status,
  reason,
  entry: { classKey, uri },
}: WaitingUri): WaitingReport {
  return { url: uri.url, classKey, status, attempts: uri.attempts, dueTime, reason };
}
