/** The size of a key in bits. */
const KEY_BITS = 32;

/**
 * Finds keys in a sorted array of u32. Divides the range of the keys into about as many equal buckets as there
 * are keys. A dense key is found directly, a sparse one by binary search in its bucket, so the worst
 * distribution costs one binary search over all keys. Takes up to 8 bytes for each key, and nothing if the keys
 * are consecutive.
 */
export class KeyIndex {
  readonly #shift: number;
  readonly #first: number;
  readonly #last: number;
  /** The index of the first key of each bucket, and the end. Undefined if the keys are consecutive. */
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
    for (let index = 0; index < count; index++) {
      const keyBucket = ((keys[index] ?? 0) - this.#first) >>> shift;
      while (bucket < keyBucket) buckets[++bucket] = index;
    }
    while (bucket + 1 < buckets.length) buckets[++bucket] = count;
    this.#buckets = buckets;
  }

  /** Returns the index of the key; -1 if it is absent. */
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
