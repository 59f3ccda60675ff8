// The HTTP side of a references server.
import { METHODS as KNOWN_METHODS } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { SP } from '../../../protocols/ascii.js';
import { messageOf } from '../../../protocols/errors.js';
import type { FairShare, SessionShare } from '../../host/fair-share.js';
import { FairSocket } from '../../host/fair-socket.js';
import { createApplication } from '../../web/application.js';
import type { Asset } from '../../web/assets.js';
import { pathOf } from '../../web/form-fields.js';
import { sendLine } from '../../web/replies.js';
import { securityHeaders } from '../../web/security-headers.js';
import { LEVEL } from '../level.js';
import type { HttpClient, RefererService } from '../service.js';
import { addAdministration } from './administration.js';
import { addLinkPages } from './link-pages.js';

/** other methods get 405. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST'];

/** Stands for all methods that Node does not know. */
const UNSERVED_METHOD = 'TRACE';

/** Headers of every reply of the pages. */
export const PAGE_HEADERS = securityHeaders({
  images: true,
  referrer: 'no-referrer',
  // S-49
  more: { connection: 'close' },
});

const ASSETS: readonly Asset[] = [
  { path: '/style.css', file: '#web-assets/style.css' },
  { path: '/icon.svg', file: '#web-assets/icon.svg' },
  { path: '/favicon.ico', file: '#web-assets/icon.svg' },
];

/** Takes over connections of the port whose first octets are HTTP. */
export interface HttpServer {
  /** Serves a connection whose socket is paused. @param first the octets that have been read: a whole line, or more */
  take(socket: Socket, share: SessionShare, first: Uint8Array, client: HttpClient): void;
  close(): Promise<void>;
}

/** Creates the HTTP server of the statistics and the page of links. */
export async function createHttpServer(
  service: RefererService,
  fairShare: FairShare | undefined,
): Promise<HttpServer> {
  const clients = new WeakMap<Duplex, HttpClient>();
  const clientOf = ({ raw }: FastifyRequest): HttpClient | undefined => clients.get(raw.socket);
  const app = await createApplication({
    headers: PAGE_HEADERS,
    fairShare,
    assets: ASSETS,
    bodies: 'none',
    // `/reload` and `/clean` answer HEAD themselves, without effect.
    headRoutes: false,
    hostNames: () => service.settings.hostNames,
    admitConnection: (socket) => clients.get(socket)?.allowed === true,
    admitClient: (request, reply) => {
      const client = clientOf(request);
      client?.requested();
      service.statistics.counts.http_requests += 1;
      // the host is checked first.
      return client?.allowed === true ? undefined : sendLine(reply, 403, 'this host is not allowed');
    },
    admit: (request, reply) => {
      if (!METHODS.includes(request.method)) {
        reply.header('allow', METHODS.join(', '));
        return sendLine(reply, 405, 'only GET, HEAD and POST are served');
      }
      return undefined;
    },
    notFound: (_request, reply) => sendLine(reply, 404, 'there is no such page'),
    failed: ({ reply, status }) =>
      sendLine(reply, status, status === 500 ? 'the server failed' : 'the request cannot be understood'),
    logFailure: (error) => service.log.write(LEVEL.error, `HTTP: ${messageOf(error)}`),
    logSuppressed: (sentence) => service.log.write(LEVEL.notice, `HTTP: ${sentence}`),
    routes: (app) => {
      app.addHook('onResponse', async (request, reply) => {
        // a query is ignored. It is not logged either, because it may contain a secret.
        clientOf(request)?.log.write(
          LEVEL.request,
          `HTTP ${request.method} ${pathOf(request)} ${reply.statusCode}`,
        );
      });
      addAdministration(app, service, (request) => clientOf(request)?.log);
      addLinkPages(app, () => service.references.current);
    },
  });
  return {
    take(socket, share, first, client) {
      const fair = new FairSocket(socket, share, withKnownMethod(first));
      clients.set(fair, client);
      app.server.emit('connection', fair);
    },
    close: () => app.close(),
  };
}

/**
 * Returns the request with a method that Node's parser knows: it would answer others with 400 itself, where R-46
 * demands 405, and 403 for a host that is not allowed.
 */
function withKnownMethod(request: Uint8Array): Uint8Array {
  const end = request.indexOf(SP);
  const method = Buffer.from(request.buffer, request.byteOffset, Math.max(0, end)).toString('latin1');
  return KNOWN_METHODS.includes(method)
    ? request
    : Buffer.concat([Buffer.from(UNSERVED_METHOD), request.subarray(end)]);
}
