// Fetches http and https URLs (G-80), and through a proxy ftp URLs.
import { ConnectionError, KitError, StateError, UsageError } from '../../protocols/errors.js';
import type { HttpResponseLimits } from '../../protocols/http/index.js';
import { resolveUrl, withoutUserInfo, withUserInfo } from '../../protocols/urls/index.js';
import { asConnectionError, asError } from '../connection/index.js';
import { monotonicClock } from '../connection/monotonic-clock.js';
import { publishDebug, publishNote } from './debug-channel.js';
import { DEFAULT_MAX_RATIO, type DecodedBody, decodeBody } from './decode-body.js';
import { closeResponse, earlyEnd, HttpExchange, type RawResponse } from './exchange.js';
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
import { parseProxy } from './proxy.js';
import { ReceiveWatch } from './receive-watch.js';
import { StopSignal } from './stop-signal.js';
import { beginningOf } from './stored-body.js';
import { DEFAULT_TRANSFER_MS } from './transfer.js';
import { withoutTransferCodings } from './transfer-codings.js';
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_TIMEOUT_MS,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
  type LenientReading,
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
  /** Limits on what a response has besides its body. */
  readonly responseLimits?: HttpResponseLimits | undefined;
}

/** {@link FetchRequest.proxy} of a request without one. */
const DIRECT = 'direct';

/** Header values and paths go into a line of their own (RFC 9110 5.5). */
const OUTSIDE_LINE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Fetches by HTTP/1.1 (G-80): keep-alive, no cookies of its own, no redirects followed, conditional requests,
 * gzip, brotli and deflate decoded within limits. A response that breaks the rules is read as browsers read it,
 * as long as it is complete.
 */
export class HttpFetcher implements Fetcher {
  readonly #options: HttpFetcherOptions;
  /** By the proxy that requests name; created with the first one. */
  readonly #routes = new Map<string, HttpRoute>();
  readonly #logins: HttpLogins;
  /** Ends the requests in progress, by their calls. */
  readonly #running = new Set<(reason: Error) => void>();
  #closed = false;

  constructor(options: HttpFetcherOptions) {
    this.#options = options;
    this.#logins = new HttpLogins(options.httpBasicAuth ?? []);
    this.#route({});
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    if (this.#closed) throw new StateError('the fetcher is closed');
    const target = splitUrl(withUserInfo(request.url, request.login));
    const beginTime = Date.now();
    const { response: raw, personal } = await this.#requestWithCredentials(target, request);
    try {
      return await this.#resultOf(request, target, beginTime, raw, personal);
    } catch (error) {
      await closeResponse(raw);
      throw error;
    }
  }

  async #resultOf(
    request: FetchRequest,
    target: Target,
    beginTime: number,
    raw: RawResponse,
    personal: boolean,
  ): Promise<FetchResult> {
    const headers = plainHeaders(raw.headers);
    publishDebug(21, 1, () => `GET ${request.url}: status ${raw.status}, ${raw.body.length} bytes`);
    const maxBytes = request.maxBytes ?? DEFAULT_MAX_BYTES;
    const maxRatio = this.#options.maxRatio ?? DEFAULT_MAX_RATIO;
    const codings = [headers['content-encoding'] ?? '', ...raw.transferCodings].join(',');
    const location =
      raw.status >= 300 && raw.status < 400
        ? resolveUrl(textOfHeader(headers.location ?? ''), withoutUserInfo(request.url), request.urlForm)
        : undefined;
    const problem = raw.lenient?.problem;
    // The body of a redirect is not the document.
    if (problem !== undefined && location === undefined && request.keepIncomplete !== true)
      throw incomplete(target.host, problem);
    const decoded = await decodeOrKeep(raw, codings, { maxBytes, maxRatio }, request);
    const payload = raw.wire === undefined ? raw : await withoutTransferCodings(raw, request);
    const remoteAddress = this.#route(request).addresses.get(target.origin);
    return resultOf(request.url, beginTime, {
      status: raw.status,
      headers,
      ...setCookiesOf(raw.headers),
      ...splitContentType(headers['content-type']),
      lastModified: parseHttpDate(headers['last-modified']),
      etag: headers.etag ?? '',
      // The buffer may be transferred, and an archive needs the other.
      body: raw.wire !== undefined && decoded.body === raw.body ? decoded.body.slice() : decoded.body,
      truncated: raw.truncated || decoded.truncated,
      lenient: lenientReading(raw, decoded),
      wire:
        raw.wire === undefined
          ? undefined
          : { ...raw.wire, body: payload.body, truncated: payload.truncated || raw.wire.truncated },
      late: raw.late,
      ...(personal ? { personal } : {}),
      ...('undecoded' in decoded ? { undecoded: decoded.undecoded } : {}),
      ...(location === undefined || headers.location === undefined ? {} : { location }),
      remoteAddress,
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#running) end(new ConnectionError('the fetcher was closed'));
    for (const route of this.#routes.values()) route.close();
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
  ): Promise<{ readonly response: RawResponse; readonly personal: boolean }> {
    const { url } = request;
    const known = target.credentials === undefined ? this.#logins.known(url) : undefined;
    const credentials = target.credentials ?? (known && credentialsOf(known));
    const first = await this.#request(target, request, credentials);
    const answer = { response: first, personal: credentials !== undefined };
    if (first.status !== 401) return answer;
    const challenge = first.headers['www-authenticate'];
    const realm = basicRealm(Array.isArray(challenge) ? challenge.join(', ') : challenge);
    const noteLogin = (login: 'refused' | 'unknown' | 'elsewhere'): void =>
      publishNote({ kind: 'login', url, realm, login });
    if (target.credentials !== undefined) {
      noteLogin('refused');
      return answer;
    }
    const login = this.#logins.forRealm(url, realm);
    const found = typeof login === 'string' ? `no match (${login})` : login.user;
    publishDebug(21, 5, () => `${url}: login for ${realm ?? 'no realm'}: ${found}`);
    if (typeof login === 'string' || login === known) {
      noteLogin(typeof login === 'string' ? login : 'refused');
      return answer;
    }
    await closeResponse(first);
    const second = await this.#request(target, request, credentialsOf(login));
    if (second.status === 401) noteLogin('refused');
    else this.#logins.accept(url, login);
    return { response: second, personal: true };
  }

  async #request(
    target: Target,
    request: FetchRequest,
    credentials: string | undefined,
  ): Promise<RawResponse> {
    const { url, signal, publicOnly = false, keepWire, spool } = request;
    const { maxBytes = DEFAULT_MAX_BYTES, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    const { clock = monotonicClock, responseLimits: limits } = this.#options;
    signal?.throwIfAborted();
    const { host, origin } = target;
    const route = this.#route(request);
    const message = this.#messageOf(request, target, route.proxyHeadersFor(origin), credentials);
    let exchange: HttpExchange | undefined;
    const stop = new StopSignal();
    const end = (reason: Error): void => {
      stop.abort(reason);
      exchange?.abort(reason);
    };
    const onAbort = () => end(asError(signal?.reason));
    const maxTransferMs = Math.min(
      request.maxTransferMs ?? Number.POSITIVE_INFINITY,
      this.#options.maxTransferMs ?? DEFAULT_TRANSFER_MS,
    );
    const cancelDeadline = clock.setTimer(() => {
      const late = new ConnectionError(`${host}: not done within ${maxTransferMs} ms`);
      if (request.keepLate === true) exchange?.cut(late);
      end(late);
    }, maxTransferMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#running.add(end);
    using _watch = new ReceiveWatch(
      host,
      this.#options,
      { maxBytes, maxTransferMs },
      () => exchange?.received ?? { bytes: 0 },
      end,
    );
    try {
      const response = await route.use(
        origin,
        publicOnly,
        () => stop.signal,
        (connection) => {
          stop.throwIfAborted();
          publishDebug(21, 9, () => `${url}: sent ${formatHeaders(message.headers)}`);
          exchange = new HttpExchange(connection, message.text, {
            host,
            maxBytes,
            timeoutMs,
            clock,
            keepWire,
            spool,
            limits,
          });
          return exchange.response;
        },
      );
      publishDebug(
        21,
        9,
        () => `${url}: ${response.status}, ${formatHeaders(plainHeaders(response.headers))}`,
      );
      return response;
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw error instanceof KitError ? error : asConnectionError(host, error);
    } finally {
      cancelDeadline();
      signal?.removeEventListener('abort', onAbort);
      this.#running.delete(end);
    }
  }

  /**
   * Returns the message of a request. @param proxyHeaders of a proxy that is requested by the full URL
   * @throws UsageError for a header that is not a line
   */
  #messageOf(
    request: FetchRequest,
    { origin, path, host }: Target,
    proxyHeaders: Readonly<Record<string, string>> | undefined,
    credentials: string | undefined,
  ) {
    const { post } = request;
    const headers = {
      host,
      connection: 'keep-alive',
      ...this.#requestHeaders(request, credentials),
      ...proxyHeaders,
      ...(post === undefined ? {} : { 'content-length': String(Buffer.byteLength(post, 'latin1')) }),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    lines.unshift(
      `${post === undefined ? 'GET' : 'POST'} ${proxyHeaders === undefined ? path : origin + path} HTTP/1.1`,
    );
    const wrong = lines.find((line) => OUTSIDE_LINE.test(line));
    if (wrong !== undefined) {
      const name = /^[^:]*/.exec(wrong)![0];
      throw new UsageError(`the header ${JSON.stringify(name)} has a character that HTTP does not allow`);
    }
    return { headers, text: [...lines, '', post ?? ''].join('\r\n') };
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

  #requestHeaders(request: FetchRequest, credentials: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {
      'user-agent': request.userAgent ?? this.#options.userAgent,
      accept: '*/*',
      'accept-encoding': 'gzip, br, deflate',
      ...request.extraHeaders,
    };
    if (this.#options.from !== undefined) headers.from = this.#options.from;
    if (request.headers?.etag) headers['if-none-match'] = request.headers.etag;
    const modifiedMs = (request.headers?.lastModified ?? 0) * 1000;
    const now = Date.now();
    // A server may say of every version until that time that it is not newer.
    if (modifiedMs > 0 && modifiedMs <= now)
      headers['if-modified-since'] = new Date(modifiedMs).toUTCString();
    if (request.post !== undefined) headers['content-type'] = 'application/x-www-form-urlencoded';
    if (credentials !== undefined) headers.authorization = credentials;
    return headers;
  }
}

/** The error of a response that ended too soon. */
function incomplete(host: string, problem: string): ConnectionError {
  const known = /^the server /.test(problem) ? problem : `the server broke the connection: ${problem}`;
  return new ConnectionError(`${host}: ${known}`, { cause: earlyEnd(problem) });
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
    const kept = await beginningOf(body, limits.maxBytes);
    return {
      body: kept,
      truncated: truncated || body.length > kept.length,
      deviates: false,
      undecoded: error.message,
    };
  }
}

/** What was untidy about a response, its content coding included. */
function lenientReading(
  { lenient, head }: RawResponse,
  { deviates }: DecodedBody,
): LenientReading | undefined {
  if (!deviates) return lenient;
  return { head, ...lenient, deviations: [...(lenient?.deviations ?? []), 'content-coding'] };
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
  const match = /^((?:https?|ftp):\/\/)(?:([^/?]*)@)?([^/?]+)(.*)$/s.exec(url);
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
