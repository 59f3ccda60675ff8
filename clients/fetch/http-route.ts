// The way of HTTP requests to their servers: directly, or through one proxy.
import { LRUCache } from 'lru-cache';
import { ConnectionPool } from './connection-pool.js';
import { HttpConnection } from './http-connection.js';
import { HttpConnector, type HttpConnectorOptions, proxyHeaders } from './http-connector.js';
import type { ProxyServer } from './proxy.js';

/** The largest number of origins whose address is kept. */
const MAX_ORIGINS = 10_000;

/** The connections of one route, kept by server. */
export class HttpRoute {
  readonly #proxy: ProxyServer | undefined;
  readonly #connector: HttpConnector;
  readonly #pool: ConnectionPool<HttpConnection>;
  /** The address of the last direct connection to a server, by origin. */
  readonly addresses = new LRUCache<string, string>({ max: MAX_ORIGINS });

  /** @param proxy undefined for direct connections */
  constructor(options: HttpConnectorOptions, proxy: ProxyServer | undefined) {
    this.#proxy = proxy;
    this.#pool = new ConnectionPool(options);
    this.#connector = new HttpConnector(options, proxy, (origin, address) =>
      this.addresses.set(origin, address),
    );
  }

  /**
   * The proxy's headers of a request for plain http or ftp, which is requested from it by the full URL (RFC 9112
   * 3.2.2); undefined if the server itself is requested.
   */
  proxyHeadersFor(origin: string): Readonly<Record<string, string>> | undefined {
    if (this.#proxy?.kind !== 'http' || origin.startsWith('https:')) return undefined;
    return proxyHeaders(this.#proxy);
  }

  /**
   * Runs an exchange on a kept or a new connection, when the server has a free one.
   * @param publicOnly see `FetchRequest.publicOnly`: such requests have connections of their own
   * @param signal called if the exchange has to wait
   * @throws RefusedError if `publicOnly` forbids the address; the signal's reason
   */
  use<T>(
    origin: string,
    publicOnly: boolean,
    signal: () => AbortSignal,
    exchange: (connection: HttpConnection) => Promise<T>,
  ): Promise<T> {
    const open = async () => new HttpConnection(await this.#connector.open(origin, publicOnly, signal()));
    return this.#pool.use(publicOnly ? `public ${origin}` : origin, signal, open, exchange);
  }

  /** Closes all connections. */
  close(): void {
    this.#pool.close();
  }
}
