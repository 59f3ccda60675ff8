// The application of the web pages and its port.
import type { FastifyInstance } from 'fastify';
import { type Address, createApplication, listenOn, localUrl } from '../../web/application.js';
import type { Asset } from '../../web/assets.js';
import { securityHeaders } from '../../web/security-headers.js';
import type { RouteContext } from './route-context.js';
import { addRoutes, BrokerPages } from './routes.js';

/** Options of {@link createWebApp}. */
export interface WebAppOptions extends RouteContext {
  /** Maximum number of bytes of a form sent by POST, default 64 KiB. */
  readonly maxBodyBytes?: number;
  /** Concurrent connections, default 256. */
  readonly maxConnections?: number;
}

/** Options of {@link WebServer.listen}. */
export interface WebServerOptions extends WebAppOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

const HEADERS = securityHeaders({ scripts: true, images: true, referrer: 'no-referrer' });

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
    bodies: 'form',
    maxBodyBytes: options.maxBodyBytes,
    maxConnections: options.maxConnections ?? 256,
    notFound: (_request, reply) => pages.send(reply, pages.notFound()),
    failed: ({ reply, status }) => pages.send(reply, pages.failed(status)),
    logFailure: (error) => options.log.error({ err: error }, 'Web page failed'),
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
