// The routes of the administration: statistics, clearing them, reading the configuration again.
import { createHmac, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KitError } from '../../../protocols/errors.js';
import { pathOf, queryFields } from '../../web/form-fields.js';
import { sendLine, sendPage } from '../../web/replies.js';
import { isBrowser, isCrossOrigin, isOwnRequest } from '../../web/request-origin.js';
import { equalSecrets } from '../../web/secrets.js';
import { visitorOf } from '../../web/visitor.js';
import { LEVEL } from '../level.js';
import type { RefererLog } from '../log.js';
import type { RefererService } from '../service.js';
import type { CheckGuard } from '../user-base.js';
import { renderConfirmPage } from './pages.js';

/** Answers a request that must not be served. */
type Guard = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

const ROUTE = { method: ['GET', 'HEAD', 'POST'] as ['GET', 'HEAD', 'POST'] };

/**
 * Adds the routes `/stat`, `/reload` and `/clean`. HEAD checks the credentials and changes
 * nothing.
 */
export function addAdministration(
  app: FastifyInstance,
  service: RefererService,
  logOf: (request: FastifyRequest) => RefererLog | undefined,
): void {
  const { passwords } = service;
  const guardOf = (request: FastifyRequest): CheckGuard => {
    const visitor = visitorOf(request);
    return {
      mayCheck: () => passwords.secondsToWait(visitor) === 0,
      onWrong: () => passwords.recordFailure(visitor),
    };
  };
  /** After too many wrong passwords an address must wait, whatever it sends. The log counts the refusals. */
  const refuseGuessing = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const seconds = Math.max(1, passwords.secondsToWait(visitorOf(request)));
    const refused = passwords.recordRefusal(visitorOf(request));
    if (refused !== undefined) {
      const text = `${refused} requests refused after too many wrong passwords, the address must wait ${seconds} s`;
      logOf(request)?.write(LEVEL.warning, `HTTP: ${pathOf(request)}: ${text}`);
    }
    return sendLine(
      reply.header('retry-after', String(seconds)),
      429,
      `too many wrong passwords: wait ${Math.ceil(seconds / 60)} minutes`,
    );
  };
  /** all three require a user of the user base. */
  const authorized: Guard = async (request, reply) => {
    const given = credentialsOf(request.headers.authorization);
    const result = given && (await service.lists.users.check(given.user, given.password, guardOf(request)));
    if (result === 'right') return undefined;
    if (result === 'busy') return sendLine(reply, 503, 'too many requests');
    if (result === 'refused') return refuseGuessing(request, reply);
    if (result === 'wrong') {
      logOf(request)?.write(LEVEL.warning, `HTTP: wrong credentials for ${pathOf(request)}`);
    }
    return sendLine(
      reply.header('www-authenticate', 'Basic realm="refererd"'),
      401,
      'user and password are required',
    );
  };
  /** Prevents a page of another site from using the credentials that the browser has stored. */
  const notCrossOrigin: Guard = async ({ headers }, reply) =>
    isCrossOrigin(headers) ? sendLine(reply, 403, 'the request comes from another site') : undefined;
  const key = randomBytes(32);
  /**
   * A page of another site can make a browser load an address with its stored credentials, and the request need
   * not show it. So a browser whose request shows nothing gets a form, whose token other sites do not know.
   * Programs are served at once.
   */
  const confirmed: Guard = async (request, reply) => {
    const { headers, method } = request;
    if (method === 'HEAD' || !isBrowser(headers) || isOwnRequest(headers)) return undefined;
    const path = request.routeOptions.url ?? '/';
    const user = credentialsOf(headers.authorization)?.user ?? '';
    const token = createHmac('sha256', key).update(`${path} ${user}`).digest('base64url');
    if (equalSecrets(queryFields(request).get('token') ?? '', token)) return undefined;
    // With `no-referrer`, browsers send the form with the origin `null`.
    reply.header('referrer-policy', 'same-origin').header('cache-control', 'no-store');
    return sendPage(reply, 403, renderConfirmPage(path, token));
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
    preHandler: [notCrossOrigin, authorized, confirmed],
    handler: (request, reply) => {
      if (request.method !== 'HEAD') service.statistics.clean();
      return sendLine(reply, 200, 'the statistics are cleared');
    },
  });
  app.route({
    ...ROUTE,
    url: '/reload',
    preHandler: [notCrossOrigin, authorized, confirmed],
    handler: async (request, reply) => {
      if (request.method === 'HEAD') return sendLine(reply, 200, 'the configuration would be read again');
      try {
        const warnings = await service.reload();
        const lines = ['the configuration was read again', ...warnings.map((text) => `warning: ${text}`)];
        return sendLine(reply, 200, lines.join('\n'));
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
