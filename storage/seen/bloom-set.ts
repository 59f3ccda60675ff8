import { BloomBits } from './bloom-bits.js';
import { KeyTable } from './key-table.js';
import type { KeySet } from './logged-filter.js';

/** The sizes of the original (CRAWL-4.7): 125 million URIs, an error rate of 2^-22 at capacity, 496 MB. */
export const BLOOM_CAPACITY = 125_000_000;
export const BLOOM_HASHES = 22;

export interface BloomOptions {
  /** URIs up to which the error rate is at most 2^-hashes. Default {@link BLOOM_CAPACITY}. */
  readonly bloomCapacity?: number;
  /** Default {@link BLOOM_HASHES}. */
  readonly bloomHashes?: number;
}

/**
 * A Bloom filter of fingerprints (CRAWL-4.7). Its memory is fixed; a false positive loses a URI. Bits cannot be
 * cleared, so a table holds the forgotten keys until they are added again (CRAWL-4.2).
 */
export class BloomSet implements KeySet {
  readonly kind = 'bloom';
  readonly #bits: BloomBits;
  readonly #forgotten = new KeyTable();
  #size = 0;

  /** @throws RangeError if the sizes are out of range */
  constructor(options: BloomOptions = {}) {
    this.#bits = new BloomBits(options.bloomCapacity ?? BLOOM_CAPACITY, options.bloomHashes ?? BLOOM_HASHES);
  }

  get size(): number {
    return this.#size;
  }

  get memoryBytes(): number {
    return this.#bits.memoryBytes + this.#forgotten.memoryBytes;
  }

  add(low: number, high: number): boolean {
    if (!this.#bits.add(low, high) && !this.#forgotten.delete(low, high)) return false;
    this.#size++;
    return true;
  }

  forget(low: number, high: number): boolean {
    if (!this.#bits.has(low, high) || !this.#forgotten.add(low, high)) return false;
    this.#size--;
    return true;
  }
}
