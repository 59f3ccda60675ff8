import { steadyTime } from '../../clients/connection/monotonic-clock.js';
import { type CrawlUri, FETCH_STATUS } from './crawl-uri.js';
import { outcomeOf } from './dispositions.js';
import type { Finish } from './frontier/contract.js';
import type { CrawlSettings } from './order/settings.js';
import { politenessDelay } from './servers/politeness.js';
import type { ServerCache } from './servers/server-cache.js';

/** Temporary failures: the URI counts as new when it is found again (CRAWL-4.2, 21). */
const TEMPORARY: ReadonlySet<number> = new Set([
  FETCH_STATUS.unresolvable,
  FETCH_STATUS.unresolvedHost,
  FETCH_STATUS.connectFailed,
  FETCH_STATUS.connectLost,
  FETCH_STATUS.robotsUnavailable,
]);

/**
 * CRAWL-8.2 to 8.4: decides the outcome of a URI and how long its queue sleeps. After the last retry it sets
 * the disposition to `failed`.
 */
export function disposition(uri: CrawlUri, servers: ServerCache): Finish {
  const { settings } = uri;
  const polite = politeness(uri, servers);
  if (uri.retire !== undefined) return { outcome: 'retire', ...polite, reason: uri.retire };
  if (uri.disposition === 'retry') {
    const waitsForRobots = uri.status === FETCH_STATUS.deferred;
    const unreachableDelayMs = unreachableDelay(uri, servers);
    const requestedMs = Math.min(uri.retryAfterMs, settings.respectRetryAfterUpToSecs * 1000);
    servers.holds.hold(uri.url, requestedMs);
    if (isTooLong(requestedMs, settings)) return { outcome: 'retire', ...polite, reason: 'retry-after' };
    if (waitsForRobots && (isDeferrable(uri) || (uri.firstPrerequisite && servers.robotsKnown(uri.url)))) {
      // The next fetch of the queue is the document itself, or another attempt to get robots.txt, for which
      // the server may have named a time (CRAWL-13.3.11).
      return servers.robotsKnown(uri.url) || requestedMs > 0 || polite.delayMs >= unreachableDelayMs
        ? { outcome: 'retry', ...polite, free: true }
        : { outcome: 'retry', delayMs: unreachableDelayMs, reason: 'retry', free: true };
    }
    const kind = retryKind(uri);
    // A server whose answer ended too soon is there.
    const isAnswer = uri.fetched !== undefined && kind === 'lost';
    const inRow = waitsForRobots || isAnswer || kind === 'unreachable' ? 0 : servers.failed(uri.url);
    const mayRetry = uri.entry.uri.attempts + 1 < attemptLimit(kind, settings);
    if (waitsForRobots) {
      // CRAWL-8.3: a prerequisite that fails, or expires before the URI's turn comes, does not defer it for
      // ever.
      const failed = !servers.robotsKnown(uri.url);
      if (failed) uri.status = uri.unresolved ? FETCH_STATUS.unresolvedHost : FETCH_STATUS.robotsUnavailable;
      uri.reason = `deferred ${uri.entry.uri.attempts + 1} times for robots.txt${failed ? `: ${uri.reason}` : ', which expired each time'}`;
    } else if (mayRetry) {
      const waitMs =
        requestedMs > 0
          ? requestedMs
          : kind === 'unreachable'
            ? unreachableDelayMs
            : retryDelay(kind, settings);
      // CRAWL-22: a bad page does not stop its server's other pages.
      if (kind !== 'unreachable' && inRow < settings.serverFailures) {
        const delayMs = Math.max(polite.delayMs, waitMs);
        return { outcome: 'retry', ...polite, aside: { delayMs, status: uri.status, reason: uri.reason } };
      }
      const delayMs = Math.max(polite.delayMs, waitMs);
      const reason = delayMs === requestedMs ? 'retry-after' : delayMs === waitMs ? 'retry' : polite.reason;
      return { outcome: 'retry', delayMs, reason };
    }
    uri.disposition = 'failed';
    // CRAWL-8.1: -1 is the status of an attempt, -6 that of a URI whose host has no address.
    if (uri.status === FETCH_STATUS.unresolvable) uri.status = FETCH_STATUS.unresolvedHost;
  } else if (uri.status > 0 && uri.contactEnd > 0) {
    servers.answered(uri.url);
  }
  const bytes = uri.size;
  const outcome = outcomeOf(uri);
  if (outcome === 'disregarded') return { outcome, ...polite, bytes };
  if (outcome === 'succeeded') return { outcome: 'success', ...polite, bytes };
  return {
    outcome: 'failed',
    ...polite,
    bytes,
    penalty: settings.errorPenaltyAmount,
    forget: TEMPORARY.has(uri.status),
  };
}

/** CRAWL-22.4: whether a run does not wait for so long, so that the queue is left for a later one. */
export function isTooLong(waitMs: number, { retireRetryAfterSecs }: CrawlSettings): boolean {
  return retireRetryAfterSecs > 0 && waitMs > retireRetryAfterSecs * 1000;
}

/**
 * CRAWL-8.3: deferrals count as attempts. The first one is always allowed: with one attempt no URI would ever
 * be fetched.
 */
function isDeferrable({ entry, settings }: CrawlUri): boolean {
  return entry.uri.attempts + 1 < Math.max(settings.maxRetries, 2);
}

/** The kinds of failures after which a URI is tried again. */
type RetryKind =
  /** No connection was made (-1, -2): the server as a whole cannot be reached. */
  | 'unreachable'
  /** The connection was lost (-3). */
  | 'lost'
  /** 429 or 503. */
  | 'busy';

function retryKind({ status }: CrawlUri): RetryKind {
  if (status > 0) return 'busy';
  return status === FETCH_STATUS.connectLost ? 'lost' : 'unreachable';
}

/** CRAWL-8.3: the maximum number of attempts. */
export function attemptLimit(kind: RetryKind, settings: CrawlSettings): number {
  const { maxRetries, lostMaxRetries, busyMaxRetries } = settings;
  if (kind === 'unreachable') return maxRetries;
  return Math.min(maxRetries, kind === 'lost' ? lostMaxRetries : busyMaxRetries);
}

/** CRAWL-8.3: the wait of a queue whose server cannot be reached, milliseconds. */
function unreachableDelay({ settings, url, contactEnd }: CrawlUri, servers: ServerCache): number {
  const { retryDelaySeconds, unansweredRetryDelaySeconds } = settings;
  // CRAWL-22: a server that has answered may be restarting; the address of one that never did may be wrong.
  const isOwn = unansweredRetryDelaySeconds >= 0 && contactEnd === 0 && !servers.hasAnswered(url);
  return Math.min(retryDelaySeconds, isOwn ? unansweredRetryDelaySeconds : retryDelaySeconds) * 1000;
}

/** CRAWL-8.3: the wait before the next attempt, milliseconds. */
function retryDelay(kind: Exclude<RetryKind, 'unreachable'>, settings: CrawlSettings): number {
  const { retryDelaySeconds, lostRetryDelaySeconds, busyRetryDelaySeconds } = settings;
  return Math.min(retryDelaySeconds, kind === 'lost' ? lostRetryDelaySeconds : busyRetryDelaySeconds) * 1000;
}

/** CRAWL-7: returns the wait after a contact; 0 without a contact and for files of this machine. */
function politeness(uri: CrawlUri, servers: ServerCache): Pick<Finish, 'delayMs' | 'reason'> {
  if (uri.contactEnd === 0 || uri.fetched?.local === true) return { delayMs: 0 };
  // Waits are by a clock that is never set; the times of the contact are those of the system's clock.
  const now = steadyTime();
  const shift = now - Date.now();
  const { delayMs, reason, hostEmission } = politenessDelay(uri.settings, {
    begin: Math.min(now, uri.fetchBegin + shift),
    end: uri.contactEnd + shift,
    bytes: uri.size,
    now,
    crawlDelay: servers.crawlDelay(uri.url),
    retryAfterMs: uri.retryAfterMs,
    hostEmission: servers.hostEmission(uri.url),
  });
  servers.setHostEmission(uri.url, hostEmission);
  servers.pauses.pause(uri.url, delayMs);
  return { delayMs, reason };
}
