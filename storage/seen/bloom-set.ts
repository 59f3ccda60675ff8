import { BloomBits } from './bloom-bits.js';
import { KeyTable } from './key-table.js';
import type { KeySet } from './logged-filter.js';

/** CRAWL-4.7: the original's sizes: 125 million URIs, an error of 2^-22 at capacity; 496 MB. */
export const BLOOM_CAPACITY = 125_000_000;
export const BLOOM_HASHES = 22;

export interface BloomOptions {
  /** URIs at which the error is 2^-hashes; it grows beyond. Default {@link BLOOM_CAPACITY}. */
  readonly bloomCapacity?: number;
  /** Default {@link BLOOM_HASHES}. */
  readonly bloomHashes?: number;
}

/**
 * CRAWL-4.7: fixed memory; a false positive loses a URI. Bits cannot be taken back, so what is forgotten stands in a
 * table beside them until it is found again (CRAWL-4.2).
 */
export class BloomSet implements KeySet {
  readonly kind = 'bloom';
  readonly #bits: BloomBits;
  readonly #forgotten = new KeyTable();
  #size = 0;

  /** @throws UsageError when the sizes ask for more than 512 MiB */
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
