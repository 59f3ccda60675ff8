import { LRUCache } from 'lru-cache';

/**
 * An LRU cache of a table's rows. It records whether it still holds all of them, so that a miss needs no read.
 */
export class TableCache<T extends object | number> {
  readonly #rows: LRUCache<string, T>;
  #complete: boolean;

  /**
   * @param max rows
   * @param complete the table is empty
   */
  constructor(max: number, complete: boolean) {
    this.#complete = complete;
    this.#rows = new LRUCache({
      max,
      dispose: (_value, _key, reason) => {
        if (reason === 'evict') this.#complete = false;
      },
    });
  }

  /** True until the first eviction: a key that the cache lacks is then not in the table either. */
  get complete(): boolean {
    return this.#complete;
  }

  get(key: string): T | undefined {
    return this.#rows.get(key);
  }

  set(key: string, value: T): void {
    this.#rows.set(key, value);
  }
}
