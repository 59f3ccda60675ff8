import { entryUrl, type Fetcher, type FetchRequest } from '../../../../clients/fetch/index.js';
import { ConnectionError, UsageError } from '../../../../protocols/errors.js';
import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import type { ServerCache } from '../servers/index.js';

/** How documents are asked for, by whatever access method. */
export interface FetchLimits {
  /** Bytes of a document that are taken at most (G-86). */
  readonly maxBytes: number;
  /** Milliseconds without a byte after which a read is given up (G-85). */
  readonly timeoutMs: number;
  /** Send If-None-Match and If-Modified-Since for documents that we know (G-106). */
  readonly conditional: boolean;
  /** Digest of what a summary depends on besides the document (G-110). */
  readonly rulesDigest: string;
}

/** What is asked for a URI, conditionally when it is known (G-106) and the rules are still the same (G-110). */
export function fetchRequest(uri: CrawlUri, limits: FetchLimits): FetchRequest {
  const { maxBytes, timeoutMs, conditional, rulesDigest } = limits;
  const known = uri.document;
  const ask = conditional && known !== undefined && known.updateTime > 0 && known.rulesDigest === rulesDigest;
  return {
    url: uri.url,
    maxBytes,
    timeoutMs,
    signal: uri.signal,
    ...(uri.fetchAs === '' ? {} : { userAgent: uri.fetchAs }),
    ...(ask ? { headers: { etag: known.etag, lastModified: known.lastModificationTime } } : {}),
  };
}

/** Milliseconds that the header asks for: seconds, or a date (RFC 9110 10.2.3); 0 when it says nothing. */
function retryAfter(value: string): number {
  const seconds = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds * 1000)) : 0;
}

/** CRAWL-11.2 chain 2: gets the document by its access method, conditionally when it is known (G-105, G-106). */
export class FetchProcessor implements Processor {
  readonly name = 'Fetch';

  constructor(
    readonly fetcher: Fetcher,
    readonly limits: FetchLimits,
    /** Counts failed contacts (CRAWL-12.2). */
    readonly servers: Pick<ServerCache, 'contact'>,
  ) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition === 'kept') return 'proceed';
    try {
      uri.fetched ??= await this.fetcher.fetch(fetchRequest(uri, this.limits));
    } catch (error) {
      if (uri.signal.aborted) throw error;
      uri.status = error instanceof UsageError ? FETCH_STATUS.unfetchable : FETCH_STATUS.connectFailed;
      uri.disposition = error instanceof ConnectionError ? 'retry' : 'failed';
      if (error instanceof ConnectionError) this.servers.contact(uri.url, false);
      uri.reason = error instanceof Error ? error.message : String(error);
      return 'post';
    }
    uri.fetchBegin = uri.fetched.beginTime;
    uri.contactEnd = uri.fetched.endTime;
    if (!uri.fetched.local) this.servers.contact(uri.url, true);
    uri.status = uri.fetched.status;
    uri.size = uri.fetched.body.length;
    return this.#judge(uri);
  }

  #judge(uri: CrawlUri): ProcessResult {
    const fetched = uri.fetched!;
    const known = uri.document;
    if (fetched.status === 304 && known !== undefined) {
      uri.disposition = 'unchanged';
      uri.useKnownLinks(known);
      return 'proceed';
    }
    if (fetched.location !== undefined) {
      uri.disposition = 'redirected';
      uri.outLinks = [{ url: fetched.location, hop: 'R' }];
      return 'post';
    }
    if (fetched.status === 429 || fetched.status === 503) {
      uri.retryAfterMs = retryAfter(fetched.headers['retry-after'] ?? '');
      uri.disposition = 'retry';
      uri.reason = `status ${fetched.status}`;
      return 'post';
    }
    if (fetched.entries !== undefined) {
      uri.disposition = 'listed';
      uri.outLinks = fetched.entries.map((entry) => ({ url: entryUrl(uri.url, entry), hop: 'L' as const }));
      return 'post';
    }
    if (fetched.links !== undefined) {
      uri.disposition = 'listed';
      uri.outLinks = fetched.links.map((url) => ({ url, hop: 'L' as const }));
      return 'post';
    }
    if (fetched.status < 200 || fetched.status > 299) {
      uri.disposition = 'failed';
      uri.reason = `status ${fetched.status}`;
      return 'post';
    }
    if (fetched.truncated) {
      // G-86: an object over the limit is logged and not summarized.
      uri.disposition = 'failed';
      uri.reason = `larger than ${this.limits.maxBytes} bytes`;
      return 'post';
    }
    return 'proceed';
  }
}
