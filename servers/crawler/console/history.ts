import { z } from 'zod';
import { milliseconds } from '../control.js';
import { FIGURE_SCHEMAS, type Figures, PLOTS } from '../figures.js';

/** Number of samples: ten minutes, one a second. */
export const HISTORY_SAMPLES = 600;

/** The figures of a snapshot that the plots show. */
export const sampleSchema = z.object({
  time: milliseconds,
  ...(Object.fromEntries(
    Object.entries(PLOTS).map(([name, [figure]]) => [name, FIGURE_SCHEMAS[figure]]),
  ) as Record<keyof typeof PLOTS, z.ZodType<number>>),
});
export type Sample = Readonly<z.infer<typeof sampleSchema>>;

/** The last ten minutes of a crawl in a ring buffer, so that a page shows them as soon as it is loaded. */
export class RateHistory {
  readonly #capacity: number;
  readonly #ring: Sample[] = [];
  #next = 0;

  constructor(capacity = HISTORY_SAMPLES) {
    this.#capacity = capacity;
  }

  add(snapshot: Figures & { readonly time: number }): void {
    const shown = Object.entries(PLOTS).map(([name, [figure]]) => [name, snapshot[figure]]);
    this.#ring[this.#next] = { time: snapshot.time, ...Object.fromEntries(shown) } as Sample;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** Returns the samples, the oldest first. */
  samples(): Sample[] {
    if (this.#ring.length < this.#capacity) return [...this.#ring];
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
  }
}
