import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KitError, UsageError } from '../../../protocols/errors.js';
import { queryFields } from '../../web/form-fields.js';
import { QUEUE_STATES, type QueueState } from '../control.js';
import type { Caller } from './access.js';
import { ACTIONS, type ActionOutcome, fieldsOf } from './actions.js';
import type { QueryName } from './answers.js';
import type { ConsoleContext } from './context.js';
import { cutPage } from './live.js';
import { metricsText } from './metrics.js';
import { DEFAULT_ROWS, MAX_HOSTS, MAX_ROWS, OPENAPI_PATH, openApiDocument } from './openapi.js';

/** Adds the routes of figures as JSON, metrics and actions. The callers are already identified. */
export function addApi(app: FastifyInstance, context: ConsoleContext): void {
  const { control, feed } = context;
  const queries: Readonly<Record<QueryName, (query: URLSearchParams) => unknown>> = {
    snapshot: () => control.snapshot(),
    history: () => ({ samples: feed.history.samples() }),
    queues: async (query) => {
      const limit = limitOf(query);
      const after = query.get('after') ?? '';
      const found = await control.queues({
        ...stateOf(query),
        ...(after === '' ? {} : { after }),
        limit: limit + 1,
      });
      const { rows, last } = cutPage(found, limit);
      return { queues: rows, next: last };
    },
    hosts: (query) => {
      const match = query.get('match') ?? '';
      return {
        hosts: control.hosts({ limit: limitOf(query, MAX_HOSTS), ...(match === '' ? {} : { match }) }),
      };
    },
    retries: async (query) => ({ retries: await control.retries({ limit: limitOf(query) }) }),
    workers: () => ({ workers: control.workers() }),
    errors: () => ({ errors: control.recentErrors() }),
    chains: () => ({ processors: control.chains() }),
  };
  for (const [name, query] of Object.entries(queries)) {
    app.get(`/api/${name}`, async (request, reply) => {
      try {
        const value = await query(queryFields(request));
        return reply.header('cache-control', 'no-store').send(value);
      } catch (error) {
        return sendFailure(reply, error, context);
      }
    });
  }
  const document = openApiDocument();
  app.get(OPENAPI_PATH, (_request, reply) => reply.send(document));
  app.get('/metrics', (_request, reply) =>
    reply
      .type('text/plain; version=0.0.4; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(metricsText(control.snapshot())),
  );
  for (const name of ACTIONS.keys())
    app.post(`/api/${name}`, (request, reply) => performAction(name, request, reply, context));
}

async function performAction(
  name: string,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ConsoleContext,
): Promise<FastifyReply> {
  const caller = context.callerOf(request);
  const fields = fieldsOf(request);
  const isPage = caller.by === 'session' && request.headers['x-requested-by'] !== 'console';
  let outcome: ActionOutcome;
  try {
    outcome = await (ACTIONS.get(name) ?? unknownAction)(context.control, fields);
  } catch (error) {
    if (isPage && error instanceof KitError) return redirectToPage(reply, caller, false, error.message);
    return sendFailure(reply, error, context);
  }
  const by = caller.by === 'session' ? 'page' : caller.by;
  context.log.info({ address: request.ip, by }, `console: ${name}: ${outcome.text}`);
  const isDone = outcome.refused !== true;
  if (isPage) return redirectToPage(reply, caller, isDone, outcome.text);
  if (!isDone) return reply.code(409).send({ ok: false, error: outcome.text });
  return reply.send({ ok: true, text: outcome.text, ...outcome.data });
}

/** Reloads a page without script, which then shows the outcome. */
function redirectToPage(reply: FastifyReply, caller: Caller, ok: boolean, text: string): FastifyReply {
  if (caller.by === 'session') caller.session.outcome = { ok, text };
  return reply.redirect('/', 303);
}

function unknownAction(): never {
  throw new UsageError('there is no such action');
}

function sendFailure(reply: FastifyReply, error: unknown, { log }: ConsoleContext): FastifyReply {
  if (error instanceof UsageError) return reply.code(400).send({ ok: false, error: error.message });
  log.error({ err: error }, 'console');
  const text = error instanceof KitError ? error.message : 'the action failed; see the log of the crawl';
  return reply.code(500).send({ ok: false, error: text });
}

function limitOf(query: URLSearchParams, maximum = MAX_ROWS): number {
  const text = query.get('limit') ?? String(DEFAULT_ROWS);
  const limit = Number(text);
  if (!/^\d{1,6}$/.test(text) || limit < 1 || limit > maximum)
    throw new UsageError(`limit: expected a number from 1 to ${maximum}`);
  return limit;
}

function stateOf(query: URLSearchParams): { readonly state?: QueueState } {
  const text = query.get('state') ?? '';
  if (text === '') return {};
  const state = QUEUE_STATES.find((known) => known === text);
  if (state === undefined) throw new UsageError(`state: expected one of ${QUEUE_STATES.join(', ')}`);
  return { state };
}
