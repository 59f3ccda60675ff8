// The application of the web pages and its port.
import type { FastifyInstance } from 'fastify';
import type { Certificate, PeerLimits } from '../../host/index.js';
import type { NewcomerCounts } from '../../host/newcomers.js';
import {
  type Address,
  type ApplicationParts,
  addApplication,
  createApplication,
  listenOn,
  localUrl,
  newcomersOf,
} from '../../web/application.js';
import { type Asset, addAssets } from '../../web/assets.js';
import type { ConnectionGuardOptions } from '../../web/connections.js';
import { securityHeaders } from '../../web/security-headers.js';
import type { RouteContext } from './route-context.js';
import { addRoutes, BrokerPages, SUGGESTIONS } from './routes.js';

/** Options of {@link createWebApp}. */
export interface WebAppOptions extends RouteContext, Omit<ConnectionGuardOptions, 'maxConnections'> {
  /**
   * Concurrent connections, default 256. When all are in use, one without a request is closed for a new one.
   */
  readonly maxConnections?: number | undefined;
  /** Maximum number of bytes of a form sent by POST, default 64 KiB. */
  readonly maxBodyBytes?: number;
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly certificate?: Certificate | undefined;
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

/** The pages of a broker as parts of an application. */
function pagesParts(options: RouteContext, pages: BrokerPages): ApplicationParts {
  return {
    headers: HEADERS,
    assets: ASSETS,
    bodies: 'form',
    notFound: (_request, reply) => pages.send(reply, pages.notFound()),
    failed: ({ reply, status }) => pages.send(reply, pages.failed(status)),
    logFailure: (error, request) => options.log.error({ err: error, request }, 'Web page failed'),
    logSuppressed: (sentence) => options.log.warn(`Web page failed: ${sentence}`),
    oftenLeft: new Set([SUGGESTIONS, `${options.base ?? options.broker.urls.base}${SUGGESTIONS}`]),
    routes: (app) => addRoutes(app, pages),
  };
}

/**
 * Creates the application of the broker's web pages. It opens no port; {@link WebServer} does, and tests call
 * it directly.
 */
export async function createWebApp(options: WebAppOptions): Promise<FastifyInstance> {
  const { broker } = options;
  const pages = await BrokerPages.open(options);
  const parts = pagesParts(options, pages);
  return createApplication({
    ...parts,
    hostNames: () => {
      const { brokerHost, httpHost, webNames, publicUrl } = broker.config;
      const published = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
      return {
        names: [brokerHost, httpHost, ...webNames, ...published],
        remedy: 'add it to Web-Names in broker.conf',
      };
    },
    maxBodyBytes: options.maxBodyBytes,
    connections: {
      maxConnections: options.maxConnections ?? 256,
      maxPerAddress: options.maxPerAddress,
      drainTimeoutMs: options.drainTimeoutMs,
      minBytesPerSecond: options.minBytesPerSecond,
    },
    certificate: options.certificate,
    trustedProxies: broker.config.trustedProxies,
    routes: async (app) => {
      app.addHook('onClose', () => pages.results[Symbol.asyncDispose]());
      addRoutes(app, pages);
      // A proxy may hand on the path of Public-URL or take it away.
      const prefix = options.base ?? broker.urls.base;
      if (prefix !== '')
        await app.register(
          async (below) => {
            await addAssets(below, ASSETS);
            addRoutes(below, pages);
          },
          { prefix },
        );
    },
  });
}

/** Options of {@link brokerPages}. */
export type BrokerPagesOptions = Omit<RouteContext, 'base'>;

/**
 * A plugin of fastify with the pages of a broker:
 * `app.register(brokerPages, { prefix: '/search', broker, brokerAddress, log
 * })`. Its links have the prefix; hooks, logins and TLS are those of the application, and so is the check of
 * the `Host` that requests name. Results name the address in `Public-URL` of the broker's configuration.
 */
export async function brokerPages(app: FastifyInstance, options: BrokerPagesOptions): Promise<void> {
  const context = { ...options, base: app.prefix.replace(/\/$/, '') };
  const pages = await BrokerPages.open(context);
  app.addHook('onClose', () => pages.results[Symbol.asyncDispose]());
  await addApplication(app, pagesParts(context, pages));
}

/** Serves the broker's web pages on a port (BRK-9). */
export class WebServer implements AsyncDisposable {
  readonly address: Address;
  /** URL of its first page. */
  readonly url: string;
  readonly #app: FastifyInstance;

  private constructor(app: FastifyInstance, address: Address, url: string) {
    this.#app = app;
    this.url = url;
    this.address = address;
  }

  /** @throws ConnectionError when the port is not available */
  static async listen(options: WebServerOptions): Promise<WebServer> {
    const app = await createWebApp(options);
    const address = await listenOn(app, options, 'web pages');
    const scheme = options.certificate === undefined ? 'http' : 'https';
    return new WebServer(app, address, localUrl(address, scheme));
  }

  /** What became of the connections that it accepted. */
  get newcomers(): NewcomerCounts | undefined {
    return newcomersOf(this.#app);
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
