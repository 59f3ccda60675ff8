/**
 * The head of an ordered table on disk, in memory: so taking one item after the other costs a read only now and then.
 *
 * ```
 *   disk:    e1 e2 e3 e4 e5 e6 ... en
 *   window:        e3 e4 e5            taken: e1 e2; `complete` when it reaches to en
 * ```
 *
 * An item is added once it is on disk. What was taken may still be on disk, or be gone: reading goes on behind it, so that the
 * deleted rows of a long queue are not stepped over again and again.
 */
export class HeadWindow<T> {
  #items: T[] = [];
  #complete = true;
  /** The last one taken, or undefined: then reading begins at the start. */
  #after: T | undefined;
  /** Counts what makes the answer of a read under way useless. */
  #epoch = 0;
  #addedWhileReading = false;

  constructor(readonly compare: (a: T, b: T) => number) {}

  get size(): number {
    return this.#items.length;
  }

  /** True when the next item must be read from disk first. */
  get needsRefill(): boolean {
    return this.#items.length === 0 && !this.#complete;
  }

  shift(): T | undefined {
    const item = this.#items.shift();
    if (item !== undefined) this.#after = item;
    return item;
  }

  /** Gives back the item that was taken last; what came meanwhile may stand before it. */
  giveBack(item: T): void {
    if (this.needsRefill) this.#after = undefined;
    else this.#insert(item);
  }

  /** The item is on disk now; it enters the window when it belongs there, which holds at most `limit`. */
  added(item: T, limit: number): void {
    this.#addedWhileReading = true;
    const items = this.#items;
    const last = items.at(-1);
    if (!this.#complete && (last === undefined || this.compare(item, last) > 0)) {
      if (last === undefined && this.#after !== undefined && this.compare(item, this.#after) < 0)
        this.#after = undefined;
      return;
    }
    this.#insert(item);
    if (items.length > limit) {
      items.length = limit;
      this.#complete = false;
    }
  }

  #insert(item: T): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0 && this.compare(item, items[at - 1]!) < 0) at--;
    items.splice(at, 0, item);
  }

  /** Forgets what is in memory; `onDisk` says whether the disk may hold anything. */
  clear(onDisk: boolean): void {
    this.#items = [];
    this.#complete = !onDisk;
    this.#after = undefined;
    this.#epoch++;
  }

  /** Reads the next items. Only one reader at a time. */
  async refill(limit: number, read: (limit: number, after: T | undefined) => Promise<T[]>): Promise<void> {
    this.#addedWhileReading = false;
    const epoch = this.#epoch;
    const after = this.#after;
    const items = await read(limit, after);
    if (epoch !== this.#epoch) return;
    // Something smaller than where the reading began came meanwhile: begin again.
    if (after !== undefined && this.#after === undefined) return;
    this.#items = items;
    // What was added since the read began may be missing from it: then the next read finds it.
    this.#complete = items.length < limit && !this.#addedWhileReading;
  }
}
