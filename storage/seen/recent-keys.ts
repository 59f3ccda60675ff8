/** CRAWL-4.8: the number of slots that are searched for a key. */
const WAYS = 4;
/** CRAWL-4.8: the total number of slots; 8 MB. */
const SLOTS = 1 << 20;

/**
 * CRAWL-4.8: a set-associative cache of keys that were looked up recently and are known to be seen, such as the
 * links that occur on every page of a site. A key replaces one of the keys in its four slots in turn.
 */
export class RecentKeys {
  readonly #words = new Uint32Array(2 * (SLOTS + WAYS));
  #nextWay = 0;

  get memoryBytes(): number {
    return this.#words.byteLength;
  }

  /** Never finds the key 0, which looks like a free slot. */
  has(low: number, high: number): boolean {
    return this.#find(low, high) >= 0;
  }

  add(low: number, high: number): void {
    if (this.#find(low, high) >= 0) return;
    const offset = 2 * (firstSlot(low, high) + (this.#nextWay++ % WAYS));
    this.#words[offset] = low;
    this.#words[offset + 1] = high;
  }

  delete(low: number, high: number): void {
    const offset = this.#find(low, high);
    if (offset < 0) return;
    this.#words[offset] = 0;
    this.#words[offset + 1] = 0;
  }

  /** Index of the key's first word; -1 if the key is absent. */
  #find(low: number, high: number): number {
    if ((low | high) === 0) return -1;
    const start = 2 * firstSlot(low, high);
    for (let offset = start; offset < start + 2 * WAYS; offset += 2) {
      if (this.#words[offset] === low && this.#words[offset + 1] === high) return offset;
    }
    return -1;
  }
}

function firstSlot(low: number, high: number): number {
  let hash = Math.imul(low ^ (high >>> 5), 0x9e3779b1);
  hash ^= hash >>> 14;
  return (hash ^ high) & (SLOTS - 1);
}
