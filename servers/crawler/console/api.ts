import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KitError, UsageError } from '../../../protocols/errors.js';
import { queryFields } from '../../web/form-fields.js';
import type { Caller } from './access.js';
import { ACTIONS, type Action, type ActionOutcome, fieldsOf } from './actions.js';
import type { ConsoleContext } from './context.js';
import { metricsText } from './metrics.js';
import { OPENAPI_PATH, openApiDocument } from './openapi.js';
import { QUERIES } from './queries.js';

/** Adds the routes of figures as JSON, metrics and actions. The callers are already identified. */
export function addApi(app: FastifyInstance, context: ConsoleContext): void {
  for (const [name, query] of Object.entries(QUERIES)) {
    app.get(`/api/${name}`, async (request, reply) => {
      try {
        const value = await query.run(context, queryFields(request));
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
      .send(metricsText(context.control.snapshot())),
  );
  for (const [name, action] of Object.entries(ACTIONS))
    app.post(`/api/${name}`, (request, reply) => performAction(name, action, request, reply, context));
}

async function performAction(
  name: string,
  action: Action,
  request: FastifyRequest,
  reply: FastifyReply,
  context: ConsoleContext,
): Promise<FastifyReply> {
  const caller = context.callerOf(request);
  const fields = fieldsOf(request);
  const isPage = caller.by === 'session' && request.headers['x-requested-by'] !== 'console';
  let outcome: ActionOutcome;
  try {
    outcome = await action.run(context.control, fields);
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

function sendFailure(reply: FastifyReply, error: unknown, { log }: ConsoleContext): FastifyReply {
  if (error instanceof UsageError) return reply.code(400).send({ ok: false, error: error.message });
  log.error({ err: error }, 'console');
  const text = error instanceof KitError ? error.message : 'the action failed; see the log of the crawl';
  return reply.code(500).send({ ok: false, error: text });
}
