// The way of HTTP requests to their servers: directly, or through one proxy.
import { LRUCache } from 'lru-cache';
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { authorityOf, withoutBrackets } from '../../protocols/urls/index.js';
import { HttpConnector, type HttpConnectorOptions, proxyHeaders } from './http-connector.js';
import { resolveHost } from './private-addresses.js';
import type { ProxyServer } from './proxy.js';
import { DEFAULT_CONNECTIONS, DEFAULT_KEEP_ALIVE_MS } from './transfer.js';

/** The largest number of origins whose address is kept. */
const MAX_ORIGINS = 10_000;

/**
 * The connections of one route, which undici's requests share; the lenient reader opens one for each of its
 * requests.
 */
export class HttpRoute {
  readonly #options: HttpConnectorOptions;
  readonly #proxy: ProxyServer | undefined;
  /** Opens a connection for a single request. */
  readonly connector: HttpConnector;
  readonly #dispatcher: Dispatcher;
  /** For requests with `publicOnly` (G-174); created with the first one. */
  #publicDispatcher: Dispatcher | undefined;
  /** The address of the last direct connection to a server, by origin. */
  readonly addresses = new LRUCache<string, string>({ max: MAX_ORIGINS });

  /** @param proxy undefined for direct connections */
  constructor(options: HttpConnectorOptions, proxy: ProxyServer | undefined) {
    this.#options = options;
    this.#proxy = proxy;
    this.connector = new HttpConnector(options, proxy, (origin, address) =>
      this.addresses.set(origin, address),
    );
    this.#dispatcher = proxy?.kind === 'http' ? this.#proxyAgent(proxy) : this.#agent(false);
  }

  /**
   * The proxy's headers of a request for plain http, which is requested from it by the full URL (RFC 9112
   * 3.2.2); undefined if the server itself is requested.
   */
  proxyHeadersFor(origin: string): Readonly<Record<string, string>> | undefined {
    if (this.#proxy?.kind !== 'http' || !origin.startsWith('http:')) return undefined;
    return proxyHeaders(this.#proxy);
  }

  /**
   * Returns undici's dispatcher. @param publicOnly see `FetchRequest.publicOnly` @throws RefusedError if it
   * forbids the address
   */
  async dispatcherFor(
    origin: string,
    publicOnly: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Dispatcher> {
    if (!publicOnly) return this.#dispatcher;
    if (this.#proxy?.kind === 'http') {
      // The proxy resolves the name itself; an address that is private here is refused nevertheless.
      await resolveHost(withoutBrackets(new URL(origin).hostname), true, signal);
      return this.#dispatcher;
    }
    this.#publicDispatcher ??= this.#agent(true);
    return this.#publicDispatcher;
  }

  /** Aborts the requests in progress and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#dispatcher.destroy(), this.#publicDispatcher?.destroy()]);
  }

  #agent(publicOnly: boolean): Dispatcher {
    const connect =
      this.#proxy === undefined
        ? this.connector.direct(publicOnly)
        : this.connector.bySocks(this.#proxy, publicOnly);
    return new Agent({ ...this.#poolOptions(), connect });
  }

  /** Requests plain http by its full URL, which proxies of any age understand, and https by CONNECT (G-84). */
  #proxyAgent(proxy: ProxyServer): Dispatcher {
    const { host, port } = proxy;
    const { 'proxy-authorization': token } = proxyHeaders(proxy);
    return new ProxyAgent({
      ...this.#poolOptions(),
      uri: `http://${authorityOf(host, port)}`,
      ...(token === undefined ? {} : { token }),
      proxyTunnel: false,
      requestTls: this.connector.connectOptions,
      factory: (origin, options) => new Pool(origin, { ...options, ...this.#poolOptions() }),
    });
  }

  #poolOptions() {
    return {
      connections: this.#options.maxConnectionsPerHost ?? DEFAULT_CONNECTIONS,
      pipelining: 1,
      keepAliveTimeout: this.#options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
    };
  }
}
