export interface PatternBudgetOptions {
  /** Patterns that are remembered; beyond, those met least lately are forgotten and count from 0 again. Default 100 000. */
  readonly maxPatterns?: number;
}

/** Characters of a pattern; what is longer is one pattern with all that begins alike. */
const MAX_PATTERN_LENGTH = 512;

/**
 * A budget for the URIs of one make (CRAWL-22 pain 5, G-173): calendars, counters and endless lists differ from page to page only in
 * their numbers. It is asked for every new URI that is otherwise in scope, after the seen test, since it counts. Repeated path
 * segments, deep paths and many hops are decide rules (`decide/`).
 *
 * [choice] It lives in memory: a crawl that is resumed begins to count anew. What is forgotten lets too much in, never too little.
 */
export class PatternBudget {
  readonly #maxPatterns: number;
  /** The one met least lately comes first. */
  readonly #counts = new Map<string, number>();

  constructor({ maxPatterns = 100_000 }: PatternBudgetOptions = {}) {
    this.#maxPatterns = Math.max(1, maxPatterns);
  }

  /** Patterns in memory. */
  get size(): number {
    return this.#counts.size;
  }

  /**
   * Counts the URI.
   * @param max URIs of one pattern that are let in; 0: as many as come
   * @returns why it is not let in; undefined: it is
   */
  admit(url: string, max: number): string | undefined {
    if (max === 0) return undefined;
    const pattern = uriPattern(url);
    // Without a number in it, it is the only one of its make.
    if (pattern === undefined) return undefined;
    const count = this.#counts.get(pattern) ?? 0;
    this.#counts.delete(pattern);
    if (count === 0 && this.#counts.size >= this.#maxPatterns) this.#forget();
    if (count >= max) {
      this.#counts.set(pattern, count);
      return `trap: ${max} URIs like ${pattern} are enough`;
    }
    this.#counts.set(pattern, count + 1);
    return undefined;
  }

  #forget(): void {
    for (const oldest of this.#counts.keys()) {
      this.#counts.delete(oldest);
      return;
    }
  }
}

/** The URI with `#` for every number in its path and query; its host stays. Undefined when there is none. */
export function uriPattern(url: string): string | undefined {
  const [, origin = '', rest = ''] = /^([a-z][a-z0-9+.-]*:(?:\/\/[^/?]*)?)(.*)$/is.exec(url) ?? [];
  const general = rest.replace(/\d+/g, '#');
  return general === rest ? undefined : (origin + general).slice(0, MAX_PATTERN_LENGTH);
}
