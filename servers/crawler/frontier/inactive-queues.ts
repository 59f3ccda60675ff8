import type { GathererBatch, InactivePosition } from '../../../storage/index.js';
import { HeadWindow } from './head-window.js';
import type { WorkQueue } from './work-queue.js';

/** Maximum number of rows in memory. */
const WINDOW_ROWS = 1024;

/**
 * The inactive queues (CRAWL-5.3), first in, first out within each precedence (CRAWL-9.11). They are stored on
 * disk; memory holds the first ones.
 */
export class InactiveQueues {
  /** Reads the next rows from disk, after all earlier writes. */
  readonly #read: (limit: number, after: InactivePosition | undefined) => Promise<InactivePosition[]>;
  readonly #window = new HeadWindow<InactivePosition>(
    (a, b) => a.precedence - b.precedence || a.sequence - b.sequence,
  );

  /** Inactive queues, including those that are being written. */
  size = 0;
  /** The sequence number of the next row; stored in the frontier's state row. */
  nextSequence = 1;
  /** Queues that {@link take} can return. */
  available = 0;

  constructor(read: (limit: number, after: InactivePosition | undefined) => Promise<InactivePosition[]>) {
    this.#read = read;
  }

  /** Sets the number of inactive queues that a restart found on disk. */
  restored(count: number): void {
    this.size = count;
    this.available = count;
    this.#window.clear(count > 0);
  }

  /**
   * Appends the queue to those of its precedence; {@link markWritten} must follow after the batch is on disk.
   */
  push(queue: WorkQueue, batch: GathererBatch): InactivePosition {
    queue.sequence = this.nextSequence++;
    queue.inactivePrecedence = queue.precedence;
    const row = inactiveRowOf(queue);
    batch.putInactive(row);
    this.size++;
    return row;
  }

  /** Makes a pushed queue available. */
  markWritten(row: InactivePosition): void {
    this.available++;
    this.#window.added(row, WINDOW_ROWS);
  }

  /** Takes the rows of the next queues, at most `limit`. {@link remove} deletes them on disk. */
  async take(limit: number): Promise<InactivePosition[]> {
    const taken: InactivePosition[] = [];
    while (taken.length < limit) {
      if (this.#window.needsRefill) await this.#window.refill(WINDOW_ROWS, this.#read);
      const row = this.#window.shift();
      if (row === undefined) break;
      this.available--;
      taken.push(row);
    }
    return taken;
  }

  remove(row: InactivePosition, batch: GathererBatch): void {
    batch.deleteInactive(row);
    this.size--;
  }
}

/** Returns the row of an inactive queue. */
export function inactiveRowOf({
  inactivePrecedence: precedence,
  sequence,
  classKey,
}: WorkQueue): InactivePosition {
  return { precedence, sequence, classKey };
}
