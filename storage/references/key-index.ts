/** Bits of a key. */
const KEY_BITS = 32;

/**
 * Finds keys among sorted u32. The keys' range is cut into about as many equal buckets as there are keys: dense IDs are found
 * directly, sparse ones among the few of their bucket, and the worst distribution by binary search. Up to 8 bytes a key, none
 * when no ID is left out between the first and the last.
 */
export class KeyIndex {
  readonly #shift: number;
  readonly #first: number;
  readonly #last: number;
  /** Where each bucket begins; one more at the end. Undefined when no key is left out. */
  readonly #buckets: Uint32Array | undefined;

  /** @param keys strictly ascending */
  constructor(readonly keys: Uint32Array) {
    const count = keys.length;
    this.#first = keys[0] ?? 1;
    this.#last = keys[count - 1] ?? 0;
    const range = count === 0 ? 0 : this.#last - this.#first + 1;
    if (range === count) {
      this.#shift = 0;
      return;
    }
    let shift = 0;
    while (shift < KEY_BITS - 1 && range / 2 ** shift > 2 * count) shift++;
    this.#shift = shift;
    const buckets = new Uint32Array(Math.ceil(range / 2 ** shift) + 1);
    let bucket = 0;
    for (let at = 0; at < count; at++) {
      const own = ((keys[at] ?? 0) - this.#first) >>> shift;
      while (bucket < own) buckets[++bucket] = at;
    }
    while (bucket + 1 < buckets.length) buckets[++bucket] = count;
    this.#buckets = buckets;
  }

  /** The key's place among the keys; -1 when it is not one. */
  find(key: number): number {
    if (key < this.#first || key > this.#last) return -1;
    const buckets = this.#buckets;
    if (buckets === undefined) return key - this.#first;
    const bucket = (key - this.#first) >>> this.#shift;
    let low = buckets[bucket]!;
    let high = buckets[bucket + 1]!;
    if (this.#shift === 0) return low < high ? low : -1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return this.keys[low] === key ? low : -1;
  }
}
