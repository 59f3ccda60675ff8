/** CRAWL-4.8: the number of slots that are searched for a key. */
const WAYS = 4;
/** CRAWL-4.8: the total number of slots; 8 MB. */
const SLOTS = 1 << 20;

/**
 * CRAWL-4.8: a set-associative cache of keys that were looked up recently and are known to be seen, such as the links that occur on
 * every page of a site. A key replaces one of the keys in its four slots in turn.
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
    const at = 2 * (firstSlot(low, high) + (this.#nextWay++ % WAYS));
    this.#words[at] = low;
    this.#words[at + 1] = high;
  }

  delete(low: number, high: number): void {
    const at = this.#find(low, high);
    if (at < 0) return;
    this.#words[at] = 0;
    this.#words[at + 1] = 0;
  }

  /** Index of the key's first word; -1 if the key is absent. */
  #find(low: number, high: number): number {
    if ((low | high) === 0) return -1;
    const start = 2 * firstSlot(low, high);
    for (let at = start; at < start + 2 * WAYS; at += 2) {
      if (this.#words[at] === low && this.#words[at + 1] === high) return at;
    }
    return -1;
  }
}

function firstSlot(low: number, high: number): number {
  let hash = Math.imul(low ^ (high >>> 5), 0x9e3779b1);
  hash ^= hash >>> 14;
  return (hash ^ high) & (SLOTS - 1);
}
