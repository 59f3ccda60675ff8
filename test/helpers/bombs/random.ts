// A seeded generator of numbers, so that a failing variant of a bomb can be made again.

/** Numbers that look random and depend on the seed only. */
export class SeededRandom {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}
