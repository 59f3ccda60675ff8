import type { GathererBatch, MetaStore } from '../../storage/index.js';

const NAME = 'life.shortest';

/**
 * The shortest time to live that any object of the store was given, seconds. Objects lie by Update-Time: whoever looks for expired
 * ones need not look at those that were updated within it.
 */
export class MinTimeToLive {
  #seconds: number | undefined;

  private constructor(seconds: number | undefined) {
    this.#seconds = seconds;
  }

  static async read(meta: Pick<MetaStore, 'get'>): Promise<MinTimeToLive> {
    const stored = await meta.get(NAME);
    return new MinTimeToLive(stored === undefined ? undefined : Number(stored));
  }

  /** 0 when it is not known. */
  get seconds(): number {
    return this.#seconds ?? 0;
  }

  /** An object with this time to live is stored with the batch; 0 is for ever. */
  note(seconds: number, batch: GathererBatch): void {
    if (seconds === 0 || (this.#seconds !== undefined && seconds >= this.#seconds)) return;
    this.#seconds = seconds;
    batch.putMeta(NAME, seconds);
  }
}
