/** A binary heap of values by wake time, milliseconds; the earliest is on top. */
export class WakeHeap<T> {
  readonly #items: { readonly wakeTime: number; readonly value: T }[] = [];

  /** The earliest wake time; undefined if the heap is empty. */
  get earliest(): number | undefined {
    return this.#items[0]?.wakeTime;
  }

  push(wakeTime: number, value: T): void {
    const items = this.#items;
    items.push({ wakeTime, value });
    let child = items.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (items[parent]!.wakeTime <= items[child]!.wakeTime) break;
      [items[parent], items[child]] = [items[child]!, items[parent]!];
      child = parent;
    }
  }

  /** Removes the earliest value if it is due. */
  popDue(now: number): T | undefined {
    const earliest = this.earliest;
    return earliest === undefined || earliest > now ? undefined : this.pop();
  }

  /** Removes the earliest value. */
  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    if (top === undefined) return undefined;
    const last = items.pop()!;
    if (items.length > 0) {
      items[0] = last;
      let parent = 0;
      for (;;) {
        const left = 2 * parent + 1;
        if (left >= items.length) break;
        const right = left + 1;
        const child = right < items.length && items[right]!.wakeTime < items[left]!.wakeTime ? right : left;
        if (items[parent]!.wakeTime <= items[child]!.wakeTime) break;
        [items[parent], items[child]] = [items[child]!, items[parent]!];
        parent = child;
      }
    }
    return top.value;
  }
}
