// The console's interface for programs as an OpenAPI document, from the schemas of its answers (CRAWL-20, 22).
import { z } from 'zod';
import { defined } from '../../../protocols/defined.js';
import { ACTIONS } from './actions.js';
import { type Fields, failureSchema, QUERIES } from './queries.js';

/** Where the console serves the document. */
export const OPENAPI_PATH = '/api/openapi.json';

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
  for (const [name, { summary, fields = {}, answer }] of Object.entries(QUERIES)) {
    const parameters = Object.entries(fields).map(([field, type]) => parameter(field, type));
    paths[`/api/${name}`] = {
      get: {
        operationId: name,
        summary,
        ...(parameters.length === 0 ? {} : { parameters }),
        responses: { 200: json('The answer', answer), ...failures(400, 401, 403, 429, 500) },
      },
    };
  }
  for (const [name, { summary, fields, answer: members }] of Object.entries(ACTIONS)) {
    const answer = z.object({
      ok: z.literal(true),
      text: z.string().describe('A sentence for people'),
      ...members,
    });
    paths[`/api/${name}`] = {
      post: {
        operationId: name,
        summary,
        ...(fields === undefined ? {} : { requestBody: bodyOf(fields) }),
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
