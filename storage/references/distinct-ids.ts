/** Lists of up to this length are searched linearly. */
const SMALL = 16;
/** The initial size of the hash table is 2 to this power. The table is never more than half full. */
const FIRST_BITS = 8;
const HASH_BITS = 32;
const MULTIPLIER = 0x9e37_79b1;

/**
 * Detects the first occurrence of an ID in a list, for many lists in sequence. Takes 16 to 32 bytes of memory for each distinct ID of
 * the longest list.
 */
export class DistinctIds {
  readonly #small = new Uint32Array(SMALL);
  #count = 0;
  #bits = FIRST_BITS;
  #ids = new Uint32Array(1 << FIRST_BITS);
  /** The list that filled each slot, so the table need not be cleared between lists. */
  #lists = new Uint32Array(1 << FIRST_BITS);
  #list = 0;

  /** Starts a new list. */
  clear(): void {
    this.#count = 0;
  }

  /** Returns true if the list does not contain this ID yet. */
  add(id: number): boolean {
    if (this.#count < SMALL) {
      for (let i = 0; i < this.#count; i++) if (this.#small[i] === id) return false;
      this.#small[this.#count++] = id;
      if (this.#count === SMALL) this.#beginTable();
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
    let place = Math.imul(id, MULTIPLIER) >>> (HASH_BITS - this.#bits);
    while (this.#lists[place] === this.#list) {
      if (this.#ids[place] === id) return false;
      place = (place + 1) & mask;
    }
    this.#ids[place] = id;
    this.#lists[place] = this.#list;
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
