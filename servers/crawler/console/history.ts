import type { CrawlSnapshot } from '../control.js';

/** Number of samples: ten minutes, one a second. */
export const HISTORY_SAMPLES = 600;

/** The figures of a snapshot that the plots show. */
export interface Sample {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly documentsPerSecond: number;
  readonly kilobytesPerSecond: number;
  readonly queued: number;
  readonly busyWorkers: number;
}

/** The last ten minutes of a crawl in a ring buffer, so that a page shows them as soon as it is loaded. */
export class RateHistory {
  readonly #ring: Sample[] = [];
  #next = 0;

  constructor(readonly capacity = HISTORY_SAMPLES) {}

  add(snapshot: CrawlSnapshot): void {
    this.#ring[this.#next] = {
      time: snapshot.time,
      documentsPerSecond: snapshot.currentDocumentsPerSecond,
      kilobytesPerSecond: snapshot.currentKilobytesPerSecond,
      queued: snapshot.queued,
      busyWorkers: snapshot.busyWorkers,
    };
    this.#next = (this.#next + 1) % this.capacity;
  }

  /** Returns the samples, the oldest first. */
  samples(): Sample[] {
    if (this.#ring.length < this.capacity) return [...this.#ring];
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
  }
}
