import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { messageOf } from '../../../protocols/errors.js';
import { LEVEL } from '../log.js';
import type { HttpClient, RefererService } from '../service.js';
import { addAdministration } from './administration.js';
import { addLinkPages } from './link-pages.js';
import { plain } from './plain.js';

/** what else is asked is answered 405. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST'];

/** Nothing but our own stylesheet and icon is loaded, nothing written into a page runs, nobody frames us. */
const HEADERS = {
  // S-49
  connection: 'close',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** The look of the broker's pages. */
const ASSETS = [
  { path: '/style.css', file: 'style.css', type: 'text/css; charset=utf-8' },
  { path: '/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
  { path: '/favicon.ico', file: 'icon.svg', type: 'image/svg+xml' },
] as const;

/** The HTTP side of the port: it takes over connections whose first octets are HTTP. */
export interface WebSide {
  /** The socket's unread data begins with the request; it is paused. */
  take(socket: Socket, client: HttpClient): void;
  close(): Promise<void>;
}

/** The statistics and the page of links. */
export async function createWebSide(service: RefererService): Promise<WebSide> {
  const clients = new WeakMap<Socket, HttpClient>();
  const app = fastify({ bodyLimit: 64 * 1024, forceCloseConnections: true, exposeHeadRoutes: false });
  const clientOf = (request: IncomingMessage): HttpClient | undefined => clients.get(request.socket);

  app.addHook('onRequest', async (request, reply) => {
    const client = clientOf(request.raw);
    client?.requested();
    service.statistics.counts.http_requests += 1;
    reply.headers(HEADERS);
    // the host first.
    if (client?.allowed !== true) return plain(reply, 403, 'this host is not allowed');
    if (!METHODS.includes(request.method)) {
      return plain(reply.header('allow', METHODS.join(', ')), 405, 'only GET, HEAD and POST are served');
    }
    return undefined;
  });
  app.addHook('onResponse', async (request, reply) => {
    const address = clientOf(request.raw)?.address ?? '';
    // a query part is ignored; it is not logged either, for it may hold anything.
    const path = request.url.split('?', 1)[0] ?? '';
    service.log.write(LEVEL.request, `${address} HTTP ${request.method} ${path} ${reply.statusCode}`);
  });
  app.setNotFoundHandler((_request, reply) => plain(reply, 404, 'there is no such page'));
  app.setErrorHandler((error, _request, reply) => {
    service.log.write(LEVEL.error, `HTTP: ${messageOf(error)}`);
    return plain(reply, 500, 'the server failed');
  });
  discardBodies(app);
  for (const { path, file, type } of ASSETS) {
    const content = await readFile(new URL(import.meta.resolve(`#web-assets/${file}`)));
    app.get(path, (_request, reply) =>
      reply.type(type).header('cache-control', 'max-age=3600').send(content),
    );
  }
  addAdministration(app, service);
  addLinkPages(app, () => service.references.current);
  await app.ready();
  return {
    take(socket, client) {
      clients.set(socket, client);
      app.server.emit('connection', socket);
      socket.resume();
    },
    close: () => app.close(),
  };
}

/** No page takes anything from a request's body. */
function discardBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request: FastifyRequest, body, done) => {
    body.resume();
    done(null);
  });
}
