// Rabin fingerprints and the keys of the already-seen store (CRAWL-3).
/** A 64-bit value as two unsigned 32-bit halves; `high` holds bits 63 to 32. */
export interface Word64 {
  readonly high: number;
  readonly low: number;
}

export type FingerprintBits = 24 | 32 | 40 | 64;

/**
 * The Rabin fingerprint of a text (CRAWL-3.1 to 3.6), in the top `bits` bits of the word; the other bits are
 * zero. The input is the text's UTF-16 code units, lone surrogates included; the empty text has a fingerprint
 * too.
 */
export function fingerprint(text: string, bits: FingerprintBits): Word64 {
  const generator = GENERATORS.get(bits);
  if (generator === undefined) throw new RangeError('fingerprints have 24, 32, 40 or 64 bits');
  return generator.fingerprint(text, text.length);
}

/**
 * The key of the already-seen store as two halves (CRAWL-3.7): the top 24 bits depend on scheme and authority
 * only, so the URLs of one server are adjacent; the low 40 bits depend on the whole text.
 *
 * @param canonical the canonical string (`canonicalString`)
 */
export function uriKeyHalves(canonical: string): Word64 {
  const prefix = STD24.fingerprint(canonical, prefixLength(canonical));
  const whole = STD40.fingerprint(canonical, canonical.length);
  return {
    high: (prefix.high | (whole.high >>> 24)) >>> 0,
    low: ((whole.high << 8) | (whole.low >>> 24)) >>> 0,
  };
}

/**
 * The key of the already-seen store as it is stored (CRAWL-3.7, 3.8).
 * @param canonical the canonical string (`canonicalString`)
 * @returns 8 bytes, big-endian with the top bit inverted, so that byte order is signed order
 */
export function uriKey(canonical: string): Uint8Array {
  const { high, low } = uriKeyHalves(canonical);
  const key = new Uint8Array(8);
  const view = new DataView(key.buffer);
  view.setUint32(0, (high ^ 0x80000000) >>> 0);
  view.setUint32(4, low);
  return key;
}

/** The word as 16 hexadecimal digits. */
export function formatWord({ high, low }: Word64): string {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}

/**
 * The ELF hash of a text (CRAWL-3.12): a small non-negative number for spreading URLs over queues.
 * @returns 0 to 2³¹ - 1
 */
export function elfHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) {
    hash = (hash << 4) + text.charCodeAt(i);
    const top = hash & 0xf0000000;
    if (top !== 0) hash = (hash ^ (top >>> 24)) & ~top;
  }
  return hash & 0x7fffffff;
}

/** CRAWL-3.7 steps 1 to 3: the length of scheme and authority. */
function prefixLength(text: string): number {
  let end = text.indexOf('://');
  if (end > 0) end = text.indexOf('/', end + 3);
  return end < 0 ? text.length : end;
}

/*
 * CRAWL-3.2, 3.5: a reflected CRC over a 64-bit register whose start value and feedback are both E = x^64 mod
 * P, then, for degrees below 64, one reduction. The register is two 32-bit halves. Both steps are linear over
 * GF(2), so each is a few table look-ups: the tables hold the images of all values of one byte.
 */
class RabinGenerator {
  /**
   * The effect of 16 shift steps on the register's lowest byte ([0..255]) and on the byte above ([256..511]).
   */
  readonly #feedHigh = new Uint32Array(512);
  readonly #feedLow = new Uint32Array(512);
  /** The addend of the reduction for each value of the register's byte k, at [256 k + value]. */
  readonly #foldHigh: Uint32Array;
  readonly #foldLow: Uint32Array;
  readonly #foldBytes: number;
  readonly #start: Word64;

  constructor(bits: number, polynomial: Word64, start: Word64) {
    this.#start = start;
    this.#foldBytes = (64 - bits) / 8;
    this.#foldHigh = new Uint32Array(256 * this.#foldBytes);
    this.#foldLow = new Uint32Array(256 * this.#foldBytes);
    this.#fillFeed();
    this.#fillFold(64 - bits, polynomial);
  }

  fingerprint(text: string, length: number): Word64 {
    let high = this.#start.high;
    let low = this.#start.low;
    for (let i = 0; i < length; i++) {
      const unit = low ^ text.charCodeAt(i);
      const first = unit & 0xff;
      const second = 256 + ((unit >>> 8) & 0xff);
      low = ((low >>> 16) | (high << 16)) ^ this.#feedLow[first]! ^ this.#feedLow[second]!;
      high = (high >>> 16) ^ this.#feedHigh[first]! ^ this.#feedHigh[second]!;
    }
    return this.#fold(high, low);
  }

  #fold(high: number, low: number): Word64 {
    let foldedHigh = high;
    let foldedLow = low;
    for (let k = 0; k < this.#foldBytes; k++) {
      const byte = ((k < 4 ? low >>> (8 * k) : high >>> (8 * k - 32)) & 0xff) + 256 * k;
      foldedHigh ^= this.#foldHigh[byte]!;
      foldedLow ^= this.#foldLow[byte]!;
    }
    return { high: foldedHigh >>> 0, low: foldedLow >>> 0 };
  }

  #fillFeed(): void {
    for (let index = 0; index < 512; index++) {
      let high = 0;
      let low = index < 256 ? index : (index - 256) << 8;
      for (let step = 0; step < 16; step++) {
        const bit = low & 1;
        low = (low >>> 1) | (high << 31);
        high >>>= 1;
        if (bit === 1) {
          high ^= this.#start.high;
          low ^= this.#start.low;
        }
      }
      this.#feedHigh[index] = high;
      this.#feedLow[index] = low;
    }
  }

  /** CRAWL-3.5 step 3 for every value of every byte that has to become zero. */
  #fillFold(unusedBits: number, polynomial: Word64): void {
    for (let index = 0; index < 256 * this.#foldBytes; index++) {
      const byteShift = 8 * (index >>> 8);
      const value = index & 0xff;
      const original = {
        high: byteShift < 32 ? 0 : value << (byteShift - 32),
        low: byteShift < 32 ? value << byteShift : 0,
      };
      let { high, low } = original;
      for (let k = 0; k < unusedBits; k++) {
        const bit = k < 32 ? (low >>> k) & 1 : (high >>> (k - 32)) & 1;
        if (bit === 0) continue;
        const addend = shiftRight(polynomial, unusedBits - 1 - k);
        high ^= addend.high;
        low ^= addend.low;
      }
      this.#foldHigh[index] = high ^ original.high;
      this.#foldLow[index] = low ^ original.low;
    }
  }
}

function shiftRight(word: Word64, count: number): Word64 {
  if (count === 0) return word;
  if (count >= 32) return { high: 0, low: word.high >>> (count - 32) };
  return { high: word.high >>> count, low: ((word.low >>> count) | (word.high << (32 - count))) >>> 0 };
}

/** CRAWL-3.3: the four named generators. */
const STD24 = new RabinGenerator(24, { high: 0x8e375b80, low: 0 }, { high: 0x30733b00, low: 0 });
const STD32 = new RabinGenerator(32, { high: 0x9b6c9a2f, low: 0x80000000 }, { high: 0x185ddfc3, low: 0 });
const STD40 = new RabinGenerator(
  40,
  { high: 0x8643fff6, low: 0x21800000 },
  { high: 0x3b26f9a7, low: 0x9d000000 },
);
const STD64 = new RabinGenerator(
  64,
  { high: 0xd74307d3, low: 0xfd3382db },
  { high: 0xd74307d3, low: 0xfd3382db },
);

const GENERATORS: ReadonlyMap<FingerprintBits, RabinGenerator> = new Map([
  [24, STD24],
  [32, STD32],
  [40, STD40],
  [64, STD64],
]);
