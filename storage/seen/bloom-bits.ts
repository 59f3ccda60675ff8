import { UsageError } from '../../protocols/errors.js';

const MAX_BITS = 2 ** 32;

/** CRAWL-4.7: bits for n keys and d hash functions: n·d/ln 2, in whole 64-bit words. */
export function bloomBits(keys: number, hashes: number): number {
  return Math.ceil((keys * hashes) / Math.LN2 / 64) * 64;
}

/** A Bloom filter over 64-bit keys: of n keys at its capacity a new one is taken for known with the chance 2^-d. */
export class BloomBits {
  readonly bits: number;
  readonly #words: Uint32Array;

  /**
   * @param keys n, the capacity
   * @param hashes d, how many bits a key sets, 1 to 64
   * @throws UsageError when that is more than 2^32 bits
   */
  constructor(
    keys: number,
    readonly hashes: number,
  ) {
    if (!Number.isInteger(hashes) || hashes < 1 || hashes > 64)
      throw new UsageError('hash functions are 1 to 64');
    this.bits = bloomBits(Math.max(1, keys), hashes);
    if (!(this.bits <= MAX_BITS)) throw new UsageError('a Bloom filter has at most 2^32 bits (512 MiB)');
    this.#words = new Uint32Array(this.bits / 32);
  }

  get memoryBytes(): number {
    return this.#words.byteLength;
  }

  /** True when a bit was not set: the key is surely new. */
  add(low: number, high: number): boolean {
    const words = this.#words;
    const step = stepOf(low, high);
    let place = low >>> 0;
    let fresh = false;
    for (let i = 0; i < this.hashes; i++) {
      const bit = scaled(place, this.bits);
      const at = Math.floor(bit / 32);
      const mask = 1 << (bit & 31);
      const word = words[at]!;
      if ((word & mask) === 0) {
        words[at] = word | mask;
        fresh = true;
      }
      place = (place + step) >>> 0;
    }
    return fresh;
  }

  has(low: number, high: number): boolean {
    const words = this.#words;
    const step = stepOf(low, high);
    let place = low >>> 0;
    for (let i = 0; i < this.hashes; i++) {
      const bit = scaled(place, this.bits);
      if ((words[Math.floor(bit / 32)]! & (1 << (bit & 31))) === 0) return false;
      place = (place + step) >>> 0;
    }
    return true;
  }
}

/** The second hash, mixed from both halves and odd, so that the places of a key are distinct. */
function stepOf(low: number, high: number): number {
  let hash = Math.imul(high ^ (low >>> 16), 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) | 1) >>> 0;
}

/** A 32-bit place on the circle as a bit of the filter. */
function scaled(place: number, bits: number): number {
  return Math.floor((place / MAX_BITS) * bits);
}
