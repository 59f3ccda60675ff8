import { readFile } from 'node:fs/promises';
import fastify, { type FastifyInstance } from 'fastify';
import { ConnectionError, messageOf } from '../../../protocols/errors.js';
import { decodeFields } from './form.js';
import { addRoutes, type RouteContext } from './routes.js';

/** What {@link createWebApp} needs. */
export interface WebAppOptions extends RouteContext {
  /** Most bytes of a form sent by POST, default 64 KiB. */
  readonly maxBodyBytes?: number;
}

/** What {@link WebServer.listen} needs. */
export interface WebServerOptions extends WebAppOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Connections at once, default 256. */
  readonly maxConnections?: number;
}

/** Nothing but our own stylesheet, script and icon is loaded, nothing written into a page runs, nobody frames us. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** Files of `web/assets` and the paths under which they are served. */
const ASSETS = [
  { path: '/Harvest/style.css', file: 'style.css', type: 'text/css; charset=utf-8' },
  { path: '/Harvest/enhance.js', file: 'enhance.js', type: 'text/javascript; charset=utf-8' },
  { path: '/Harvest/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
  { path: '/favicon.ico', file: 'icon.svg', type: 'image/svg+xml' },
] as const;

/** The broker's web pages without a port: what {@link WebServer} serves, and tests ask directly. */
export async function createWebApp(options: WebAppOptions): Promise<FastifyInstance> {
  const app = fastify({
    bodyLimit: options.maxBodyBytes ?? 64 * 1024,
    // A request must be there within this time, headers and all.
    requestTimeout: 30_000,
    forceCloseConnections: true,
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => {
      done(null, decodeFields(body.toString()));
    },
  );
  for (const { path, file, type } of ASSETS) {
    const content = await readFile(new URL(import.meta.resolve(`#web-assets/${file}`)));
    app.get(path, (_request, reply) =>
      reply.type(type).header('cache-control', 'max-age=3600').send(content),
    );
  }
  await addRoutes(app, options);
  await app.ready();
  return app;
}

/** The broker's query page and object pages (BRK-9). */
export class WebServer implements AsyncDisposable {
  readonly address: { readonly host: string; readonly port: number };
  /** URL of its first page. */
  readonly url: string;
  readonly #app: FastifyInstance;

  private constructor(app: FastifyInstance, url: string, address: { host: string; port: number }) {
    this.#app = app;
    this.url = url;
    this.address = address;
  }

  /** @throws ConnectionError when the port cannot be had. */
  static async listen(options: WebServerOptions): Promise<WebServer> {
    const app = await createWebApp(options);
    const { host, port } = options;
    app.server.maxConnections = options.maxConnections ?? 256;
    try {
      const url = await app.listen({ host, port });
      const bound = app.server.address();
      const at =
        bound === null || typeof bound === 'string'
          ? { host, port }
          : { host: bound.address, port: bound.port };
      return new WebServer(app, `${url}/`, at);
    } catch (cause) {
      await app.close();
      const why = messageOf(cause);
      throw new ConnectionError(`web pages: cannot listen on ${host}:${port}: ${why}`, { cause });
    }
  }

  close(): Promise<void> {
    return this.#app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
