/** CRAWL-4.8: slots that are looked at in a row. */
const WAYS = 4;
/** CRAWL-4.8: slots in all; 8 MB. */
const SLOTS = 1 << 20;

/** CRAWL-4.8: keys that were met lately and are known to be seen: the links that stand on every page of a site. */
export class QuickCache {
  readonly #words = new Uint32Array(2 * (SLOTS + WAYS));
  #turn = 0;

  get memoryBytes(): number {
    return this.#words.byteLength;
  }

  /** The key 0 is never found: a free slot looks like it. */
  has(low: number, high: number): boolean {
    return this.#place(low, high) >= 0;
  }

  add(low: number, high: number): void {
    if (this.#place(low, high) >= 0) return;
    const at = 2 * (slotOf(low, high) + (this.#turn++ % WAYS));
    this.#words[at] = low;
    this.#words[at + 1] = high;
  }

  delete(low: number, high: number): void {
    const at = this.#place(low, high);
    if (at < 0) return;
    this.#words[at] = 0;
    this.#words[at + 1] = 0;
  }

  #place(low: number, high: number): number {
    if ((low | high) === 0) return -1;
    const start = 2 * slotOf(low, high);
    for (let at = start; at < start + 2 * WAYS; at += 2) {
      if (this.#words[at] === low && this.#words[at + 1] === high) return at;
    }
    return -1;
  }
}

function slotOf(low: number, high: number): number {
  let hash = Math.imul(low ^ (high >>> 5), 0x9e3779b1);
  hash ^= hash >>> 14;
  return (hash ^ high) & (SLOTS - 1);
}
