import type { LRUCache } from 'lru-cache';
import { lruCache } from './lru.js';

export interface PatternBudgetOptions {
  /**
   * Maximum number of patterns in the cache; the least recently used ones are evicted and count from 0 again.
   * Default 100 000.
   */
  readonly maxPatterns?: number;
}

/**
 * Maximum number of characters of a pattern; longer ones are truncated, so URIs with the same beginning share a
 * pattern.
 */
const MAX_PATTERN_LENGTH = 512;

/**
 * A budget for URIs that differ only in their numbers (CRAWL-22, G-173), such as those of calendars and endless
 * lists. It is applied to new URIs in scope, after the seen test, because it counts them. Repeated path
 * segments, deep paths and many hops are decide rules (`decide/`).
 *
 * [choice] The counts are in memory only: a resumed crawl starts from 0, and so does an evicted pattern. Both
 * admit more URIs, never fewer.
 */
export class PatternBudget {
  readonly #counts: LRUCache<string, number>;

  constructor({ maxPatterns = 100_000 }: PatternBudgetOptions = {}) {
    this.#counts = lruCache(Math.max(1, maxPatterns));
  }

  /** Patterns in memory. */
  get size(): number {
    return this.#counts.size;
  }

  /**
   * Counts the URI.
   * @param max URIs of one pattern that are admitted; 0: no limit
   * @returns why it is refused; undefined if it is admitted
   */
  admit(url: string, max: number): string | undefined {
    if (max === 0) return undefined;
    const pattern = uriPattern(url);
    // A URI without numbers has no pattern.
    if (pattern === undefined) return undefined;
    const count = this.#counts.get(pattern) ?? 0;
    if (count >= max) return `trap: the limit of ${max} URIs like ${pattern} is reached`;
    this.#counts.set(pattern, count + 1);
    return undefined;
  }
}

/** Returns the URI with `#` for every number in its path and query; undefined if it has no number. */
export function uriPattern(url: string): string | undefined {
  const [, origin = '', rest = ''] = /^([a-z][a-z0-9+.-]*:(?:\/\/[^/?]*)?)(.*)$/is.exec(url) ?? [];
  const general = rest.replace(/\d+/g, '#');
  return general === rest ? undefined : (origin + general).slice(0, MAX_PATTERN_LENGTH);
}
