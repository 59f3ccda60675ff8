import type { UnixSeconds } from '../time.js';

/** How an attempt to fetch a robots.txt ended. */
export type RobotsAnswer =
  | { readonly kind: 'status'; readonly status: number }
  /** The connection was lost before a byte came. */
  | { readonly kind: 'empty' }
  /** No connection, no name, a time-out ... */
  | { readonly kind: 'failure' };

/** What holds after an attempt. */
export type RobotsOutcome =
  /** The body holds the rules. */
  | 'parse'
  /** Everything is allowed. */
  | 'allow-all'
  /** RFC 9309 2.3.1.4: everything is forbidden until the file can be had. */
  | 'deny-all'
  /** Nothing is known; it is to be tried again. */
  | 'retry'
  /** Nothing is known, and the tries are used up: the site's URIs end with -61. */
  | 'unavailable'
  /** RFC 9309 2.3.1.2: the rules are where the answer points to. */
  | 'follow';

export interface RobotsFetchRules {
  /** CRAWL-13.3.12: default 3. */
  readonly tries?: number;
  /** CRAWL-13.3.12, CRAWL-21: what follows the last failed try: the site is left alone (default), or all is allowed. */
  readonly unreachable?: 'unavailable' | 'allow-all';
  /** CRAWL-13.9: judge 3xx and 5xx as RFC 9309 does. Default false: all is allowed (CRAWL-13.3.11). */
  readonly rfc9309?: boolean;
  /** RFC 9309 2.3.1.2: how many redirects are followed. Default 5. */
  readonly redirects?: number;
  /** CRAWL-13.3.12: under the policy `ignore` a failure counts as a file that does not exist. Default false. */
  readonly ignore?: boolean;
}

/**
 * What an answer to the request for robots.txt means (CRAWL-13.3.11, 13.3.12).
 * @param tries how many attempts there were, this one included
 * @param redirects how many were followed before this answer
 */
export function robotsOutcome(
  answer: RobotsAnswer,
  rules: RobotsFetchRules = {},
  tries = 1,
  redirects = 0,
): RobotsOutcome {
  if (answer.kind === 'status') return statusOutcome(answer.status, rules, redirects);
  // Two failures count as a missing file, which allows everything.
  if (rules.ignore === true || (answer.kind === 'empty' && rules.rfc9309 !== true)) return 'allow-all';
  if (tries < (rules.tries ?? 3)) return 'retry';
  return rules.unreachable ?? 'unavailable';
}

function statusOutcome(status: number, rules: RobotsFetchRules, redirects: number): RobotsOutcome {
  if (status >= 200 && status <= 299) return 'parse';
  if (rules.rfc9309 !== true) return 'allow-all';
  if (status >= 300 && status <= 399) return redirects < (rules.redirects ?? 5) ? 'follow' : 'allow-all';
  return status >= 500 ? 'deny-all' : 'allow-all';
}

/** CRAWL-13.3.13: seconds for which rules hold; 0 is for ever. */
export const ROBOTS_VALIDITY_SECONDS = 86_400;

/** CRAWL-13.3.13: is it time to fetch the file again? */
export function robotsExpired(
  fetched: UnixSeconds,
  now: UnixSeconds,
  validitySeconds = ROBOTS_VALIDITY_SECONDS,
): boolean {
  return validitySeconds > 0 && now - fetched >= validitySeconds;
}
