import type { GathererBatch, InactivePlace } from '../../../storage/index.js';
import { HeadWindow } from './head-window.js';
import type { WorkQueue } from './work-queue.js';

/** Places that are held in memory. */
const WINDOW_PLACES = 1024;

/**
 * The line of the inactive queues (CRAWL-5.3): first in, first out within each precedence (CRAWL-9.11). It lies on disk; memory holds its head.
 */
export class InactiveQueues {
  readonly #window = new HeadWindow<InactivePlace>(
    (a, b) => a.precedence - b.precedence || a.sequence - b.sequence,
  );

  /** Queues in the line, those included that are being written. */
  size = 0;
  /** The sequence number of the next place; stored in the frontier's state row. */
  nextSequence = 1;
  /** Queues that {@link take} can give. */
  available = 0;

  constructor(
    /** The next places in the line on disk; what was pushed before must be there. */
    private readonly read: (limit: number, after: InactivePlace | undefined) => Promise<InactivePlace[]>,
  ) {}

  /** A restart found so many on disk. */
  restored(count: number): void {
    this.size = count;
    this.available = count;
    this.#window.clear(count > 0);
  }

  /** Puts the queue at the end of its precedence's line; {@link written} must follow when the batch is on disk. */
  push(queue: WorkQueue, batch: GathererBatch): InactivePlace {
    queue.sequence = this.nextSequence++;
    queue.placedAt = queue.precedence;
    const place = placeOf(queue);
    batch.putInactive(place);
    this.size++;
    return place;
  }

  written(place: InactivePlace): void {
    this.available++;
    this.#window.added(place, WINDOW_PLACES);
  }

  /** The class keys of the next ones, fewer when there are not so many. They leave the line on disk by {@link remove}. */
  async take(limit: number): Promise<InactivePlace[]> {
    const taken: InactivePlace[] = [];
    while (taken.length < limit) {
      if (this.#window.needsRefill) await this.#window.refill(WINDOW_PLACES, this.read);
      const place = this.#window.shift();
      if (place === undefined) break;
      this.available--;
      taken.push(place);
    }
    return taken;
  }

  remove(place: InactivePlace, batch: GathererBatch): void {
    batch.deleteInactive(place);
    this.size--;
  }
}

export function placeOf({ placedAt: precedence, sequence, classKey }: WorkQueue): InactivePlace {
  return { precedence, sequence, classKey };
}
