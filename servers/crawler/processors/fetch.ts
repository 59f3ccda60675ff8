import { LRUCache } from 'lru-cache';
import { failedBeforeConnection, isHeaderTooLong, isUnresolved } from '../../../clients/connection/index.js';
import {
  entryUrl,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  hideWords,
  isOutOfReach,
  truncationOf,
} from '../../../clients/fetch/index.js';
import {
  ConnectionError,
  messageOf,
  RefusedError,
  StorageError,
  UsageError,
} from '../../../protocols/errors.js';
import { hostOf, withoutUserInfo } from '../../../protocols/urls/index.js';
import { redactLogins } from '../../../protocols/visible-text.js';
import type { DocumentRecord } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../chains.js';
import { type CrawlUri, FETCH_STATUS } from '../crawl-uri.js';
import { attemptLimit } from '../disposition.js';
import { Redirects } from '../requests/redirects.js';
import { extraHeaders, proxyOf } from '../requests/request-settings.js';
import { retryAfter } from '../requests/retry-after.js';
import type { ServerCache } from '../servers/server-cache.js';
import type { FetchLimits, ProcessorDescriptor } from './parts.js';

/**
 * Returns the request for a URI; it is conditional if the document is known (G-106) and
 * {@link FetchLimits.conditional} returns true.
 */
export function fetchRequest(uri: CrawlUri, limits: FetchLimits): FetchRequest {
  const { timeoutMs, conditional = () => true, mustBePublic, keepWire, openBody } = limits;
  const maxLength = uri.settings.maxLengthBytes || Number.POSITIVE_INFINITY;
  const known = uri.document;
  const validated = known !== undefined && known.updateTime > 0 && conditional(known);
  return {
    url: withoutUserInfo(uri.url),
    login: limits.loginFor?.(uri.url),
    keepUndecoded: true,
    keepLate: true,
    keepIncomplete: uri.settings.lenientHttp,
    maxTransferMs: uri.settings.fetchSeconds * 1000,
    maxBytes: Math.min(limits.maxBytes, maxLength),
    ...(openBody === undefined ? {} : { spool: { maxBytes: maxLength, open: openBody } }),
    timeoutMs,
    signal: uri.signal,
    ...proxyOf(uri.settings),
    keepWire,
    urlForm: uri.settings.urlForm,
    ...(mustBePublic?.(uri.entry.uri) === true ? { publicOnly: true } : {}),
    ...(uri.fetchAs === '' ? {} : { userAgent: uri.fetchAs }),
    ...(validated ? { headers: validatorsOf(known) } : {}),
  };
}

/**
 * The validators of a known document. A Last-Modified later than its fetch is that of a wrong clock: every later version
 * would seem older, and never be fetched.
 */
function validatorsOf({
  etag,
  lastModificationTime,
  fetchTime,
}: DocumentRecord): NonNullable<FetchRequest['headers']> {
  return lastModificationTime <= fetchTime ? { etag, lastModified: lastModificationTime } : { etag };
}

/** Returns the bytes of a document; those of a document that is not whole in memory, as it was sent. */
function lengthOf({ body, truncated, wire }: FetchResult): number {
  return truncated ? Math.max(body.length, wire?.body.length ?? 0) : body.length;
}

/** Adds the annotations of a body that is cut by a limit, which is no error (CRAWL-8.6), or untidy (CRAWL-22.11). */
export function annotateBody(uri: CrawlUri, fetched: FetchResult): void {
  const { lenient } = fetched;
  if (fetched.late !== undefined) uri.annotations.push('timeTrunc');
  else if (truncationOf(fetched) === 'length') uri.annotations.push('lenTrunc');
  if (fetched.undecoded !== undefined) uri.annotations.push('undecoded');
  const isHttp = /^https?:/.test(uri.url);
  if (lenient !== undefined && (isHttp || lenient.deviations.length > 0)) uri.annotations.push('lenientHttp');
}

type RequestLock = (
  host: string,
  signal: AbortSignal,
  work: () => Promise<FetchResult>,
) => Promise<FetchResult>;

/**
 * CRAWL-11.2 chain 2: fetches the document by its access method, conditionally if it is known (G-105, G-106).
 */
export class FetchProcessor implements Processor {
  readonly #fetcher: Fetcher;
  readonly #limits: FetchLimits;
  /** Counts failed contacts (CRAWL-12.2). */
  readonly #servers: Pick<ServerCache, 'contact' | 'locks'>;
  /** Runs a request under the lock of its host. Default: as one of the host's own queues. */
  readonly #lock: RequestLock;
  readonly name = 'Fetch';
  /** It stores bodies for archives. */
  readonly stores = true;

  constructor(
    fetcher: Fetcher,
    limits: FetchLimits,
    servers: Pick<ServerCache, 'contact' | 'locks'>,
    lock: RequestLock = (host, signal, work) => servers.locks.shared(host, signal, work),
  ) {
    this.#fetcher = fetcher;
    this.#limits = limits;
    this.#servers = servers;
    this.#lock = lock;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    if (uri.disposition === 'kept') return 'proceed';
    const begin = Date.now();
    try {
      uri.fetched ??= await this.#fetch(uri);
    } catch (error) {
      if (uri.signal.aborted) {
        uri.contacted(begin);
        throw error;
      }
      this.#handleFailure(uri, error, begin);
      return 'post';
    }
    uri.fetchBegin = uri.fetched.beginTime;
    uri.contactEnd = uri.fetched.endTime;
    if (!uri.fetched.local) this.#servers.contact(uri.url, true);
    uri.status = uri.fetched.status;
    uri.size = lengthOf(uri.fetched);
    return 'proceed';
  }

  async #fetch(uri: CrawlUri): Promise<FetchResult> {
    const { cookies } = this.#limits;
    const headers = await extraHeaders(uri, cookies);
    uri.sentCookie = headers.cookie ?? '';
    const result = await this.#request(uri, { ...fetchRequest(uri, this.#limits), extraHeaders: headers });
    // They are stored before the page is: a killed crawl does not know a page without the session that it
    // began.
    if (uri.settings.cookies && result.setCookies !== undefined)
      await cookies?.receive(uri.url, result.setCookies, result.headers.date);
    return result;
  }

  #request(uri: CrawlUri, request: FetchRequest): Promise<FetchResult> {
    const { url, signal } = uri;
    const host = hostOf(url);
    if (host === '') return this.#fetcher.fetch(request);
    return this.#lock(host, signal, () => this.#fetcher.fetch(request));
  }

  #handleFailure(uri: CrawlUri, error: unknown, begin: number): void {
    // A body for the archive that cannot be stored is no failure of the server.
    if (error instanceof StorageError) throw error;
    uri.reason = messageOf(error);
    uri.disposition = 'failed';
    uri.status =
      error instanceof UsageError || error instanceof RefusedError
        ? FETCH_STATUS.unfetchable
        : FETCH_STATUS.connectFailed;
    if (!(error instanceof ConnectionError)) return;
    uri.disposition = 'retry';
    this.#servers.contact(uri.url, false);
    if (isUnresolved(error)) uri.status = FETCH_STATUS.unresolvable;
    if (failedBeforeConnection(error)) return;
    // CRAWL-8.6: the server was contacted, so the usual pause follows (G-38).
    uri.status = FETCH_STATUS.connectLost;
    uri.contacted(begin);
    if (!isHeaderTooLong(error)) return;
    // CRAWL-8.6: another attempt would get the same head.
    uri.annotations.push('headerTrunc');
    uri.disposition = 'failed';
  }
}

type ClassifierLimits = Pick<FetchLimits, 'maxBytes' | 'logins' | 'loginFor' | 'cookies' | 'linksOfLarge'>;

/**
 * CRAWL-8: classifies the response. A document continues; redirects, listings and failures skip to the
 * post-process chain.
 */
export class ResponseClassifier implements Processor {
  readonly #limits: ClassifierLimits;
  /** The bytes of bodies that ended too soon, until they are fetched again. */
  readonly #lengths = new LRUCache<string, number>({ max: 10_000 });
  readonly #redirects: Redirects;
  readonly name = 'ResponseClassifier';

  constructor(limits: ClassifierLimits) {
    this.#limits = limits;
    this.#redirects = new Redirects(limits.cookies);
  }

  process(uri: CrawlUri): ProcessResult | Promise<ProcessResult> {
    if (uri.disposition === 'kept') return 'proceed';
    const fetched = uri.fetched!;
    const known = uri.document;
    annotateBody(uri, fetched);
    const problem = fetched.lenient?.problem;
    // Another attempt would end at the same limit.
    if (problem !== undefined && truncationOf(fetched) !== 'length') {
      if (this.#mayComeWhole(uri, fetched)) {
        uri.disposition = 'retry';
        uri.status = FETCH_STATUS.connectLost;
        uri.reason = problem;
        return 'post';
      }
      uri.annotations.push('incomplete');
    }
    if (fetched.status === 304 && known !== undefined) {
      uri.disposition = 'unchanged';
      uri.useKnownLinks(known);
      return 'proceed';
    }
    if (fetched.location !== undefined)
      return this.#redirects.classify(uri, fetched.location).then(() => 'post' as const);
    if (fetched.status === 429 || fetched.status === 503) {
      uri.retryAfterMs = retryAfter(fetched.headers['retry-after'], undefined, fetched.headers.date);
      uri.disposition = 'retry';
      uri.reason = this.#describeRefusal(uri, fetched);
      return 'post';
    }
    if (fetched.entries !== undefined) {
      uri.disposition = 'listed';
      if (fetched.truncated)
        uri.reason = `only the first ${fetched.entries.length} entries of this directory were read`;
      uri.outLinks = fetched.entries.map((entry) => ({ url: entryUrl(uri.url, entry), hop: 'L' as const }));
      return 'post';
    }
    if (fetched.links !== undefined) {
      uri.disposition = 'listed';
      uri.outLinks = fetched.links.map((url) => ({ url, hop: 'L' as const }));
      return 'post';
    }
    if (fetched.status < 200 || fetched.status > 299) {
      uri.disposition = isOutOfReach(fetched) ? 'rejected' : 'failed';
      uri.reason = this.#describeRefusal(uri, fetched);
      return 'post';
    }
    if (fetched.undecoded !== undefined) {
      // The body is kept as it was sent; there is nothing to read in it.
      uri.disposition = 'failed';
      uri.reason = fetched.undecoded;
      return 'post';
    }
    if (fetched.truncated) {
      // G-86: an object over the limit is logged and not summarized. An archive has it all the same.
      const isArchived = fetched.wire !== undefined && truncationOf(fetched) === undefined;
      uri.disposition = isArchived ? 'rejected' : 'failed';
      uri.reason =
        fetched.late ??
        `larger than ${this.#limits.maxBytes} bytes${isArchived ? ': archived, not summarized' : ''}`;
      return isArchived ? this.#findLinks(uri) : 'post';
    }
    return 'proceed';
  }

  /** An archive has what a long page shows and links to. */
  async #findLinks(uri: CrawlUri): Promise<'post'> {
    const found = await this.#limits.linksOfLarge?.(uri);
    if (found !== undefined) Object.assign(uri, found);
    return 'post';
  }

  /**
   * CRAWL-22.11: returns whether another attempt is made to get a body that ended too soon. If two attempts end at the
   * same place, the announced length is wrong, and the body is taken as it is.
   */
  #mayComeWhole(uri: CrawlUri, fetched: FetchResult): boolean {
    const { url, entry, settings } = uri;
    const length = fetched.wire?.body.length ?? fetched.body.length;
    const isSame = this.#lengths.get(url) === length;
    const mayRetry = !isSame && entry.uri.attempts + 1 < attemptLimit('lost', settings);
    if (mayRetry) this.#lengths.set(url, length);
    else this.#lengths.delete(url);
    return mayRetry;
  }

  /** Returns the status, with the reply text of protocols that have few status codes. */
  #describeRefusal(uri: CrawlUri, { status, headers, local }: FetchResult): string {
    const refusal = local ? headers['file-refusal'] : undefined;
    if (refusal !== undefined) return refusal;
    const reply = headers['ftp-reply'] ?? headers['nntp-reply'] ?? headers['gopher-error'];
    if (reply === undefined) return `status ${status}`;
    const { logins = [], loginFor } = this.#limits;
    const line = redactLogins(reply.replace(/[\0-\x1f\x7f]+/g, ' '));
    const secrets = [...logins, ...wordsOf(loginFor?.(uri.url))];
    return `status ${status} (${hideWords(line, secrets).slice(0, MAX_REPLY)})`;
  }
}

/** Maximum number of characters of a server's reply to show. */
const MAX_REPLY = 300;

/** Returns the user name and password of a login, escaped and unescaped (G-81). */
function wordsOf(login: string | undefined): string[] {
  return login === undefined ? [] : login.split(/:(.*)/s).flatMap((part) => [part, unescaped(part)]);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not an escape
  }
}

export const FETCH: ProcessorDescriptor = {
  name: 'Fetch',
  chain: 'fetch',
  text: 'fetches the document',
  rule: 'CRAWL-11.2',
  required: true,
  settings: ['maxLengthBytes', 'fetchSeconds', 'lenientHttp'],
  formerNames: ['FetchHTTP', 'FetchFTP'],
  create: ({ parts: { fetcher, limits, servers } }) => new FetchProcessor(fetcher, limits, servers),
};

export const RESPONSE_CLASSIFIER: ProcessorDescriptor = {
  name: 'ResponseClassifier',
  chain: 'fetch',
  text: 'redirects, listings and failures skip the chains extract and write',
  rule: 'CRAWL-8',
  required: true,
  after: ['Fetch', 'ContentDigest', 'FetchHistory', 'DigestHistory', 'WarcWriter'],
  settings: ['maxRedirects'],
  create: ({ parts }) => new ResponseClassifier(parts.limits),
};
