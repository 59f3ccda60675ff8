// The outcome of a request for robots.txt, and how long it is valid (CRAWL-13.3).
import type { UnixSeconds } from '../time.js';

/** The end of an attempt to fetch a robots.txt. */
export type RobotsAnswer =
  | { readonly kind: 'status'; readonly status: number }
  /** The connection was lost before the first byte. */
  | { readonly kind: 'empty' }
  /** No connection, no host name, a timeout ... */
  | { readonly kind: 'failure' };

/** The state after an attempt. */
export type RobotsOutcome =
  /** The body has the rules. */
  | 'parse'
  /** Everything is allowed. */
  | 'allow-all'
  /** The rules are unknown; try again. */
  | 'retry'
  /** The rules are unknown, and the tries are used up: the site's URIs end with status -61. */
  | 'unavailable'
  /** RFC 9309 2.3.1.2: follow the redirect. */
  | 'follow';

export interface RobotsFetchRules {
  /** CRAWL-13.3.12: default 3. */
  readonly tries?: number;
  /**
   * CRAWL-13.3.12, CRAWL-21: the outcome of the last failed try: the site is not crawled (default), or
   * everything is allowed.
   */
  readonly unreachable?: 'unavailable' | 'allow-all';
  /** CRAWL-13.3.11: redirects are followed; 429 and 5xx are failures. Default false: all is allowed. */
  readonly rfc9309?: boolean;
  /** RFC 9309 2.3.1.2: how many redirects are followed. Default 5. */
  readonly redirects?: number;
  /** CRAWL-13.3.12: under the policy `ignore` a failure counts as a file that does not exist. Default false. */
  readonly ignore?: boolean;
}

/**
 * Interprets the reply to a request for robots.txt (CRAWL-13.3.11, 13.3.12).
 * @param tries number of attempts, including this one
 * @param redirects number of redirects followed before this reply
 */
export function robotsOutcome(
  answer: RobotsAnswer,
  rules: RobotsFetchRules = {},
  tries = 1,
  redirects = 0,
): RobotsOutcome {
  if (answer.kind === 'status' && !isRefusal(answer.status, rules))
    return statusOutcome(answer.status, rules, redirects);
  // Two failures count as a missing file, which allows everything.
  if (rules.ignore === true || (answer.kind === 'empty' && rules.rfc9309 !== true)) return 'allow-all';
  if (tries < (rules.tries ?? 3)) return 'retry';
  return rules.unreachable ?? 'unavailable';
}

function statusOutcome(status: number, rules: RobotsFetchRules, redirects: number): RobotsOutcome {
  if (status >= 200 && status <= 299) return 'parse';
  if (rules.rfc9309 !== true) return 'allow-all';
  const isRedirect = status >= 300 && status <= 399;
  return isRedirect && redirects < (rules.redirects ?? 5) ? 'follow' : 'allow-all';
}

/** CRAWL-13.3.11: with RFC 9309, whether the server refuses to say its rules now. */
function isRefusal(status: number, { rfc9309 = false }: RobotsFetchRules): boolean {
  return rfc9309 && (status === 429 || status >= 500);
}

/** CRAWL-13.3.13: seconds for which rules are valid; 0 means no limit. */
export const ROBOTS_VALIDITY_SECONDS = 86_400;

/** CRAWL-13.3.13: whether the file must be fetched again. */
export function isRobotsExpired(
  fetched: UnixSeconds,
  now: UnixSeconds,
  validitySeconds = ROBOTS_VALIDITY_SECONDS,
): boolean {
  return validitySeconds > 0 && now - fetched >= validitySeconds;
}
