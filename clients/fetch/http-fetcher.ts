// Fetches http and https URLs (G-80).
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { ConnectionError, KitError, StateError, UsageError } from '../../protocols/errors.js';
import type { HttpResponseLimits } from '../../protocols/http/index.js';
import { canonicalUrl, withoutBrackets } from '../../protocols/urls/index.js';
import { asConnectionError, asError, isRefusedMessage } from '../connection/index.js';
import { publishDebug } from './debug-channel.js';
import { DEFAULT_MAX_RATIO, type DecodedBody, decodeBody } from './decode-body.js';
import { HttpExchange, type RawResponse } from './exchange.js';
import {
  basicCredentials,
  basicRealm,
  parseHttpDate,
  plainHeaders,
  setCookiesOf,
  splitContentType,
  textOfHeader,
} from './headers.js';
import { HttpConnector, type HttpConnectorOptions } from './http-connector.js';
import { credentialsOf, type HttpLogin, HttpLogins } from './http-logins.js';
import { LenientExchange, type LenientExchangeOptions } from './lenient-exchange.js';
import { publishNote } from './notes.js';
import { resolveHost } from './private-addresses.js';
import { type ReceiveLimits, ReceiveWatch } from './receive-watch.js';
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_TIMEOUT_MS,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
} from './types.js';

export interface HttpFetcherOptions extends ReceiveLimits, HttpConnectorOptions {
  /** G-65. */
  readonly userAgent: string;
  /** Mail address of the operator (G-65). */
  readonly from?: string | undefined;
  /** Maximum number of connections to one host at a time; default 1. */
  readonly maxConnectionsPerHost?: number | undefined;
  /** Milliseconds that an idle connection stays open; default 10 000, longer than the usual delays. */
  readonly keepAliveMs?: number | undefined;
  /** Milliseconds from the request to the last byte; default 1 200 000. Limits servers that send single bytes with pauses. */
  readonly maxTransferMs?: number | undefined;
  /** Maximum number of decoded bytes per received byte; default 200. */
  readonly maxRatio?: number | undefined;
  /** Logins for the documents below their URLs, sent if the server requests their realm (G-82). */
  readonly httpBasicAuth?: readonly HttpLogin[] | undefined;
  /** Whether a response that undici refuses is requested again and read leniently ({@link FetchRequest.httpReader}). Default true. */
  readonly lenientHttp?: boolean | undefined;
  /** Limits of the lenient reader on what a response has besides its body. */
  readonly responseLimits?: HttpResponseLimits | undefined;
}

/** Who reads a response. */
type HttpReader = NonNullable<FetchRequest['httpReader']>;

/** The largest number of origins whose address is kept. */
const MAX_ORIGINS = 10_000;

/**
 * Fetches by HTTP/1.1 over undici (G-80): keep-alive, no cookies of its own, no redirects followed, conditional requests, gzip, brotli
 * and deflate decoded within limits.
 */
export class HttpFetcher implements Fetcher {
  readonly #options: HttpFetcherOptions;
  readonly #connector: HttpConnector;
  readonly #dispatcher: Dispatcher;
  /** For requests with `publicOnly` (G-174); created with the first one. */
  #publicDispatcher: Dispatcher | undefined;
  /** The address last connected to, by origin. */
  readonly #addresses = new LRUCache<string, string>({ max: MAX_ORIGINS });
  readonly #logins: HttpLogins;
  readonly #running = new Set<HttpExchange | LenientExchange>();
  #closed = false;

  constructor(options: HttpFetcherOptions) {
    this.#options = options;
    this.#connector = new HttpConnector(options, (origin, address) => this.#addresses.set(origin, address));
    this.#logins = new HttpLogins(options.httpBasicAuth ?? []);
    this.#dispatcher =
      options.httpProxy === undefined ? this.#directAgent(false) : this.#proxyAgent(options.httpProxy);
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    const { httpReader } = request;
    if (httpReader !== undefined) return await this.#fetch(request, httpReader);
    try {
      return await this.#fetch(request, 'strict');
    } catch (error) {
      const { lenientHttp = true } = this.#options;
      if (!lenientHttp || !(error instanceof ConnectionError) || !isRefusedMessage(error)) throw error;
      publishDebug(21, 1, () => `${request.url}: ${error.message}: requested again, to be read leniently`);
      const result = await this.#fetch(request, 'lenient');
      // A caller that wants what there is says so.
      if (result.lenient?.problem !== undefined) throw error;
      return result;
    }
  }

  async #fetch(request: FetchRequest, reader: HttpReader): Promise<FetchResult> {
    if (this.#closed) throw new StateError('the fetcher is closed');
    const target = splitUrl(request.url);
    const beginTime = Date.now();
    const raw = await this.#requestWithCredentials(target, request, reader);
    const headers = plainHeaders(raw.headers);
    publishDebug(21, 1, () => `GET ${request.url}: status ${raw.status}, ${raw.body.length} bytes`);
    const maxBytes = request.maxBytes ?? DEFAULT_MAX_BYTES;
    const maxRatio = this.#options.maxRatio ?? DEFAULT_MAX_RATIO;
    const codings = [headers['content-encoding'] ?? '', ...(raw.transferCodings ?? [])].join(',');
    const decoded = await decodeOrKeep(raw, codings, { maxBytes, maxRatio }, request);
    const location =
      raw.status >= 300 && raw.status < 400
        ? canonicalUrl(textOfHeader(headers.location ?? ''), request.url)
        : undefined;
    const remoteAddress = this.#addresses.get(target.origin);
    return {
      url: request.url,
      status: raw.status,
      headers,
      ...setCookiesOf(raw.headers),
      ...splitContentType(headers['content-type']),
      lastModified: parseHttpDate(headers['last-modified']),
      etag: headers.etag ?? '',
      body: decoded.body,
      truncated: raw.truncated || decoded.truncated,
      ...(raw.lenient === undefined ? {} : { lenient: raw.lenient }),
      ...(raw.late === undefined ? {} : { late: raw.late }),
      ...('undecoded' in decoded ? { undecoded: decoded.undecoded } : {}),
      ...(location === undefined || headers.location === undefined ? {} : { location }),
      local: false,
      beginTime,
      endTime: Date.now(),
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const exchange of this.#running) exchange.abort(new ConnectionError('the fetcher was closed'));
    await Promise.all([this.#dispatcher.destroy(), this.#publicDispatcher?.destroy()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Repeats the request once if the server names a realm that the configuration has a login for, for this document (G-82). */
  async #requestWithCredentials(
    target: Target,
    request: FetchRequest,
    reader: HttpReader,
  ): Promise<RawResponse> {
    const { url } = request;
    const known = target.credentials === undefined ? this.#logins.known(url) : undefined;
    const credentials = target.credentials ?? (known && credentialsOf(known));
    const first = await this.#request(target, request, reader, credentials);
    if (first.status !== 401) return first;
    const challenge = first.headers['www-authenticate'];
    const realm = basicRealm(Array.isArray(challenge) ? challenge.join(', ') : challenge);
    const noteLogin = (login: 'refused' | 'unknown' | 'elsewhere'): void =>
      publishNote({ kind: 'login', url, realm, login });
    if (target.credentials !== undefined) {
      noteLogin('refused');
      return first;
    }
    const login = this.#logins.forRealm(url, realm);
    const found = typeof login === 'string' ? `no match (${login})` : login.user;
    publishDebug(21, 5, () => `${url}: login for ${realm ?? 'no realm'}: ${found}`);
    if (typeof login === 'string' || login === known) {
      noteLogin(typeof login === 'string' ? login : 'refused');
      return first;
    }
    const second = await this.#request(target, request, reader, credentialsOf(login));
    if (second.status === 401) noteLogin('refused');
    else this.#logins.accept(url, login);
    return second;
  }

  async #request(
    target: Target,
    request: FetchRequest,
    reader: HttpReader,
    credentials: string | undefined,
  ): Promise<RawResponse> {
    const { signal, maxBytes = DEFAULT_MAX_BYTES, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    signal?.throwIfAborted();
    const headers = this.#requestHeaders(request, target, credentials);
    const { exchange, start } =
      reader === 'lenient'
        ? this.#lenientExchange(target, request, headers, { host: target.host, maxBytes, timeoutMs })
        : this.#strictExchange(await this.#dispatcherFor(target, request), target, headers, {
            maxBytes,
            timeoutMs,
          });
    const onAbort = () => exchange.abort(asError(signal?.reason));
    const maxTransferMs = Math.min(
      request.maxTransferMs ?? Number.POSITIVE_INFINITY,
      this.#options.maxTransferMs ?? 1_200_000,
    );
    const deadline = setTimeout(() => {
      const late = new ConnectionError(`${target.host}: not done within ${maxTransferMs} ms`);
      if (request.keepLate === true) exchange.cut(late);
      else exchange.abort(late);
    }, maxTransferMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#running.add(exchange);
    using _watch = new ReceiveWatch(
      target.host,
      this.#options,
      { maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES, maxTransferMs },
      () => exchange.received,
      (reason) => exchange.abort(reason),
    );
    try {
      publishDebug(21, 9, () => `${request.url}: sent ${formatHeaders(headers)}`);
      start();
      const response = await exchange.response;
      publishDebug(
        21,
        9,
        () => `${request.url}: ${response.status}, ${formatHeaders(plainHeaders(response.headers))}`,
      );
      return response;
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw error instanceof KitError ? error : asConnectionError(target.host, error);
    } finally {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', onAbort);
      this.#running.delete(exchange);
    }
  }

  #strictExchange(
    dispatcher: Dispatcher,
    { origin, path }: Target,
    headers: Record<string, string>,
    { maxBytes, timeoutMs }: { readonly maxBytes: number; readonly timeoutMs: number },
  ) {
    const exchange = new HttpExchange(maxBytes);
    const timeouts = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const start = () => {
      dispatcher.dispatch({ origin, path, method: 'GET', headers, ...timeouts }, exchange);
    };
    return { exchange, start };
  }

  #lenientExchange(
    { origin, path }: Target,
    { publicOnly = false }: FetchRequest,
    headers: Record<string, string>,
    options: LenientExchangeOptions,
  ) {
    const exchange = new LenientExchange(options, this.#options.responseLimits);
    // A proxy of plain http is requested by the full URL (RFC 9112 3.2.2).
    const isByProxy = this.#options.httpProxy !== undefined && origin.startsWith('http:');
    const lines = Object.entries({ ...headers, connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const sent = [`GET ${isByProxy ? origin : ''}${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
    if (/[\0\r\n]/.test([path, ...lines].join(''))) throw new UsageError('a header has a line end');
    const open = (signal: AbortSignal) => this.#connector.open(origin, publicOnly, signal);
    const start = () => {
      // Its failures reject the response.
      void exchange.start(open, sent);
    };
    return { exchange, start };
  }

  #requestHeaders(
    request: FetchRequest,
    target: Target,
    credentials: string | undefined,
  ): Record<string, string> {
    const headers: Record<string, string> = {
      host: target.host,
      'user-agent': request.userAgent ?? this.#options.userAgent,
      accept: '*/*',
      'accept-encoding': 'gzip, br, deflate',
      ...request.extraHeaders,
    };
    if (this.#options.from !== undefined) headers.from = this.#options.from;
    if (request.headers?.etag) headers['if-none-match'] = request.headers.etag;
    if (request.headers?.lastModified) {
      headers['if-modified-since'] = new Date(request.headers.lastModified * 1000).toUTCString();
    }
    if (credentials !== undefined) headers.authorization = credentials;
    return headers;
  }

  async #dispatcherFor(target: Target, request: FetchRequest): Promise<Dispatcher> {
    if (request.publicOnly !== true) return this.#dispatcher;
    if (this.#options.httpProxy !== undefined) {
      // The proxy resolves the name itself; an address that is private here is refused nevertheless.
      const { hostname } = new URL(target.origin);
      await resolveHost(withoutBrackets(hostname), true, request.signal);
      return this.#dispatcher;
    }
    this.#publicDispatcher ??= this.#directAgent(true);
    return this.#publicDispatcher;
  }

  #directAgent(publicOnly: boolean): Dispatcher {
    return new Agent({ ...this.#poolOptions(), connect: this.#connector.direct(publicOnly) });
  }

  /** Requests plain http by its full URL, which proxies of any age understand, and https by CONNECT (G-84). */
  #proxyAgent(hostAndPort: string): Dispatcher {
    return new ProxyAgent({
      ...this.#poolOptions(),
      uri: `http://${hostAndPort}`,
      proxyTunnel: false,
      requestTls: this.#connector.connectOptions,
      factory: (origin, options) => new Pool(origin, { ...options, ...this.#poolOptions() }),
    });
  }

  #poolOptions() {
    return {
      connections: this.#options.maxConnectionsPerHost ?? 1,
      pipelining: 1,
      keepAliveTimeout: this.#options.keepAliveMs ?? 10_000,
    };
  }
}

/** Decodes a body; one that cannot be decoded is kept as it was sent, if the request says so. */
async function decodeOrKeep(
  { body, truncated }: RawResponse,
  encoding: string | undefined,
  limits: Parameters<typeof decodeBody>[2],
  { keepUndecoded = false }: FetchRequest,
): Promise<DecodedBody & { readonly undecoded?: string }> {
  try {
    return await decodeBody(body, encoding, limits);
  } catch (error) {
    if (!keepUndecoded || !(error instanceof ConnectionError)) throw error;
    return { body, truncated, undecoded: error.message };
  }
}

/** Formats headers for debugging, without secrets. */
function formatHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${/authorization|cookie/.test(name) ? '[hidden]' : value}`)
    .join('; ');
}

interface Target {
  readonly origin: string;
  /** With the port, if it is not the default. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  /** From `user:password@` in the URL (G-81). */
  readonly credentials: string | undefined;
}

function splitUrl(url: string): Target {
  const match = /^(https?:\/\/)(?:([^/?@]*)@)?([^/?]+)(.*)$/s.exec(url);
  if (match === null) throw new UsageError('not a canonical http URL');
  const [, scheme = '', userInfo, host = '', path = ''] = match;
  const [user = '', password = ''] = (userInfo ?? '').split(/:(.*)/s);
  return {
    origin: scheme + host,
    host,
    path: path.startsWith('/') ? path : `/${path}`,
    credentials:
      userInfo === undefined ? undefined : basicCredentials(decodePercent(user), decodePercent(password)),
  };
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray percent sign is literal
  }
}
