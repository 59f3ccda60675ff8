// Fetches http and https URLs (G-80).
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { ConnectionError, KitError, StateError, UsageError } from '../../protocols/errors.js';
import { canonicalUrl, withoutBrackets } from '../../protocols/urls/index.js';
import { asConnectionError, asError } from '../connection/index.js';
import { publishDebug } from './debug-channel.js';
import { DEFAULT_MAX_RATIO, decodeBody } from './decode-body.js';
import { HttpExchange, type RawResponse } from './exchange.js';
import { basicCredentials, basicRealm, parseHttpDate, plainHeaders, splitContentType } from './headers.js';
import { publishNote } from './notes.js';
import { resolveHost } from './private-addresses.js';
import {
  DEFAULT_MAX_BYTES,
  DEFAULT_TIMEOUT_MS,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
} from './types.js';

export interface HttpFetcherOptions {
  /** G-65. */
  readonly userAgent: string;
  /** Mail address of the operator (G-65). */
  readonly from?: string | undefined;
  /** `host:port` (G-84); https uses CONNECT. */
  readonly httpProxy?: string | undefined;
  /** Maximum number of connections to one host at a time; default 1. */
  readonly maxConnectionsPerHost?: number | undefined;
  /** Milliseconds; default 30 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds that an idle connection stays open; default 10 000, longer than the usual delays. */
  readonly keepAliveMs?: number | undefined;
  /** Milliseconds from the request to the last byte; default 1 200 000. Limits servers that send single bytes with pauses. */
  readonly maxTransferMs?: number | undefined;
  /** Maximum number of decoded bytes per received byte; default 200. */
  readonly maxRatio?: number | undefined;
  /** Credentials for a server that requests one of these realms (G-82). */
  readonly httpBasicAuth?:
    | readonly { readonly realm: string; readonly user: string; readonly password: string }[]
    | undefined;
  /** Additional trusted certificates (PEM) for https. */
  readonly ca?: string | undefined;
}

/** The largest number of origins whose address and credentials are kept. */
const MAX_ORIGINS = 10_000;

/**
 * Fetches by HTTP/1.1 over undici (G-80): keep-alive, no cookies, no redirects followed, conditional requests, gzip, brotli
 * and deflate decoded within limits.
 */
export class HttpFetcher implements Fetcher {
  readonly #options: HttpFetcherOptions;
  readonly #dispatcher: Dispatcher;
  /** For requests with `publicOnly` (G-174); created with the first one. */
  #publicDispatcher: Dispatcher | undefined;
  /** The address last connected to, by origin. */
  readonly #addresses = new LRUCache<string, string>({ max: MAX_ORIGINS });
  /** The credentials that an origin accepted. */
  readonly #credentials = new LRUCache<string, string>({ max: MAX_ORIGINS });
  readonly #running = new Set<HttpExchange>();
  #closed = false;

  constructor(options: HttpFetcherOptions) {
    this.#options = options;
    this.#dispatcher =
      options.httpProxy === undefined ? this.#directAgent(false) : this.#proxyAgent(options.httpProxy);
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    if (this.#closed) throw new StateError('the fetcher is closed');
    const target = splitUrl(request.url);
    const beginTime = Date.now();
    const raw = await this.#requestWithCredentials(target, request);
    const headers = plainHeaders(raw.headers);
    publishDebug(21, 1, () => `GET ${request.url}: status ${raw.status}, ${raw.body.length} bytes`);
    const maxBytes = request.maxBytes ?? DEFAULT_MAX_BYTES;
    const maxRatio = this.#options.maxRatio ?? DEFAULT_MAX_RATIO;
    const decoded = await decodeBody(raw.body, headers['content-encoding'], { maxBytes, maxRatio });
    const location =
      raw.status >= 300 && raw.status < 400 ? canonicalUrl(headers.location ?? '', request.url) : undefined;
    const remoteAddress = this.#addresses.get(target.origin);
    return {
      url: request.url,
      status: raw.status,
      headers,
      ...splitContentType(headers['content-type']),
      lastModified: parseHttpDate(headers['last-modified']),
      etag: headers.etag ?? '',
      body: decoded.body,
      truncated: raw.truncated || decoded.truncated,
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

  /** Repeats the request once if the server names a realm that the configuration has credentials for (G-82). */
  async #requestWithCredentials(target: Target, request: FetchRequest): Promise<RawResponse> {
    const known = target.credentials ?? this.#credentials.get(target.origin);
    const first = await this.#request(target, request, known);
    if (first.status !== 401) return first;
    const challenge = first.headers['www-authenticate'];
    const realm = basicRealm(Array.isArray(challenge) ? challenge.join(', ') : challenge);
    const noteLogin = (refused: boolean): void =>
      publishNote({ kind: 'login', url: request.url, realm, refused });
    const login =
      target.credentials === undefined
        ? this.#options.httpBasicAuth?.find((candidate) => candidate.realm === realm)
        : undefined;
    publishDebug(
      21,
      5,
      () => `${request.url}: login for ${realm ?? 'no realm'}: ${login?.user ?? 'no match'}`,
    );
    if (login === undefined) {
      noteLogin(target.credentials !== undefined);
      return first;
    }
    const credentials = basicCredentials(login.user, login.password);
    if (credentials === known) {
      noteLogin(true);
      return first;
    }
    const second = await this.#request(target, request, credentials);
    if (second.status === 401) noteLogin(true);
    else this.#credentials.set(target.origin, credentials);
    return second;
  }

  async #request(
    target: Target,
    request: FetchRequest,
    credentials: string | undefined,
  ): Promise<RawResponse> {
    const { signal } = request;
    signal?.throwIfAborted();
    const dispatcher = await this.#dispatcherFor(target, request);
    const exchange = new HttpExchange(request.maxBytes ?? DEFAULT_MAX_BYTES);
    const onAbort = () => exchange.abort(asError(signal?.reason));
    const maxTransferMs = this.#options.maxTransferMs ?? 1_200_000;
    const deadline = setTimeout(
      () => exchange.abort(new ConnectionError(`${target.host}: not done within ${maxTransferMs} ms`)),
      maxTransferMs,
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#running.add(exchange);
    try {
      const timeoutMs = request.timeoutMs ?? DEFAULT_TIMEOUT_MS;
      const headers = this.#requestHeaders(request, target, credentials);
      publishDebug(21, 9, () => `${request.url}: sent ${formatHeaders(headers)}`);
      dispatcher.dispatch(
        {
          origin: target.origin,
          path: target.path,
          method: 'GET',
          headers,
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
        },
        exchange,
      );
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
    const connect = buildConnector(this.#connectOptions());
    return new Agent({
      ...this.#poolOptions(),
      connect: (options, callback) => {
        const connectTo = (hostname: string) =>
          connect({ ...options, hostname }, (...result) => {
            const [, socket] = result;
            const address = socket?.remoteAddress;
            if (address !== undefined) this.#addresses.set(`${options.protocol}//${options.host}`, address);
            callback(...result);
          });
        if (!publicOnly) return connectTo(options.hostname);
        // The certificate is still checked against the name: undici takes it from `host`.
        resolveHost(withoutBrackets(options.hostname), true, undefined).then(connectTo, (error: Error) =>
          callback(error, null),
        );
      },
    });
  }

  /** Requests plain http by its full URL, which proxies of any age understand, and https by CONNECT (G-84). */
  #proxyAgent(hostAndPort: string): Dispatcher {
    return new ProxyAgent({
      ...this.#poolOptions(),
      uri: `http://${hostAndPort}`,
      proxyTunnel: false,
      requestTls: this.#connectOptions(),
      factory: (origin, options) => new Pool(origin, { ...options, ...this.#poolOptions() }),
    });
  }

  #connectOptions() {
    const { connectTimeoutMs, ca } = this.#options;
    return { timeout: connectTimeoutMs ?? 30_000, ...(ca === undefined ? {} : { ca }) };
  }

  #poolOptions() {
    return {
      connections: this.#options.maxConnectionsPerHost ?? 1,
      pipelining: 1,
      keepAliveTimeout: this.#options.keepAliveMs ?? 10_000,
    };
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
