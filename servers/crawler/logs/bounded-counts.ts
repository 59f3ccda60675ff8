/** The name under which names beyond the limit are counted. */
const OTHER = 'other';

/** URIs and bytes of one kind. */
export interface Count {
  uris: number;
  bytes: number;
}

/** Counts by name in bounded memory. New names beyond `limit` are counted together as {@link OTHER}. */
export class BoundedCounts {
  readonly #counts = new Map<string, Count>();

  constructor(readonly limit: number) {}

  add(name: string, bytes: number, uris = 1): void {
    const known = this.#counts.has(name) || this.#counts.size < this.limit;
    const key = known ? name : OTHER;
    const count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, { uris, bytes });
    else {
      count.uris += uris;
      count.bytes += bytes;
    }
  }

  /** Returns the counts, {@link OTHER} among them, the most frequent first; equally frequent ones by name. */
  sorted(): { name: string; uris: number; bytes: number }[] {
    return [...this.#counts]
      .map(([name, count]) => ({ name, ...count }))
      .sort((a, b) => b.uris - a.uris || (a.name < b.name ? -1 : 1));
  }

  get size(): number {
    return this.#counts.size;
  }
}
