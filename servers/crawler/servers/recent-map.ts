export interface RecentMapOptions<V> {
  /** Entries; default: no limit. */
  readonly maxEntries?: number;
  /** Of all weights together; default: no limit. */
  readonly maxWeight?: number;
  /** What one entry weighs; default 0. It must not change while the entry is in the map. */
  readonly weigh?: (value: V) => number;
}

/** A map that forgets what was used longest ago when it has too many entries, or they weigh too much. */
export class RecentMap<V> {
  readonly #entries = new Map<string, V>();
  #weight = 0;

  constructor(readonly options: RecentMapOptions<V> = {}) {}

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  /** Marks the entry as used. */
  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Does not. */
  peek(key: string): V | undefined {
    return this.#entries.get(key);
  }

  /** The newest entry always stays, even when it alone is too heavy. */
  set(key: string, value: V): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#weigh(value);
    const { maxEntries = Number.POSITIVE_INFINITY, maxWeight = Number.POSITIVE_INFINITY } = this.options;
    for (const oldest of this.#entries.keys()) {
      if (oldest === key || (this.#entries.size <= maxEntries && this.#weight <= maxWeight)) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#weight -= this.#weigh(value);
  }

  /** Those used longest ago first. */
  entries(): IterableIterator<[string, V]> {
    return this.#entries.entries();
  }

  #weigh(value: V): number {
    return this.options.weigh?.(value) ?? 0;
  }
}
