import { failedBeforeConnection } from '../../../clients/connection/index.js';
import { entryUrl, type Fetcher, type FetchRequest, type FetchResult } from '../../../clients/fetch/index.js';
import {
  ConnectionError,
  errorCode,
  messageOf,
  RefusedError,
  UsageError,
} from '../../../protocols/errors.js';
import type { DocumentRecord } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import { redactLogins, withLoginOf } from '../redaction.js';
import type { ServerCache } from '../servers/index.js';

/** Limits and options of requests, for every access method. */
export interface FetchLimits {
  /** Largest document, bytes (G-86). */
  readonly maxBytes: number;
  /** A read fails after this many milliseconds without a byte (G-85). */
  readonly timeoutMs: number;
  /** Whether the request for a known document carries If-None-Match and If-Modified-Since (G-106, G-110). Default: always. */
  readonly conditional?: (known: DocumentRecord) => boolean;
  /** User names and passwords of the configuration, which are hidden in error texts (G-81). */
  readonly logins?: readonly string[];
  /** G-174: whether a request for `to`, found on `from`, must not reach private addresses. */
  readonly mustBePublic?: (from: string, to: string) => boolean;
}

/** Returns the request for a URI; it is conditional if the document is known (G-106) and {@link FetchLimits.conditional} returns true. */
export function fetchRequest(uri: CrawlUri, limits: FetchLimits): FetchRequest {
  const { maxBytes, timeoutMs, conditional = () => true, mustBePublic } = limits;
  const known = uri.document;
  const validated = known !== undefined && known.updateTime > 0 && conditional(known);
  return {
    url: uri.url,
    maxBytes,
    timeoutMs,
    signal: uri.signal,
    ...(mustBePublic?.(uri.entry.uri.via, uri.url) === true ? { publicOnly: true } : {}),
    ...(uri.fetchAs === '' ? {} : { userAgent: uri.fetchAs }),
    ...(validated ? { headers: { etag: known.etag, lastModified: known.lastModificationTime } } : {}),
  };
}

/** Parses Retry-After, seconds or a date (RFC 9110 10.2.3), to milliseconds; 0 if it is not valid. */
function retryAfter(value: string): number {
  const seconds = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds * 1000)) : 0;
}

/** CRAWL-11.2 chain 2: fetches the document by its access method, conditionally if it is known (G-105, G-106). */
export class FetchProcessor implements Processor {
  readonly name = 'Fetch';

  constructor(
    readonly fetcher: Fetcher,
    readonly limits: FetchLimits,
    /** Counts failed contacts (CRAWL-12.2). */
    readonly servers: Pick<ServerCache, 'contact' | 'locks'>,
  ) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition === 'kept') return 'proceed';
    const begin = Date.now();
    try {
      uri.fetched ??= await this.#fetch(uri);
    } catch (error) {
      if (uri.signal.aborted) throw error;
      this.#handleFailure(uri, error, begin);
      return 'post';
    }
    uri.fetchBegin = uri.fetched.beginTime;
    uri.contactEnd = uri.fetched.endTime;
    if (!uri.fetched.local) this.servers.contact(uri.url, true);
    uri.status = uri.fetched.status;
    uri.size = uri.fetched.body.length;
    return 'proceed';
  }

  #fetch(uri: CrawlUri): Promise<FetchResult> {
    const fetchUri = (): Promise<FetchResult> => this.fetcher.fetch(fetchRequest(uri, this.limits));
    const { host } = new URL(uri.url);
    return host === '' ? fetchUri() : this.servers.locks.shared(host, uri.signal, fetchUri);
  }

  #handleFailure(uri: CrawlUri, error: unknown, begin: number): void {
    uri.reason = messageOf(error);
    uri.disposition = 'failed';
    uri.status =
      error instanceof UsageError || error instanceof RefusedError
        ? FETCH_STATUS.unfetchable
        : FETCH_STATUS.connectFailed;
    if (!(error instanceof ConnectionError)) return;
    uri.disposition = 'retry';
    this.servers.contact(uri.url, false);
    const code = errorCode(error.cause);
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') uri.status = FETCH_STATUS.unresolvable;
    if (failedBeforeConnection(error)) return;
    // CRAWL-8.6: the server was contacted, so the usual pause follows (G-38).
    uri.status = FETCH_STATUS.connectLost;
    uri.fetchBegin = begin;
    uri.contactEnd = Date.now();
  }
}

/** CRAWL-8: classifies the response. A document continues; redirects, listings and failures skip to the post-process chain. */
export class ResponseClassifier implements Processor {
  readonly name = 'ResponseClassifier';

  constructor(readonly limits: Pick<FetchLimits, 'maxBytes' | 'logins'>) {}

  process(uri: CrawlUri): ProcessResult {
    if (uri.disposition === 'kept') return 'proceed';
    const fetched = uri.fetched!;
    const known = uri.document;
    if (fetched.status === 304 && known !== undefined) {
      uri.disposition = 'unchanged';
      uri.useKnownLinks(known);
      return 'proceed';
    }
    if (fetched.location !== undefined) {
      uri.disposition = 'redirected';
      uri.outLinks = withLoginOf(uri.url, [{ url: fetched.location, hop: 'R' }]);
      return 'post';
    }
    if (fetched.status === 429 || fetched.status === 503) {
      uri.retryAfterMs = retryAfter(fetched.headers['retry-after'] ?? '');
      uri.disposition = 'retry';
      uri.reason = this.#describeRefusal(uri, fetched);
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
      uri.reason = this.#describeRefusal(uri, fetched);
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

  /** Returns the status, with the reply text of protocols that have few status codes. */
  #describeRefusal(uri: CrawlUri, { status, headers }: FetchResult): string {
    const reply = headers['ftp-reply'] ?? headers['nntp-reply'] ?? headers['gopher-error'];
    if (reply === undefined) return `status ${status}`;
    const { logins = [] } = this.limits;
    return `status ${status} (${hideWords(reply, [...logins, ...loginOf(uri.url)]).slice(0, MAX_REPLY)})`;
  }
}

/** Maximum number of characters of a server's reply to show. */
const MAX_REPLY = 300;

/** Returns the user name and password of a URL, escaped and unescaped (G-81). */
function loginOf(url: string): string[] {
  const userInfo = /^[a-z]+:\/\/([^/?#]*)@/.exec(url)?.[1];
  if (userInfo === undefined) return [];
  return userInfo.split(/:(.*)/s).flatMap((part) => [part, unescaped(part)]);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not an escape
  }
}

/** Returns the text on one line; each of the words is replaced where it is a whole word. */
function hideWords(text: string, words: readonly string[]): string {
  let shown = redactLogins(text.replace(/[\0-\x1f\x7f]+/g, ' '));
  // The longest first: one may be a prefix of another.
  for (const word of [...new Set(words)].sort((a, b) => b.length - a.length)) {
    if (word === '') continue;
    const pieces = shown.split(word);
    shown = pieces.reduce((before, after) => {
      const within = /[\p{L}\p{N}]$/u.test(before) || /^[\p{L}\p{N}]/u.test(after);
      return `${before}${within ? word : '[hidden]'}${after}`;
    });
  }
  return shown;
}
