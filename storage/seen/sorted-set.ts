import { compareKeys, type KeyWords, sortKeys } from './key-list.js';
import { KeyTable } from './key-table.js';
import type { KeySet } from './logged-filter.js';

/** CRAWL-4.8: the minimum number of pending keys before a merge. */
const MIN_PENDING = 10_000;
/**
 * A long list is merged when this fraction of its keys, one in eight, is pending, so that merging stays cheap.
 */
const PENDING_DIVISOR = 8;
/** Average number of keys with the same leading bits. */
const KEYS_PER_BUCKET = 4;

/**
 * CRAWL-4.8 MemFPMerge: a sorted list of fingerprints, 8 bytes each and about one more for its index, and a
 * table of the pending ones. A merge needs the memory of the list twice.
 */
export class SortedSet implements KeySet {
  readonly kind = 'memory-merge';
  readonly #pending = new KeyTable();
  readonly #forgotten = new KeyTable();
  #list: KeyWords = new Uint32Array(0);
  /** Index of the first key with each value of the leading bits, and of the end. */
  #starts = new Uint32Array(2);
  #shift = 32;

  get size(): number {
    return this.#list.length / 2 + this.#pending.size - this.#forgotten.size;
  }

  get memoryBytes(): number {
    return (
      this.#list.byteLength +
      this.#starts.byteLength +
      this.#pending.memoryBytes +
      this.#forgotten.memoryBytes
    );
  }

  add(low: number, high: number): boolean {
    if (this.#isListed(low, high)) return this.#forgotten.delete(low, high);
    if (!this.#pending.add(low, high)) return false;
    const listed = this.#list.length / 2;
    if (this.#pending.size >= Math.max(MIN_PENDING, listed / PENDING_DIVISOR)) this.#merge();
    return true;
  }

  forget(low: number, high: number): boolean {
    if (this.#pending.delete(low, high)) return true;
    return this.#isListed(low, high) && this.#forgotten.add(low, high);
  }

  #isListed(low: number, high: number): boolean {
    const list = this.#list;
    const bucket = this.#shift === 32 ? 0 : high >>> this.#shift;
    const end = this.#starts[bucket + 1]!;
    for (let i = this.#starts[bucket]!; i < end; i++) {
      if (list[2 * i] === low && list[2 * i + 1] === high) return true;
    }
    return false;
  }

  #merge(): void {
    const pending = this.#pending.keys();
    sortKeys(pending);
    this.#list = mergeSorted(this.#list, pending);
    this.#pending.clear();
    this.#index();
  }

  #index(): void {
    const list = this.#list;
    const count = list.length / 2;
    const bits = Math.max(1, Math.min(28, Math.floor(Math.log2(count / KEYS_PER_BUCKET))));
    this.#shift = 32 - bits;
    const starts = new Uint32Array(2 ** bits + 1);
    let next = 0;
    for (let i = 0; i < count; i++) {
      const bucket = list[2 * i + 1]! >>> this.#shift;
      while (next <= bucket) starts[next++] = i;
    }
    starts.fill(count, next);
    this.#starts = starts;
  }
}

function mergeSorted(a: KeyWords, b: KeyWords): KeyWords {
  const both = new Uint32Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let to = 0; to < both.length; to += 2) {
    const fromA = j === b.length || (i < a.length && compareKeys(a[i]!, a[i + 1]!, b[j]!, b[j + 1]!) < 0);
    const source = fromA ? a : b;
    const from = fromA ? i : j;
    both[to] = source[from]!;
    both[to + 1] = source[from + 1]!;
    if (fromA) i += 2;
    else j += 2;
  }
  return both;
}
