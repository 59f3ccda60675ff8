import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import { WholePattern } from '../decide/predicates.js';
import type { QueueTraffic } from '../frontier/contract.js';
import { QUOTAS } from '../order/quotas.js';
import type { CrawlSettings } from '../order/settings.js';
import { cachedPatterns } from '../patterns.js';
import type { ProcessorDescriptor, ProcessorParts } from './parts.js';

/**
 * CRAWL-11.2, the second half of the Preselector: rejects every URI (`blockAll`), those that `allowPattern`
 * does not match, and those that `blockPattern` matches. Patterns are in RE2 syntax and match whole URIs.
 */
export class Blocker implements Processor {
  readonly name = 'Blocker';
  readonly #compile = cachedPatterns((source) => new WholePattern(source));

  /** @throws UsageError when a pattern is not a regular expression */
  process(uri: CrawlUri): ProcessResult {
    const reason = this.#blockedBy(uri);
    if (reason === undefined) return 'proceed';
    uri.status = FETCH_STATUS.stoppedByName;
    uri.disposition = 'rejected';
    uri.reason = reason;
    return 'post';
  }

  #blockedBy({ url, settings }: CrawlUri): string | undefined {
    const { blockAll, blockPattern, allowPattern } = settings;
    if (blockAll) return 'blockAll';
    if (allowPattern !== '' && !this.#compile(allowPattern).matches(url))
      return 'not matched by allowPattern';
    if (blockPattern !== '' && this.#compile(blockPattern).matches(url)) return 'blockPattern';
    return undefined;
  }
}

export const BLOCKER: ProcessorDescriptor = {
  name: 'Blocker',
  chain: 'pre-fetch',
  text: 'rejects URIs by blockAll, allowPattern, blockPattern',
  rule: 'CRAWL-11.2',
  settings: ['blockAll', 'blockPattern', 'allowPattern'],
  ordered: true,
  classes: ['Preselector'],
  create: () => new Blocker(),
};

/** Provides counts, 0 for an unknown server. It is called for every URI and must not read the disk. */
export interface QuotaCounters {
  /** CRAWL-12.1: host and port. */
  server(url: string): QueueTraffic;
  host(url: string): QueueTraffic;
  /** The URIs of one queue (CRAWL-9.1). */
  group(classKey: string): QueueTraffic;
}

type Quotas = CrawlSettings['quotas'];

/**
 * CRAWL-11.3, in the pre-fetch chain: does not fetch a URI whose server, host or queue has reached a quota. Its
 * queue is retired with the URI in it, or the URI fails with -5003. The annotation names the quota.
 */
export class QuotaEnforcer implements Processor {
  readonly #counters: QuotaCounters;
  readonly name = 'QuotaEnforcer';

  constructor(counters: QuotaCounters) {
    this.#counters = counters;
  }

  process(uri: CrawlUri): ProcessResult {
    const { quotas, quotaForceRetire } = uri.settings;
    const reached = this.#reachedQuota(uri, quotas);
    if (reached === undefined) return 'proceed';
    uri.annotations.push(`Q:${reached}`);
    uri.reason = `quota ${reached} of ${quotas[reached]} is reached`;
    if (quotaForceRetire) {
      uri.status = FETCH_STATUS.untried;
      uri.disposition = 'retry';
      uri.retire = 'quota';
    } else {
      uri.status = FETCH_STATUS.quotaReached;
      uri.disposition = 'failed';
    }
    return 'post';
  }

  #reachedQuota(uri: CrawlUri, quotas: Quotas): keyof Quotas | undefined {
    // By default there are no quotas, so no counts are read.
    if (Object.values(quotas).every((quota) => quota < 0)) return undefined;
    const traffic = {
      server: this.#counters.server(uri.url),
      host: this.#counters.host(uri.url),
      group: this.#counters.group(uri.entry.classKey),
    };
    return QUOTAS.find(
      ({ name, subject, countOf }) => quotas[name] >= 0 && countOf(traffic[subject]) >= quotas[name],
    )?.name;
  }
}

export const QUOTA_ENFORCER: ProcessorDescriptor = {
  name: 'QuotaEnforcer',
  chain: 'pre-fetch',
  text: 'fetches nothing more from a server, host or queue that has reached a quota',
  rule: 'CRAWL-11.3',
  settings: ['quotas', 'quotaForceRetire'],
  ordered: true,
  classes: ['QuotaEnforcer'],
  create: ({ parts: { servers, frontier } }) =>
    new QuotaEnforcer({
      server: (url) => servers.serverTraffic(url),
      host: (url) => servers.hostTraffic(url),
      group: (classKey) => frontier.traffic(classKey),
    }),
};

/**
 * CRAWL-11.3, with the settings `runtimeSeconds` and `runtimeOperation`: pauses or ends the crawl, once, after
 * this many seconds; the URIs in flight continue. With `block` every later URI fails with -5004, so that the
 * queues drain.
 */
export class RuntimeLimit implements Processor {
  readonly #options: ProcessorParts['runtime'];
  readonly name = 'RuntimeLimit';
  readonly #done = new Set<string>();

  constructor(options: ProcessorParts['runtime']) {
    this.#options = options;
  }

  process(uri: CrawlUri): ProcessResult {
    const { runtimeSeconds: seconds, runtimeOperation: operation } = uri.settings;
    if (seconds === 0 || this.#options.elapsed() < seconds) return 'proceed';
    // CRAWL-16.2: an annotation contains no space and no comma.
    const annotation = `runtimeLimit:${seconds}s`;
    if (operation === 'block') {
      uri.annotations.push(annotation);
      uri.status = FETCH_STATUS.runtimeLimit;
      uri.disposition = 'failed';
      uri.reason = `the crawl has run for ${seconds} seconds`;
      return 'post';
    }
    // The operation runs once: an operator who resumes a paused crawl knows the limit.
    if (this.#done.has(operation)) return 'proceed';
    this.#done.add(operation);
    uri.annotations.push(annotation);
    this.#options[operation]();
    return 'proceed';
  }
}

export const RUNTIME_LIMIT: ProcessorDescriptor = {
  name: 'RuntimeLimit',
  chain: 'pre-fetch',
  text: 'pauses, ends or blocks the crawl after runtimeSeconds',
  rule: 'CRAWL-11.3',
  settings: ['runtimeSeconds', 'runtimeOperation'],
  ordered: true,
  classes: ['RuntimeLimitEnforcer'],
  create: ({ parts }) => new RuntimeLimit(parts.runtime),
};
