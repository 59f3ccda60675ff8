import { KeyTable } from './key-table.js';
import type { KeySet } from './logged-filter.js';

/** CRAWL-4.4 FPUriUniqFilter: a table of fingerprints. Two URIs have the same fingerprint with probability 2^-64. */
export class MemorySet implements KeySet {
  readonly kind = 'memory-set';
  readonly #table = new KeyTable();

  get size(): number {
    return this.#table.size;
  }

  get memoryBytes(): number {
    return this.#table.memoryBytes;
  }

  add(low: number, high: number): boolean {
    return this.#table.add(low, high);
  }

  forget(low: number, high: number): boolean {
    return this.#table.delete(low, high);
  }
}
