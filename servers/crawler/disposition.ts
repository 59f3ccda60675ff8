import { type CrawlUri, FETCH_STATUS } from './crawl-uri.js';
import type { Finish } from './frontier/index.js';
import { outcomeOf } from './logs/outcome.js';
import { politenessDelay } from './servers/politeness.js';
import type { ServerCache } from './servers/server-cache.js';

/** Temporary failures: the URI counts as new when it is found again (CRAWL-4.2, 21). */
const TEMPORARY: ReadonlySet<number> = new Set([
  FETCH_STATUS.unresolvable,
  FETCH_STATUS.connectFailed,
  FETCH_STATUS.connectLost,
  FETCH_STATUS.robotsUnavailable,
]);

/** CRAWL-8.2 to 8.4: decides the outcome of a URI and how long its queue sleeps. After the last retry it sets the disposition to `failed`. */
export function disposition(uri: CrawlUri, servers: ServerCache): Finish {
  const { settings } = uri;
  const polite = politeness(uri, servers);
  if (uri.retire !== undefined) return { outcome: 'retire', ...polite, reason: uri.retire };
  if (uri.disposition === 'retry') {
    const waitsForRobots = uri.status === FETCH_STATUS.deferred;
    const retryDelayMs = settings.retryDelaySeconds * 1000;
    if (waitsForRobots) {
      // The next fetch of the queue is the document itself, or another attempt to get robots.txt.
      return servers.robotsKnown(uri.url) || polite.delayMs >= retryDelayMs
        ? { outcome: 'retry', ...polite, free: true }
        : { outcome: 'retry', delayMs: retryDelayMs, reason: 'retry', free: true };
    }
    if (uri.entry.uri.attempts + 1 < settings.maxRetries) {
      const requestedMs = Math.min(uri.retryAfterMs, settings.respectRetryAfterUpToSecs * 1000);
      const delayMs = Math.max(polite.delayMs, retryDelayMs, requestedMs);
      const reason =
        delayMs === requestedMs ? 'retry-after' : delayMs === retryDelayMs ? 'retry' : polite.reason;
      return { outcome: 'retry', delayMs, reason };
    }
    uri.disposition = 'failed';
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

/** CRAWL-7: returns the wait after a contact; 0 without a contact and for files of this machine. */
function politeness(uri: CrawlUri, servers: ServerCache): Pick<Finish, 'delayMs' | 'reason'> {
  if (uri.contactEnd === 0 || uri.fetched?.local === true) return { delayMs: 0 };
  const { delayMs, reason, hostEmission } = politenessDelay(uri.settings, {
    begin: uri.fetchBegin,
    end: uri.contactEnd,
    bytes: uri.size,
    now: Date.now(),
    crawlDelay: servers.crawlDelay(uri.url),
    retryAfterMs: uri.retryAfterMs,
    hostEmission: servers.hostEmission(uri.url),
  });
  servers.setHostEmission(uri.url, hostEmission);
  return { delayMs, reason };
}
