// The cost of URIs, and the precedence of URIs and queues (CRAWL-9.10, 9.11).
import { hopCount, linkHops } from './hops.js';

/** CRAWL-9.10: the cost of a URI for its queue's budget, fixed when it is queued. */
export type CostPolicy = (uri: string, via?: string) => number;

export type CostPolicyName = 'zero' | 'unit' | 'wag' | 'anti-calendar';

/** Words in the URIs of calendars, anywhere and in any case, or a year between non-digits. */
const CALENDAR = /calendar|year|month|day|date|viewcal|event|yr=|calendrier|jour|\D(?:19|20)\d\d\D/i;

/** CRAWL-9.10: the policies by name; `unit` is the default. */
export const COST_POLICIES: Readonly<Record<CostPolicyName, CostPolicy>> = {
  zero: () => 0,
  unit: () => 1,
  wag: (uri, via) => {
    const mark = uri.indexOf('?');
    if (mark < 0) return 1;
    // A page that links to itself with another query probably has more such links.
    return via?.startsWith(uri.slice(0, mark)) === true ? 3 : 2;
  },
  'anti-calendar': (uri) => (CALENDAR.test(uri) ? 2 : 1),
};

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
