import { KeyTable } from './key-table.js';
import type { KeySet } from './logged-filter.js';

const MAX_BITS = 2 ** 32;

/** The number of bits for n keys and d hash functions (CRAWL-4.7): n·d/ln 2, in whole 64-bit words. */
export function bloomBits(keys: number, hashes: number): number {
  return Math.ceil((keys * hashes) / Math.LN2 / 64) * 64;
}

/**
 * A Bloom filter of 64-bit keys. When it holds n keys, its capacity, it reports a new key as known with
 * probability 2^-d.
 */
export class BloomBits {
  readonly #hashes: number;
  readonly bits: number;
  readonly #words: Uint32Array;

  /**
   * @param keys n, the capacity
   * @param hashes d, how many bits a key sets, 1 to 64
   * @throws RangeError if `hashes` is out of range or the filter needs more than 2^32 bits
   */
  constructor(keys: number, hashes: number) {
    this.#hashes = hashes;

    if (!Number.isInteger(hashes) || hashes < 1 || hashes > 64)
      throw new RangeError(`a Bloom filter has 1 to 64 hash functions, not ${hashes}`);
    this.bits = bloomBits(Math.max(1, keys), hashes);
    if (!(this.bits <= MAX_BITS)) throw new RangeError('a Bloom filter has at most 2^32 bits (512 MiB)');
    this.#words = new Uint32Array(this.bits / 32);
  }

  get memoryBytes(): number {
    return this.#words.byteLength;
  }

  /** Returns true if a bit was not set: then the key is certainly new. */
  add(low: number, high: number): boolean {
    const words = this.#words;
    const step = stepOf(low, high);
    let position = low >>> 0;
    let isNew = false;
    for (let i = 0; i < this.#hashes; i++) {
      const bit = bitAt(position, this.bits);
      const index = Math.floor(bit / 32);
      const mask = 1 << (bit & 31);
      const word = words[index]!;
      if ((word & mask) === 0) {
        words[index] = word | mask;
        isNew = true;
      }
      position = (position + step) >>> 0;
    }
    return isNew;
  }

  has(low: number, high: number): boolean {
    const words = this.#words;
    const step = stepOf(low, high);
    let position = low >>> 0;
    for (let i = 0; i < this.#hashes; i++) {
      const bit = bitAt(position, this.bits);
      if ((words[Math.floor(bit / 32)]! & (1 << (bit & 31))) === 0) return false;
      position = (position + step) >>> 0;
    }
    return true;
  }
}

/** The second hash, mixed from both halves. It is odd, so that the positions of a key are distinct. */
function stepOf(low: number, high: number): number {
  let hash = Math.imul(high ^ (low >>> 16), 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) | 1) >>> 0;
}

/** Maps a 32-bit position to a bit of the filter. */
function bitAt(position: number, bits: number): number {
  return Math.floor((position / MAX_BITS) * bits);
}

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
