import type { GathererStore } from '../../../storage/index.js';
import type { QueueState } from '../states.js';
import { WorkQueue } from './work-queue.js';

/** Bounds of the URIs in memory of one active queue. */
const MIN_WINDOW = 8;
const MAX_WINDOW = 256;

export interface QueueMemoryOptions {
  /** Number of resting queues that stay in memory. A queue rests while it is exhausted, inactive or retired. */
  readonly restingQueues: number;
  /**
   * Number of URIs in memory that the active queues share. An active queue has at least 8, so many active
   * queues exceed it.
   */
  readonly windowEntries: number;
}

/**
 * The queues in memory: all active ones and some resting ones (CRAWL-5.3). The others are records on disk and
 * are loaded when a URI is queued in them. Memory is proportional to the active queues.
 */
export class QueueMemory {
  readonly #records: GathererStore['queueRecords'];
  readonly #options: QueueMemoryOptions;
  readonly queues = new Map<string, WorkQueue>();
  /** The resting queues, which may be removed from memory; the longest resting first. */
  readonly #resting = new Set<WorkQueue>();
  /** Number of queues by state, in memory and on disk; exhausted ones only in memory. */
  readonly status: Record<QueueState, number> = {
    exhausted: 0,
    inactive: 0,
    ready: 0,
    'in-process': 0,
    snoozed: 0,
    retired: 0,
  };

  constructor(records: GathererStore['queueRecords'], options: QueueMemoryOptions) {
    this.#records = records;
    this.#options = options;
  }

  /** Adds a queue when the frontier opens, in the state `exhausted`. */
  add(queue: WorkQueue): void {
    this.queues.set(queue.classKey, queue);
    this.status.exhausted++;
  }

  /**
   * Returns the queues of these class keys, from memory or disk, or new ones. They stay in memory until
   * {@link trim}.
   */
  async load(classKeys: readonly string[]): Promise<WorkQueue[]> {
    const missing = classKeys.filter((classKey) => !this.queues.has(classKey));
    const records = missing.length === 0 ? [] : await this.#records.getMany(missing);
    missing.forEach((classKey, i) => {
      const record = records[i];
      const queue = record === undefined ? new WorkQueue(classKey) : WorkQueue.restored(record);
      if (queue.state === 'exhausted') this.status.exhausted++;
      this.queues.set(classKey, queue);
      this.rest(queue);
    });
    return classKeys.map((classKey) => this.queues.get(classKey)!);
  }

  setState(queue: WorkQueue, state: QueueState): void {
    this.status[queue.state]--;
    this.status[state]++;
    queue.state = state;
    if (state === 'ready' || state === 'in-process' || state === 'snoozed') this.#resting.delete(queue);
  }

  /** Marks a queue as resting: no worker will take a URI from it soon, so it may be removed from memory. */
  rest(queue: WorkQueue): void {
    queue.window.clear(queue.count > 0);
    this.#resting.delete(queue);
    this.#resting.add(queue);
  }

  /** Removes the longest resting queues from memory; their records are on disk. */
  trim(): void {
    let surplus = this.#resting.size - this.#options.restingQueues;
    if (surplus <= 0) return;
    for (const queue of this.#resting) {
      if (surplus-- <= 0) return;
      if (queue.writes > 0) continue;
      this.#resting.delete(queue);
      this.queues.delete(queue.classKey);
      if (queue.state === 'exhausted') this.status.exhausted--;
    }
  }

  /** Number of URIs of one active queue in memory. */
  get windowSize(): number {
    const active = Math.max(1, this.queues.size - this.#resting.size);
    return Math.max(MIN_WINDOW, Math.min(MAX_WINDOW, Math.floor(this.#options.windowEntries / active)));
  }
}
