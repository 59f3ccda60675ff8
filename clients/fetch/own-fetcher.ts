// Fetchers of one's own: they return what they know of a document, and get the limits, times and errors of the
// others.
import { ConnectionError, KitError, messageOf, UsageError } from '../../protocols/errors.js';
import { LinkedAbort, untilAborted } from '../../protocols/linked-abort.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { canonicalUrl, withoutUserInfo, withUserInfo } from '../../protocols/urls/index.js';
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_TIMEOUT_MS,
  DIRECTORY_TYPE,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  resultOf,
} from './types.js';

/** A retrieval that a fetcher of one's own makes. */
export interface OwnRequest {
  /** A canonical URL, with the login that the configuration has for it. */
  readonly url: string;
  /**
   * Validators of the last retrieval; if the document has not changed, status 304 says so and no body is needed
   * (G-106).
   */
  readonly etag: string | undefined;
  readonly lastModified: UnixSeconds | undefined;
  /** Bytes of the body that are kept (G-86): the fetcher may stop there. A longer one is cut. */
  readonly maxBytes: number;
  /** Aborted at the end of the crawl, and when the retrieval takes too long. */
  readonly signal: AbortSignal;
}

/** What a fetcher of one's own returns; all else has the value of a plain document. */
export interface OwnResult {
  /** As HTTP: 200, 304 unchanged, 301 with `location`, 401, 403, 404, 503 not available now. Default 200. */
  readonly status?: number;
  /** Text is encoded as UTF-8. Default: empty. */
  readonly body?: Uint8Array | string;
  /** Media type, with or without parameters. Default: none, the URL's name decides about the type. */
  readonly contentType?: string;
  /** Default: the parameter `charset` of the media type. */
  readonly charset?: string;
  /** Default 0: unknown. */
  readonly lastModified?: UnixSeconds;
  readonly etag?: string;
  /** Target of a redirect, absolute or relative. */
  readonly location?: string;
  /** Names in lower case, for the crawl's records. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body was cut by the fetcher. Default: only if it is longer than the limit. */
  readonly truncated?: boolean;
}

/** A fetcher of one's own for the URLs of one scheme. */
export interface OwnFetcher {
  /**
   * Retrieves a document; may be called for several at the same time. What it throws fails the attempt, which
   * is repeated later.
   */
  fetch(request: OwnRequest): OwnResult | Promise<OwnResult>;
  /** Called at the end. */
  close?(): unknown;
}

/**
 * Makes a {@link Fetcher} of a fetcher of one's own. A retrieval ends at its time limits even if the fetcher
 * ignores its signal.
 */
export function fetcherOf(own: OwnFetcher): Fetcher {
  return new WrappedFetcher(own);
}

class WrappedFetcher implements Fetcher {
  readonly #closing = new AbortController();
  readonly #own: OwnFetcher;

  constructor(own: OwnFetcher) {
    this.#own = own;
  }

  async fetch({ url, login, headers, maxBytes, timeoutMs, signal }: FetchRequest): Promise<FetchResult> {
    const limit = maxBytes ?? DEFAULT_MAX_BYTES;
    using retrieval = new LinkedAbort(this.#closing.signal, signal);
    const milliseconds = timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const timer = setTimeout(
      () => retrieval.abort(new ConnectionError(`${url}: not retrieved in ${milliseconds} ms`)),
      milliseconds,
    );
    const beginTime = Date.now();
    const request = {
      url: withUserInfo(url, login),
      etag: headers?.etag,
      lastModified: headers?.lastModified,
      maxBytes: limit,
      signal: retrieval.signal,
    };
    try {
      const made = await untilAborted(async () => this.#own.fetch(request), retrieval.signal);
      return ownResult(url, made, limit, beginTime);
    } catch (error) {
      if (retrieval.signal.aborted || error instanceof KitError) throw error;
      throw new ConnectionError(`${url}: ${messageOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new ConnectionError('the fetcher was closed'));
    await this.#own.close?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function ownResult(url: string, made: OwnResult, limit: number, beginTime: number): FetchResult {
  const { status = 200, headers = {}, lastModified = 0, etag = '', location } = made;
  if (!Number.isInteger(status) || status < 100 || status > 599)
    throw new UsageError(`${url}: ${String(status)} is not a status`);
  const { contentType, charset } = mediaType(made);
  const body =
    typeof made.body === 'string' ? new TextEncoder().encode(made.body) : (made.body ?? new Uint8Array());
  const target = location === undefined ? undefined : canonicalUrl(location, withoutUserInfo(url));
  return resultOf(url, beginTime, {
    status,
    headers,
    contentType,
    charset,
    lastModified,
    etag,
    // A copy: the buffer is transferred to a thread, and may be a part of another one.
    body: new Uint8Array(body.subarray(0, limit)),
    truncated: made.truncated === true || body.length > limit,
    location: target,
  });
}

/** A directory cannot be had from a fetcher of one's own: it has no names. */
function mediaType({ contentType, charset }: OwnResult): {
  contentType?: string;
  charset?: string | undefined;
} {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim());
  const declared =
    charset ?? parameters.map((text) => /^charset="?([^"]+)"?$/i.exec(text)?.[1]).find(Boolean);
  return {
    ...(type === '' || type === DIRECTORY_TYPE ? {} : { contentType: type.toLowerCase() }),
    charset: declared?.toLowerCase(),
  };
}
