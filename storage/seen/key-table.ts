import type { KeyWords } from './key-list.js';

/**
 * Initial number of slots, a power of two; doubled when three quarters are in use (CRAWL-4.4, FPUriUniqFilter).
 */
const FIRST_SLOTS = 1024;

/**
 * A hash table of 64-bit keys with open addressing: 8 bytes for each slot, 11 to 22 bytes for each key. A free
 * slot holds zero.
 */
export class KeyTable {
  #words = new Uint32Array(2 * FIRST_SLOTS);
  #mask = FIRST_SLOTS - 1;
  #used = 0;
  #hasZero = false;

  get size(): number {
    return this.#used + (this.#hasZero ? 1 : 0);
  }

  get memoryBytes(): number {
    return this.#words.byteLength;
  }

  has(low: number, high: number): boolean {
    if ((low | high) === 0) return this.#hasZero;
    const offset = 2 * this.#slot(low, high);
    return (this.#words[offset]! | this.#words[offset + 1]!) !== 0;
  }

  /** Returns true if the key was absent. */
  add(low: number, high: number): boolean {
    if ((low | high) === 0) {
      const added = !this.#hasZero;
      this.#hasZero = true;
      return added;
    }
    const offset = 2 * this.#slot(low, high);
    if ((this.#words[offset]! | this.#words[offset + 1]!) !== 0) return false;
    this.#words[offset] = low;
    this.#words[offset + 1] = high;
    this.#used++;
    if (this.#used * 4 > (this.#mask + 1) * 3) this.#grow();
    return true;
  }

  /** Returns true if the key was present. */
  delete(low: number, high: number): boolean {
    if ((low | high) === 0) {
      const deleted = this.#hasZero;
      this.#hasZero = false;
      return deleted;
    }
    let free = this.#slot(low, high);
    const words = this.#words;
    if ((words[2 * free]! | words[2 * free + 1]!) === 0) return false;
    // Moves the keys after the gap up, because a search would stop at it.
    for (let next = (free + 1) & this.#mask; ; next = (next + 1) & this.#mask) {
      const nextLow = words[2 * next]!;
      const nextHigh = words[2 * next + 1]!;
      if ((nextLow | nextHigh) === 0) break;
      const distance = (next - firstSlot(nextLow, nextHigh, this.#mask)) & this.#mask;
      if (distance < ((next - free) & this.#mask)) continue;
      words[2 * free] = nextLow;
      words[2 * free + 1] = nextHigh;
      free = next;
    }
    words[2 * free] = 0;
    words[2 * free + 1] = 0;
    this.#used--;
    return true;
  }

  clear(): void {
    // A table is cleared for every page of a crawl: new memory each time would cost collections of garbage.
    if (this.#mask >= FIRST_SLOTS) this.#words = new Uint32Array(2 * FIRST_SLOTS);
    else if (this.#used > 0) this.#words.fill(0);
    this.#mask = FIRST_SLOTS - 1;
    this.#used = 0;
    this.#hasZero = false;
  }

  /** All keys, in no particular order. */
  keys(): KeyWords {
    const keys = new Uint32Array(2 * this.size);
    let to = this.#hasZero ? 2 : 0;
    if (to === keys.length) return keys;
    const words = this.#words;
    for (let offset = 0; offset < words.length; offset += 2) {
      if ((words[offset]! | words[offset + 1]!) === 0) continue;
      keys[to++] = words[offset]!;
      keys[to++] = words[offset + 1]!;
    }
    return keys;
  }

  /** The slot of the key, or the free slot for it. */
  #slot(low: number, high: number): number {
    const words = this.#words;
    let slot = firstSlot(low, high, this.#mask);
    for (;;) {
      const slotLow = words[2 * slot]!;
      const slotHigh = words[2 * slot + 1]!;
      if ((slotLow === low && slotHigh === high) || (slotLow | slotHigh) === 0) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }

  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(2 * old.length);
    this.#mask = old.length - 1;
    for (let offset = 0; offset < old.length; offset += 2) {
      const low = old[offset]!;
      const high = old[offset + 1]!;
      if ((low | high) === 0) continue;
      const to = 2 * this.#slot(low, high);
      this.#words[to] = low;
      this.#words[to + 1] = high;
    }
  }
}

/**
 * The first slot of a key's search. Rabin fingerprints of texts with the same end share bits, so the bits are
 * mixed.
 */
function firstSlot(low: number, high: number, mask: number): number {
  let hash = Math.imul(low ^ (high >>> 7), 0x9e3779b1);
  hash ^= hash >>> 15;
  return (hash ^ high) & mask;
}
