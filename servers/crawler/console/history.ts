import { type Figures, PLOTS } from '../figures.js';

/** Number of samples: ten minutes, one a second. */
export const HISTORY_SAMPLES = 600;

/** The figures of a snapshot that the plots show. `time` is milliseconds since 1970. */
export type Sample = Readonly<Record<'time' | keyof typeof PLOTS, number>>;

/** The last ten minutes of a crawl in a ring buffer, so that a page shows them as soon as it is loaded. */
export class RateHistory {
  readonly #ring: Sample[] = [];
  #next = 0;

  constructor(readonly capacity = HISTORY_SAMPLES) {}

  add(snapshot: Figures & { readonly time: number }): void {
    const shown = Object.entries(PLOTS).map(([name, [figure]]) => [name, snapshot[figure]]);
    this.#ring[this.#next] = { time: snapshot.time, ...Object.fromEntries(shown) } as Sample;
    this.#next = (this.#next + 1) % this.capacity;
  }

  /** Returns the samples, the oldest first. */
  samples(): Sample[] {
    if (this.#ring.length < this.capacity) return [...this.#ring];
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
  }
}
