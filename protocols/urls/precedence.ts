// The precedence of URIs and queues (CRAWL-9.11).
import { hopCount, linkHops } from './hops.js';

/** The input of a precedence policy (CRAWL-9.11). */
export interface PrecedenceSubject {
  readonly uri: string;
  /** Hops from the seed (CRAWL-2.2). */
  readonly hops: string;
  /** Cost by the cost policy (CRAWL-9.10). */
  readonly cost: number;
}

/** CRAWL-9.11: smaller is earlier. */
export type UriPrecedence = (subject: PrecedenceSubject) => number;

/** CRAWL-9.11: the URI's cost; the default. */
export const costPrecedence: UriPrecedence = ({ cost }) => cost;

/** CRAWL-9.11: the same precedence for all URIs. */
export function basePrecedence(base = 1): UriPrecedence {
  return () => base;
}

/** CRAWL-9.11: URIs farther from the seed are later; counts links, or all hops. */
export function hopsPrecedence(
  options: { readonly base?: number; readonly allHops?: boolean } = {},
): UriPrecedence {
  const { base = 1, allHops = false } = options;
  return ({ hops }) => base + (allHops ? hopCount(hops) : linkHops(hops));
}

/**
 * G-30: URIs farther from the seed are earlier, so that the links of a document come before its siblings: depth
 * first. Hops beyond the 126th count no more, because a queue tells 127 precedences apart.
 */
export const depthFirstPrecedence: UriPrecedence = ({ hops }) => 1 + Math.max(0, 126 - hopCount(hops));

/** CRAWL-9.11: the precedence in a prepared table, otherwise by another policy. */
export function preloadedPrecedence(
  table: ReadonlyMap<string, number>,
  otherwise: UriPrecedence = costPrecedence,
): UriPrecedence {
  return (subject) => table.get(subject.uri) ?? otherwise(subject);
}

/** CRAWL-9.11: queues with this precedence or a greater one are never crawled. */
export const PRECEDENCE_FLOOR = 255;
/** CRAWL-9.11: the initial precedence of a queue. */
export const QUEUE_PRECEDENCE = 3;

/** CRAWL-9.11: `base` plus the smallest precedence of the pending URIs; `base` for an empty queue. */
export function highestUriPrecedence(pending: Iterable<number>, base = QUEUE_PRECEDENCE): number {
  let best = Number.POSITIVE_INFINITY;
  for (const precedence of pending) best = Math.min(best, precedence);
  return best === Number.POSITIVE_INFINITY ? base : base + best;
}

/**
 * CRAWL-9.11: a queue with many successes becomes later: by one step at each sum of the increments, of which
 * the last repeats. The default `[100, 1000]` steps at 100, 1100, 2100 ... successes.
 */
export function successCountsPrecedence(
  successes: number,
  increments: readonly number[] = [100, 1000],
  base = QUEUE_PRECEDENCE,
): number {
  let precedence = base;
  let left = successes;
  for (const increment of increments) {
    if (increment <= 0 || left < increment) return precedence;
    left -= increment;
    precedence++;
  }
  const repeated = increments.at(-1) ?? Number.POSITIVE_INFINITY;
  return precedence + Math.floor(left / repeated);
}
