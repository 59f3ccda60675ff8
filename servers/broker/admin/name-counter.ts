// Counts names (types, hosts, Gatherers) for the statistics and the facets of result pages.

/** Counts how often names occur, with bounded memory. */
export class NameCounter {
  readonly #maxNames: number;
  readonly #counts = new Map<string, number>();
  #overflowed = false;

  /** @param maxNames different names that are counted; further ones are left out */
  constructor(maxNames: number) {
    this.#maxNames = maxNames;
  }

  /** Number of different names; undefined if there were more than `maxNames`. */
  get names(): number | undefined {
    return this.#overflowed ? undefined : this.#counts.size;
  }

  add(name: string): void {
    const count = this.#counts.get(name);
    if (count !== undefined) this.#counts.set(name, count + 1);
    else if (this.#counts.size < this.#maxNames) this.#counts.set(name, 1);
    else this.#overflowed = true;
  }

  /** Number of names, each counted at most so often; undefined if not all names were counted. */
  countedUpTo(most: number): number | undefined {
    if (this.#overflowed) return undefined;
    let sum = 0;
    for (const count of this.#counts.values()) sum += Math.min(most, count);
    return sum;
  }

  /** Returns the most frequent names, and how many other names were counted. */
  top(rows: number): {
    readonly rows: readonly { readonly name: string; readonly objects: number }[];
    readonly others: number;
  } {
    // Few of thousands: to sort all of them would take many times as long.
    const most: { readonly name: string; readonly objects: number }[] = [];
    const isBefore = (a: { name: string; objects: number }, b: { name: string; objects: number }) =>
      a.objects > b.objects || (a.objects === b.objects && a.name < b.name);
    for (const [name, objects] of this.#counts) {
      const row = { name, objects };
      const last = most.at(-1);
      if (most.length >= rows && (last === undefined || !isBefore(row, last))) continue;
      const at = most.findIndex((other) => isBefore(row, other));
      most.splice(at < 0 ? most.length : at, 0, row);
      if (most.length > rows) most.pop();
    }
    return { rows: most, others: Math.max(0, this.#counts.size - rows) };
  }
}

/** Returns the host of a URL in lower case; for a URL without a host its scheme, e.g. `file:`. */
export function hostOfUrl(url: string): string {
  const match = /^([a-z][a-z0-9+.-]*):(?:\/\/(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*))?/i.exec(url);
  return match?.[2]?.toLowerCase() || `${match?.[1]?.toLowerCase() ?? 'unknown'}:`;
}
