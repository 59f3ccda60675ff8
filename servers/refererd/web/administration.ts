import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KitError } from '../../../protocols/errors.js';
import { pathOf } from '../../web/form-fields.js';
import { sendLine } from '../../web/replies.js';
import { LEVEL } from '../log.js';
import type { RefererService } from '../service.js';

const ROUTE = { method: ['GET', 'HEAD', 'POST'] as ['GET', 'HEAD', 'POST'] };

/** Adds the routes `/stat`, `/reload` and `/clean`. HEAD checks the credentials and changes nothing. */
export function addAdministration(app: FastifyInstance, service: RefererService): void {
  /** all three require a user of the user base. */
  const authorized = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> => {
    const given = credentialsOf(request.headers.authorization);
    const right = given && (await service.lists.users.check(given.user, given.password));
    if (right === true) return undefined;
    if (given !== undefined && right === undefined) return sendLine(reply, 503, 'too many requests');
    if (given !== undefined) {
      service.log.write(LEVEL.warning, `HTTP: wrong credentials for ${pathOf(request)}`);
    }
    return sendLine(
      reply.header('www-authenticate', 'Basic realm="refererd"'),
      401,
      'user and password are required',
    );
  };
  /** Prevents a page of another site from using the credentials that the browser has stored. */
  const notCrossSite = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply | undefined> => {
    if (request.headers['sec-fetch-site'] !== 'cross-site') return undefined;
    return sendLine(reply, 403, 'the request comes from another site');
  };

  app.route({
    ...ROUTE,
    url: '/stat',
    preHandler: authorized,
    handler: (_request, reply) =>
      reply
        .type('text/plain; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(service.statisticsText()),
  });
  app.route({
    ...ROUTE,
    url: '/clean',
    preHandler: [notCrossSite, authorized],
    handler: (request, reply) => {
      if (request.method !== 'HEAD') service.statistics.clean();
      return sendLine(reply, 200, 'the statistics are cleared');
    },
  });
  app.route({
    ...ROUTE,
    url: '/reload',
    preHandler: [notCrossSite, authorized],
    handler: async (request, reply) => {
      if (request.method === 'HEAD') return sendLine(reply, 200, 'the configuration would be read again');
      try {
        await service.reload();
        return sendLine(reply, 200, 'the configuration was read again');
      } catch (error) {
        // The message names file, line and parameter, never a value.
        const why = error instanceof KitError ? error.message : 'the server failed';
        return sendLine(reply, 500, `the old configuration is kept: ${why}`);
      }
    },
  });
}

/** HTTP Basic: the base64 of `user:password` in UTF-8. */
function credentialsOf(
  header: string | undefined,
): { readonly user: string; readonly password: string } | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*) *$/i.exec(header ?? '')?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
