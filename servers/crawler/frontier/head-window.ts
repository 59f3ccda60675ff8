/**
 * The first items of an ordered table on disk, so that taking items one by one needs few reads.
 *
 * ```
 *   disk:    e1 e2 e3 e4 e5 e6 ... en
 *   window:        e3 e4 e5            taken: e1 e2; `complete` if it includes en
 * ```
 *
 * An item is added after it was written to disk. An item that was taken may still be on disk; reads continue
 * after it, so that they do not scan the deleted rows of a long queue each time.
 */
export class HeadWindow<T> {
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];
  #complete = true;
  /** The last item taken; undefined if the next read begins at the start. */
  #after: T | undefined;
  /** Incremented when the result of a read in flight becomes invalid. */
  #epoch = 0;
  #addedWhileReading = false;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** The next item, if it is in memory. */
  get first(): T | undefined {
    return this.#items[0];
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

  /** Puts back the item that was taken last; items that were added meanwhile may precede it. */
  putBack(item: T): void {
    if (this.needsRefill) this.#after = undefined;
    else this.#insert(item);
  }

  /** Adds an item that is on disk, if it is among the first `limit`. */
  added(item: T, limit: number): void {
    this.#addedWhileReading = true;
    const items = this.#items;
    const last = items.at(-1);
    if (!this.#complete && (last === undefined || this.#compare(item, last) > 0)) {
      if (last === undefined && this.#after !== undefined && this.#compare(item, this.#after) < 0)
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
    let index = items.length;
    while (index > 0 && this.#compare(item, items[index - 1]!) < 0) index--;
    items.splice(index, 0, item);
  }

  /** Removes all items from memory. @param onDisk whether items may be on disk */
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
    // An item before the start of the read was added meanwhile: the next read begins at the start.
    if (after !== undefined && this.#after === undefined) return;
    this.#items = items;
    // The read may lack items that were added meanwhile; the next read returns them.
    this.#complete = items.length < limit && !this.#addedWhileReading;
  }
}
