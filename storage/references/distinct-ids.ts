/** Lists of up to this length are searched linearly. */
const MAX_LINEAR = 16;
/** The initial size of the hash table is 2 to this power. The table is never more than half full. */
const INITIAL_BITS = 8;
const HASH_BITS = 32;
const MULTIPLIER = 0x9e37_79b1;

/**
 * Detects the first occurrence of an ID in a list, for many lists in sequence. Takes 16 to 32 bytes of memory
 * for each distinct ID of the longest list.
 */
export class DistinctIds {
  readonly #small = new Uint32Array(MAX_LINEAR);
  #count = 0;
  #bits = INITIAL_BITS;
  #ids = new Uint32Array(1 << INITIAL_BITS);
  /** The list that filled each slot, so the table need not be cleared between lists. */
  #lists = new Uint32Array(1 << INITIAL_BITS);
  #list = 0;

  /** Starts a new list. */
  clear(): void {
    this.#count = 0;
  }

  /** Returns true if the list does not contain this ID yet. */
  add(id: number): boolean {
    if (this.#count < MAX_LINEAR) {
      for (let i = 0; i < this.#count; i++) if (this.#small[i] === id) return false;
      this.#small[this.#count++] = id;
      if (this.#count === MAX_LINEAR) this.#beginTable();
      return true;
    }
    if (!this.#insert(id)) return false;
    if (++this.#count * 2 > this.#ids.length) this.#grow();
    return true;
  }

  #beginTable(): void {
    if (++this.#list > 0xffff_ffff) {
      this.#list = 1;
      this.#lists.fill(0);
    }
    for (const id of this.#small) this.#insert(id);
  }

  #insert(id: number): boolean {
    const mask = this.#ids.length - 1;
    let slot = Math.imul(id, MULTIPLIER) >>> (HASH_BITS - this.#bits);
    while (this.#lists[slot] === this.#list) {
      if (this.#ids[slot] === id) return false;
      slot = (slot + 1) & mask;
    }
    this.#ids[slot] = id;
    this.#lists[slot] = this.#list;
    return true;
  }

  #grow(): void {
    const ids = this.#ids;
    const lists = this.#lists;
    this.#bits++;
    this.#ids = new Uint32Array(2 ** this.#bits);
    this.#lists = new Uint32Array(2 ** this.#bits);
    for (let i = 0; i < ids.length; i++) if (lists[i] === this.#list) this.#insert(ids[i] ?? 0);
  }
}
