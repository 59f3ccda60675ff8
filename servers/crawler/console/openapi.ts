// The console's interface for programs as an OpenAPI document, from the schemas of its answers (CRAWL-20, 22).
import { z } from 'zod';
import { defined } from '../../../protocols/defined.js';
import { QUEUE_STATES } from '../control.js';
import { ACTION_ANSWERS, type ActionName, failureSchema, QUERY_ANSWERS, type QueryName } from './answers.js';

/** Where the console serves the document. */
export const OPENAPI_PATH = '/api/openapi.json';

/**
 * Maximum and default number of rows of one answer. The list of servers has no pages, so its maximum is higher.
 */
export const MAX_ROWS = 1000;
export const MAX_HOSTS = 10_000;
export const DEFAULT_ROWS = 100;

type Fields = Readonly<Record<string, z.ZodType>>;

interface Operation {
  readonly summary: string;
  /** Of the query, or of the body. */
  readonly fields?: Fields;
}

const rows = (maximum: number) =>
  z.int().min(1).max(maximum).default(DEFAULT_ROWS).describe('Maximum number of rows');

const QUERIES: Readonly<Record<QueryName, Operation>> = {
  snapshot: { summary: 'The state and the figures of the crawl' },
  history: { summary: 'The rates of the last ten minutes, the oldest first' },
  queues: {
    summary: 'The queues in the order of their class keys, each with the reason why it waits',
    fields: {
      limit: rows(MAX_ROWS),
      after: z.string().optional().describe('Only queues with a greater class key'),
      state: z.enum(QUEUE_STATES).optional(),
    },
  },
  hosts: {
    summary: 'Hosts and servers, those contacted last first',
    fields: {
      limit: rows(MAX_HOSTS),
      match: z.string().optional().describe('Only servers whose name contains this text'),
    },
  },
  retries: {
    summary: 'The URIs that wait for another attempt, the first due first',
    fields: { limit: rows(MAX_ROWS) },
  },
  workers: { summary: 'The busy workers, each with its URI and processor' },
  errors: { summary: 'The URIs that failed last, the newest first' },
  chains: { summary: 'The processors of each chain, with the number of their URIs' },
};

const ACTION_OPERATIONS: Readonly<Record<ActionName, Operation>> = {
  pause: { summary: 'Pauses the crawl when the URIs in process are finished' },
  resume: { summary: 'Continues a paused crawl' },
  checkpoint: { summary: 'Takes a checkpoint and verifies it' },
  stop: { summary: 'Ends the crawl; pending URIs stay for the next run' },
  'force-wake': { summary: 'Wakes snoozed queues' },
  'reconsider-retired': { summary: 'Lets retired queues continue' },
  'delete-uris': {
    summary: 'Deletes pending URIs',
    fields: {
      pattern: z.string().max(1024).describe('Of the whole URI, in RE2 syntax'),
      queuePattern: z.string().max(1024).optional().describe('Of the class key of the queue'),
    },
  },
  'kill-worker': {
    summary: 'Aborts the URI of a worker, which then fails with -7000',
    fields: { worker: z.int().min(0).max(999_999).describe('Number of the worker') },
  },
};

type Json = Readonly<Record<string, unknown>>;

const ACCESS = [{ token: [] }, { password: [] }];
const FAILURES: Readonly<Record<string, string>> = {
  400: 'The request is not valid',
  401: 'A token or a password is required',
  403: 'The request is not allowed',
  409: 'The state of the crawl does not allow it',
  429: 'Too many wrong passwords',
  500: 'The action failed',
};

/** Returns the document. */
export function openApiDocument(): Json {
  const paths: Record<string, Json> = {};
  for (const [name, operation] of Object.entries(QUERIES)) {
    const answer = QUERY_ANSWERS[name as QueryName];
    const parameters = Object.entries(operation.fields ?? {}).map(([field, type]) => parameter(field, type));
    paths[`/api/${name}`] = {
      get: {
        operationId: name,
        summary: operation.summary,
        ...(parameters.length === 0 ? {} : { parameters }),
        responses: { 200: json('The answer', answer), ...failures(400, 401, 403, 429, 500) },
      },
    };
  }
  for (const [name, operation] of Object.entries(ACTION_OPERATIONS)) {
    const answer = z.strictObject({
      ok: z.literal(true),
      text: z.string().describe('A sentence for people'),
      ...ACTION_ANSWERS[name as ActionName],
    });
    paths[`/api/${name}`] = {
      post: {
        operationId: name,
        summary: operation.summary,
        ...(operation.fields === undefined ? {} : { requestBody: bodyOf(operation.fields) }),
        responses: { 200: json('It is done', answer), ...failures(400, 401, 403, 409, 429, 500) },
      },
    };
  }
  paths[OPENAPI_PATH] = {
    get: {
      operationId: 'openapi',
      summary: 'This document',
      responses: {
        200: { description: 'OpenAPI 3.1', content: { 'application/json': {} } },
        ...failures(401, 403, 429),
      },
    },
  };
  paths['/metrics'] = {
    get: {
      operationId: 'metrics',
      summary: 'Figures in the text format of Prometheus',
      responses: { 200: text('The figures', 'text/plain'), ...failures(401, 403, 429) },
    },
  };
  paths['/events'] = {
    get: {
      operationId: 'events',
      summary: 'A stream with an event "snapshot" each second, whose data are the answer of /api/snapshot',
      responses: { 200: text('Server-sent events', 'text/event-stream'), ...failures(401, 403, 429) },
    },
  };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Console of a crawl',
      version: '1',
      description: 'Reports on a running crawl and controls it. Times are milliseconds since 1970.',
    },
    security: ACCESS,
    paths,
    components: {
      schemas: { Failure: schemaOf(failureSchema) },
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token in console.json, which only the user of the crawl can read',
        },
        password: {
          type: 'http',
          scheme: 'basic',
          description: 'The password of the console, with any user name',
        },
      },
    },
  };
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}

function parameter(name: string, type: z.ZodType): Json {
  const { description, ...schema } = schemaOf(type, 'input');
  // The document has no member that is undefined.
  return { name, in: 'query', ...defined({ description }), schema };
}

function bodyOf(fields: Fields): Json {
  const schema = schemaOf(z.object(fields), 'input');
  return {
    required: true,
    content: { 'application/json': { schema }, 'application/x-www-form-urlencoded': { schema } },
  };
}

function json(description: string, schema: z.ZodType): Json {
  return { description, content: { 'application/json': { schema: schemaOf(schema) } } };
}

function text(description: string, type: string): Json {
  return { description, content: { [type]: { schema: { type: 'string' } } } };
}

function failures(...statuses: readonly number[]): Json {
  const schema = { $ref: '#/components/schemas/Failure' };
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: FAILURES[status], content: { 'application/json': { schema } } },
    ]),
  );
}
