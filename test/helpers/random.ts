// Random numbers that seeds determine, so that a case that fails can be made again.

/** A generator of pseudo-random numbers (sfc32). The same seeds, up to three, give the same numbers. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number, second = 0, third = 0) {
    this.#a = seed | 0;
    this.#b = 0x9e3779b9 ^ second;
    this.#c = 0x243f6a88 ^ third;
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

  /** A number from 0 to below 1. */
  fraction(): number {
    return this.next() / 2 ** 32;
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

  /**
   * Indexes of a part of a list, evenly spread and ascending: one of each of `count` parts of about the same
   * length. All of them if there are no more.
   */
  sample(length: number, count: number): number[] {
    if (length <= count) return Array.from({ length }, (_, i) => i);
    const at = (part: number): number => Math.floor((part * length) / count);
    return Array.from({ length: count }, (_, part) => this.between(at(part), at(part + 1) - 1));
  }

  /** The items in another order. */
  shuffle<T>(items: readonly T[]): T[] {
    const order = [...items];
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    return order;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.next() & 0xff);
  }
}
