// Fetches http and https URLs (G-80).
import type { Dispatcher } from 'undici';
import { ConnectionError, KitError, StateError, UsageError } from '../../protocols/errors.js';
import type { HttpResponseLimits } from '../../protocols/http/index.js';
import { resolveUrl } from '../../protocols/urls/index.js';
import { asConnectionError, asError, isRefusedMessage } from '../connection/index.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import { publishDebug, publishNote } from './debug-channel.js';
import { DEFAULT_MAX_RATIO, type DecodedBody, decodeBody } from './decode-body.js';
import { HttpExchange, type HttpExchangeOptions, type RawResponse } from './exchange.js';
import {
  basicCredentials,
  basicRealm,
  parseHttpDate,
  plainHeaders,
  setCookiesOf,
  splitContentType,
  textOfHeader,
} from './headers.js';
import type { HttpConnectorOptions } from './http-connector.js';
import { credentialsOf, type HttpLogin, HttpLogins } from './http-logins.js';
import { HttpRoute } from './http-route.js';
import { LenientExchange } from './lenient-exchange.js';
import { parseProxy } from './proxy.js';
import { ReceiveWatch } from './receive-watch.js';
import { DEFAULT_TRANSFER_MS } from './transfer.js';
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_TIMEOUT_MS,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  resultOf,
} from './types.js';

export interface HttpFetcherOptions extends HttpConnectorOptions {
  /** G-65. */
  readonly userAgent: string;
  /** Mail address of the operator (G-65). */
  readonly from?: string | undefined;
  /** `host:port` or URL of the proxy of all requests that do not name one (G-84, {@link parseProxy}). */
  readonly httpProxy?: string | undefined;
  /** Maximum number of decoded bytes per received byte; default 200. */
  readonly maxRatio?: number | undefined;
  /** Logins for the documents below their URLs, sent if the server requests their realm (G-82). */
  readonly httpBasicAuth?: readonly HttpLogin[] | undefined;
  /**
   * Whether a response that undici refuses is requested again and read leniently
   * ({@link FetchRequest.httpReader}). Default true.
   */
  readonly lenientHttp?: boolean | undefined;
  /** Limits of the lenient reader on what a response has besides its body. */
  readonly responseLimits?: HttpResponseLimits | undefined;
}

/** {@link FetchRequest.proxy} of a request without one. */
const DIRECT = 'direct';

/** Who reads a response. */
type HttpReader = NonNullable<FetchRequest['httpReader']>;

/**
 * Fetches by HTTP/1.1 over undici (G-80): keep-alive, no cookies of its own, no redirects followed, conditional
 * requests, gzip, brotli and deflate decoded within limits.
 */
export class HttpFetcher implements Fetcher {
  readonly #options: HttpFetcherOptions;
  /** By the proxy that requests name; created with the first one. */
  readonly #routes = new Map<string, HttpRoute>();
  readonly #logins: HttpLogins;
  readonly #running = new Set<HttpExchange | LenientExchange>();
  #closed = false;

  constructor(options: HttpFetcherOptions) {
    this.#options = options;
    this.#logins = new HttpLogins(options.httpBasicAuth ?? []);
    this.#route({});
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
        ? resolveUrl(textOfHeader(headers.location ?? ''), request.url, request.urlForm)
        : undefined;
    const remoteAddress = this.#route(request).addresses.get(target.origin);
    return resultOf(request.url, beginTime, {
      status: raw.status,
      headers,
      ...setCookiesOf(raw.headers),
      ...splitContentType(headers['content-type']),
      lastModified: parseHttpDate(headers['last-modified']),
      etag: headers.etag ?? '',
      body: decoded.body,
      truncated: raw.truncated || decoded.truncated,
      lenient: raw.lenient,
      wire:
        raw.wire === undefined
          ? undefined
          : { ...raw.wire, body: raw.body, truncated: raw.truncated || raw.wire.truncated },
      late: raw.late,
      ...('undecoded' in decoded ? { undecoded: decoded.undecoded } : {}),
      ...(location === undefined || headers.location === undefined ? {} : { location }),
      remoteAddress,
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const exchange of this.#running) exchange.abort(new ConnectionError('the fetcher was closed'));
    await Promise.all(Array.from(this.#routes.values(), (route) => route.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Repeats the request once if the server names a realm that the configuration has a login for, for this
   * document (G-82).
   */
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
    const { clock = monotonicClock } = this.#options;
    signal?.throwIfAborted();
    const headers = this.#requestHeaders(request, target, credentials);
    const { host } = target;
    const options = { host, maxBytes, timeoutMs, clock, keepWire: request.keepWire };
    const { exchange, start } =
      reader === 'lenient'
        ? this.#lenientExchange(target, request, headers, options)
        : this.#strictExchange(
            await this.#route(request).dispatcherFor(target.origin, request.publicOnly === true, signal),
            target,
            headers,
            options,
            request.post,
          );
    const onAbort = () => exchange.abort(asError(signal?.reason));
    const maxTransferMs = Math.min(
      request.maxTransferMs ?? Number.POSITIVE_INFINITY,
      this.#options.maxTransferMs ?? DEFAULT_TRANSFER_MS,
    );
    const cancelDeadline = clock.setTimer(() => {
      const late = new ConnectionError(`${host}: not done within ${maxTransferMs} ms`);
      if (request.keepLate === true) exchange.cut(late);
      else exchange.abort(late);
    }, maxTransferMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#running.add(exchange);
    using _watch = new ReceiveWatch(
      host,
      this.#options,
      { maxBytes, maxTransferMs },
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
      throw error instanceof KitError ? error : asConnectionError(host, error);
    } finally {
      cancelDeadline();
      signal?.removeEventListener('abort', onAbort);
      this.#running.delete(exchange);
    }
  }

  #strictExchange(
    dispatcher: Dispatcher,
    { origin, path }: Target,
    headers: Record<string, string>,
    options: HttpExchangeOptions,
    post: string | undefined,
  ) {
    const exchange = new HttpExchange(options);
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
    const start = () => {
      const message =
        post === undefined ? { method: 'GET' as const } : { method: 'POST' as const, body: post };
      dispatcher.dispatch({ origin, path, ...message, headers, ...timeouts }, exchange);
    };
    return { exchange, start };
  }

  #lenientExchange(
    { origin, path }: Target,
    request: FetchRequest,
    headers: Record<string, string>,
    options: HttpExchangeOptions,
  ) {
    const exchange = new LenientExchange(options, this.#options.responseLimits);
    const route = this.#route(request);
    const proxyHeaders = route.proxyHeadersFor(origin);
    const length = request.post === undefined ? {} : { 'content-length': String(request.post.length) };
    const lines = Object.entries({ ...headers, ...proxyHeaders, ...length, connection: 'close' }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const target = proxyHeaders === undefined ? path : origin + path;
    const method = request.post === undefined ? 'GET' : 'POST';
    const sent = [`${method} ${target} HTTP/1.1`, ...lines, '', request.post ?? ''].join('\r\n');
    if (/[\0\r\n]/.test([path, ...lines].join(''))) throw new UsageError('a header has a line end');
    const open = (signal: AbortSignal) => route.connector.open(origin, request.publicOnly === true, signal);
    const start = () => {
      // Its failures reject the response.
      void exchange.start(open, sent);
    };
    return { exchange, start };
  }

  /**
   * Returns the connections that a request uses, by its proxy. @throws UsageError for a wrong address of a
   * proxy
   */
  #route({ proxy = '', proxyLogin = '' }: Pick<FetchRequest, 'proxy' | 'proxyLogin'>): HttpRoute {
    const address = proxy === '' ? (this.#options.httpProxy ?? DIRECT) : proxy;
    const key = `${address} ${proxyLogin}`;
    let route = this.#routes.get(key);
    if (route === undefined) {
      route = new HttpRoute(this.#options, address === DIRECT ? undefined : parseProxy(address, proxyLogin));
      this.#routes.set(key, route);
    }
    return route;
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
    if (request.post !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded';
    if (credentials !== undefined) headers.authorization = credentials;
    return headers;
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
