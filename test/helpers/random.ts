// Random numbers that a seed determines, so that a run of the fuzzer can be repeated.

/** A generator of pseudo-random numbers (sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = 0x9e3779b9;
    this.#c = 0x243f6a88;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** 32 random bits, as an unsigned number. */
  next(): number {
    const result = (((this.#a + this.#b) | 0) + this.#count++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + result;
    this.#c |= 0;
    return result >>> 0;
  }

  /** A whole number from 0 to below `end`; 0 if `end` is 0. */
  below(end: number): number {
    return end <= 1 ? 0 : this.next() % end;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  /** True once in `of` times. */
  once(of: number): boolean {
    return this.next() % of === 0;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new RangeError('nothing to pick from');
    return from[this.below(from.length)] as T;
  }

  /** Up to `most` items, each made by `make`. */
  list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.next() & 0xff);
  }
}

/** FNV-1a: options and cuts of a run are derived from its input, so that the input alone reproduces the run. */
export function hashOf(input: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of input) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
