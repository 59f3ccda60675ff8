import type { GathererBatch, GathererStore } from '../../../storage/index.js';

const NAME = 'life.shortest';

/**
 * The shortest time to live of any object of the store, in seconds. Objects are ordered by Update-Time, so a
 * search for expired ones skips those that were updated within this time.
 */
export class MinTimeToLive {
  #seconds: number | undefined;

  private constructor(seconds: number | undefined) {
    this.#seconds = seconds;
  }

  static async read(meta: Pick<GathererStore['meta'], 'get'>): Promise<MinTimeToLive> {
    const stored = await meta.get(NAME);
    return new MinTimeToLive(stored === undefined ? undefined : Number(stored));
  }

  /** Seconds; 0 if unknown. */
  get seconds(): number {
    return this.#seconds ?? 0;
  }

  /** Records the time to live of an object that is stored with the batch; 0 means that it never expires. */
  record(seconds: number, batch: GathererBatch): void {
    if (seconds === 0 || (this.#seconds !== undefined && seconds >= this.#seconds)) return;
    this.#seconds = seconds;
    batch.putMeta(NAME, seconds);
  }
}
