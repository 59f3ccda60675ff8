import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import type { CrawlSettings } from '../order/settings.js';
import type { ProcessorDescriptor } from './parts.js';

/** Counts of a server, host or queue (CRAWL-16.6). */
export interface QuotaCounts {
  /** Fetches whose status is positive (CRAWL-8.2). */
  readonly successes: number;
  /** Bytes of the successes. */
  readonly successBytes: number;
  /** Responses, successful or not. */
  readonly responses: number;
  /** Bytes received. */
  readonly totalBytes: number;
}

/** Provides counts, 0 for an unknown server. It is called for every URI and must not read the disk. */
export interface QuotaCounters {
  /** CRAWL-12.1: host and port. */
  server(url: string): QuotaCounts;
  host(url: string): QuotaCounts;
  /** The URIs of one queue (CRAWL-9.1). */
  group(classKey: string): QuotaCounts;
}

export interface QuotaEnforcerOptions {
  readonly counters: QuotaCounters;
  /** Returns the settings of the URI with its sheets applied (CRAWL-19.5). */
  readonly settings: (uri: CrawlUri) => Pick<CrawlSettings, 'quotas' | 'quotaForceRetire'>;
}

type Quotas = CrawlSettings['quotas'];

/**
 * CRAWL-11.3, in the pre-fetch chain: does not fetch a URI whose server, host or queue has reached a quota. Its
 * queue is retired with the URI in it, or the URI fails with -5003. The annotation names the quota.
 */
export class QuotaEnforcer implements Processor {
  readonly name = 'QuotaEnforcer';

  constructor(readonly options: QuotaEnforcerOptions) {}

  process(uri: CrawlUri): ProcessResult {
    const { settings } = this.options;
    const { quotas, quotaForceRetire } = settings(uri);
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
    const { counters } = this.options;
    const server = counters.server(uri.url);
    const host = counters.host(uri.url);
    const group = counters.group(uri.entry.classKey);
    const counts: Record<keyof Quotas, number> = {
      serverMaxSuccesses: server.successes,
      serverMaxSuccessKB: server.successBytes / 1024,
      serverMaxResponses: server.responses,
      serverMaxAllKB: server.totalBytes / 1024,
      hostMaxSuccesses: host.successes,
      hostMaxSuccessKB: host.successBytes / 1024,
      hostMaxResponses: host.responses,
      hostMaxAllKB: host.totalBytes / 1024,
      groupMaxSuccesses: group.successes,
      groupMaxSuccessKB: group.successBytes / 1024,
      groupMaxResponses: group.responses,
      groupMaxAllKB: group.totalBytes / 1024,
    };
    return QUOTA_NAMES.find((name) => quotas[name] >= 0 && counts[name] >= quotas[name]);
  }
}

/** The quotas in the order in which they are checked. */
const QUOTA_NAMES = [
  'serverMaxSuccesses',
  'serverMaxSuccessKB',
  'serverMaxResponses',
  'serverMaxAllKB',
  'hostMaxSuccesses',
  'hostMaxSuccessKB',
  'hostMaxResponses',
  'hostMaxAllKB',
  'groupMaxSuccesses',
  'groupMaxSuccessKB',
  'groupMaxResponses',
  'groupMaxAllKB',
] as const satisfies readonly (keyof Quotas)[];

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
      counters: {
        server: (url) => servers.serverTraffic(url),
        host: (url) => servers.hostTraffic(url),
        group: (classKey) => frontier.traffic(classKey),
      },
      settings: ({ settings }) => settings,
    }),
};
