import type { GathererBatch, InactivePosition } from '../../../storage/index.js';
import { HeadWindow } from './head-window.js';
import type { WorkQueue } from './work-queue.js';

/** Places in memory. */
const WINDOW_PLACES = 1024;

/**
 * The inactive queues (CRAWL-5.3), first in, first out within each precedence (CRAWL-9.11). They are stored on disk; memory holds the first
 * ones.
 */
export class InactiveQueues {
  readonly #window = new HeadWindow<InactivePosition>(
    (a, b) => a.precedence - b.precedence || a.sequence - b.sequence,
  );

  /** Inactive queues, including those that are being written. */
  size = 0;
  /** The sequence number of the next place; stored in the frontier's state row. */
  nextSequence = 1;
  /** Queues that {@link take} can return. */
  available = 0;

  constructor(
    /** Reads the next places from disk, after all earlier writes. */
    private readonly read: (
      limit: number,
      after: InactivePosition | undefined,
    ) => Promise<InactivePosition[]>,
  ) {}

  /** Sets the number of inactive queues that a restart found on disk. */
  restored(count: number): void {
    this.size = count;
    this.available = count;
    this.#window.clear(count > 0);
  }

  /** Appends the queue to those of its precedence; {@link written} must follow after the batch is on disk. */
  push(queue: WorkQueue, batch: GathererBatch): InactivePosition {
    queue.sequence = this.nextSequence++;
    queue.placedAt = queue.precedence;
    const place = placeOf(queue);
    batch.putInactive(place);
    this.size++;
    return place;
  }

  written(place: InactivePosition): void {
    this.available++;
    this.#window.added(place, WINDOW_PLACES);
  }

  /** Takes the places of the next queues, at most `limit`. {@link remove} deletes them on disk. */
  async take(limit: number): Promise<InactivePosition[]> {
    const taken: InactivePosition[] = [];
    while (taken.length < limit) {
      if (this.#window.needsRefill) await this.#window.refill(WINDOW_PLACES, this.read);
      const place = this.#window.shift();
      if (place === undefined) break;
      this.available--;
      taken.push(place);
    }
    return taken;
  }

  remove(place: InactivePosition, batch: GathererBatch): void {
    batch.deleteInactive(place);
    this.size--;
  }
}

export function placeOf({ placedAt: precedence, sequence, classKey }: WorkQueue): InactivePosition {
  return { precedence, sequence, classKey };
}
