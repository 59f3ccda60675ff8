// The application of the web pages and its port.
import type { FastifyInstance } from 'fastify';
import type { PeerLimits } from '../../host/index.js';
import { type Address, createApplication, listenOn, localUrl } from '../../web/application.js';
import type { Asset } from '../../web/assets.js';
import { securityHeaders } from '../../web/security-headers.js';
import type { RouteContext } from './route-context.js';
import { addRoutes, BrokerPages } from './routes.js';

/** Options of {@link createWebApp}. */
export interface WebAppOptions extends RouteContext {
  /** Maximum number of bytes of a form sent by POST, default 64 KiB. */
  readonly maxBodyBytes?: number;
  /** Concurrent connections, default 256. When all are in use, one without a request is closed for a new one. */
  readonly maxConnections?: number | undefined;
  /** Concurrent connections of one IPv4 address or IPv6 /64. Default: a quarter of `maxConnections`; for this machine all of them. */
  readonly maxPerAddress?: number | undefined;
  /** Milliseconds over which the rate of a client that reads a page is measured. Default 60 000. */
  readonly drainTimeoutMs?: number | undefined;
  /** Bytes per second that such a client must accept on average. Default 100; 0: any progress suffices. */
  readonly minBytesPerSecond?: number | undefined;
}

/** Options of {@link WebServer.listen}. */
export interface WebServerOptions extends WebAppOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

/** Milliseconds in which a client must accept a part of a page. */
const DRAIN_TIMEOUT_MS = 60_000;

/** The limits of a program as those of the pages. */
export function pageLimits({ timeoutMs, ...limits }: PeerLimits = {}): Partial<WebAppOptions> {
  return timeoutMs === undefined
    ? limits
    : { ...limits, drainTimeoutMs: Math.min(timeoutMs, DRAIN_TIMEOUT_MS) };
}

const HEADERS = securityHeaders({ scripts: true, images: true, connections: true, referrer: 'no-referrer' });

const ASSETS: readonly Asset[] = [
  { path: '/Harvest/style.css', file: '#web-assets/style.css' },
  { path: '/Harvest/enhance.js', file: '#web-assets/enhance.js' },
  { path: '/Harvest/icon.svg', file: '#web-assets/icon.svg' },
  { path: '/favicon.ico', file: '#web-assets/icon.svg' },
];

/** Creates the application of the broker's web pages. It opens no port; {@link WebServer} does, and tests call it directly. */
export async function createWebApp(options: WebAppOptions): Promise<FastifyInstance> {
  const pages = await BrokerPages.open(options);
  return createApplication({
    headers: HEADERS,
    assets: ASSETS,
    hostNames: () => {
      const { brokerHost, httpHost, webNames } = options.broker.config;
      return { names: [brokerHost, httpHost, ...webNames], remedy: 'add it to Web-Names in broker.conf' };
    },
    bodies: 'form',
    maxBodyBytes: options.maxBodyBytes,
    connections: {
      maxConnections: options.maxConnections ?? 256,
      maxPerAddress: options.maxPerAddress,
      drainTimeoutMs: options.drainTimeoutMs,
      minBytesPerSecond: options.minBytesPerSecond,
    },
    notFound: (_request, reply) => pages.send(reply, pages.notFound()),
    failed: ({ reply, status }) => pages.send(reply, pages.failed(status)),
    logFailure: (error) => options.log.error({ err: error }, 'Web page failed'),
    logSuppressed: (sentence) => options.log.warn(`Web page failed: ${sentence}`),
    routes: (app) => addRoutes(app, pages),
  });
}

/** Serves the broker's web pages on a port (BRK-9). */
export class WebServer implements AsyncDisposable {
  readonly address: Address;
  /** URL of its first page. */
  readonly url: string;
  readonly #app: FastifyInstance;

  private constructor(app: FastifyInstance, address: Address) {
    this.#app = app;
    this.url = localUrl(address);
    this.address = address;
  }

  /** @throws ConnectionError when the port is not available */
  static async listen(options: WebServerOptions): Promise<WebServer> {
    const app = await createWebApp(options);
    return new WebServer(app, await listenOn(app, options, 'web pages'));
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
