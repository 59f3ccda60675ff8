// The console's answers to programs: a row has everything that the route, the OpenAPI document and the client
// need.
import { z } from 'zod';
import { UsageError } from '../../../protocols/errors.js';
import {
  hostSchema,
  list,
  processorSchema,
  type QueueReport,
  queueSchema,
  recentErrorSchema,
  snapshotSchema,
  waitingSchema,
  workerSchema,
} from '../control.js';
import { QUEUE_STATES, type QueueState } from '../states.js';
import type { ConsoleContext } from './context.js';
import { sampleSchema } from './history.js';

/**
 * Maximum and default number of rows of one answer. The list of servers has no pages, so its maximum is higher.
 */
export const MAX_ROWS = 1000;
export const MAX_HOSTS = 10_000;
const DEFAULT_ROWS = 100;

/** The fields of a query or of a body, for the OpenAPI document. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** The answer to a request that cannot be done. */
export const failureSchema = z.object({ ok: z.literal(false), error: z.string() });

interface Query<T> {
  readonly summary: string;
  readonly fields?: Fields;
  readonly answer: z.ZodType<T>;
  run(context: ConsoleContext, query: URLSearchParams): T | Promise<T>;
}

function query<T>(row: Query<T>): Query<T> {
  return row;
}

const rows = (maximum: number) =>
  z.int().min(1).max(maximum).default(DEFAULT_ROWS).describe('Maximum number of rows');

/** `GET /api/NAME`. */
export const QUERIES = {
  snapshot: query({
    summary: 'The state and the figures of the crawl',
    answer: snapshotSchema,
    run: ({ control }) => control.overview(),
  }),
  history: query({
    summary: 'The rates of the last ten minutes, the oldest first',
    answer: z.object({ samples: list(sampleSchema) }),
    run: ({ feed }) => ({ samples: feed.history.samples() }),
  }),
  queues: query({
    summary: 'The queues in the order of their class keys, each with the reason why it waits',
    fields: {
      limit: rows(MAX_ROWS),
      after: z.string().optional().describe('Only queues with a greater class key'),
      state: z.enum(QUEUE_STATES).optional(),
    },
    answer: z.object({
      queues: list(queueSchema),
      next: z.string().optional().describe('More queues follow: the value of "after" for the next request'),
    }),
    run: async ({ control }, query) => {
      const limit = limitOf(query);
      const after = query.get('after') ?? '';
      const found = await control.queues({ state: stateOf(query), after, limit: limit + 1 });
      const { rows, last } = cutPage(found, limit);
      return { queues: rows, next: last };
    },
  }),
  hosts: query({
    summary: 'Hosts and servers, those contacted last first',
    fields: {
      limit: rows(MAX_HOSTS),
      match: z.string().optional().describe('Only servers whose name contains this text'),
    },
    answer: z.object({ hosts: list(hostSchema) }),
    run: ({ control }, query) => {
      const match = query.get('match') ?? '';
      return { hosts: control.servers.report({ limit: limitOf(query, MAX_HOSTS), match }) };
    },
  }),
  retries: query({
    summary: 'The URIs that wait for another attempt, the first due first',
    fields: { limit: rows(MAX_ROWS) },
    answer: z.object({ retries: list(waitingSchema) }),
    run: async ({ control }, query) => ({ retries: await control.retries({ limit: limitOf(query) }) }),
  }),
  workers: query({
    summary: 'The busy workers, each with its URI and processor',
    answer: z.object({ workers: list(workerSchema) }),
    run: ({ control }) => ({ workers: control.workers.reports() }),
  }),
  errors: query({
    summary: 'The URIs that failed last, the newest first',
    answer: z.object({ errors: list(recentErrorSchema) }),
    run: ({ control }) => ({ errors: control.statistics.recentErrors() }),
  }),
  chains: query({
    summary: 'The processors of each chain, with the number of their URIs',
    answer: z.object({ processors: list(processorSchema) }),
    run: ({ control }) => ({ processors: control.chains() }),
  }),
} as const;
export type QueryName = keyof typeof QUERIES;
export type QueryAnswer<K extends QueryName> = z.infer<(typeof QUERIES)[K]['answer']>;

function limitOf(query: URLSearchParams, maximum = MAX_ROWS): number {
  const text = query.get('limit') ?? String(DEFAULT_ROWS);
  const limit = Number(text);
  if (!/^\d{1,6}$/.test(text) || limit < 1 || limit > maximum)
    throw new UsageError(`limit: expected a number from 1 to ${maximum}`);
  return limit;
}

function stateOf(query: URLSearchParams): QueueState | undefined {
  const text = query.get('state') ?? '';
  if (text === '') return undefined;
  const state = QUEUE_STATES.find((known) => known === text);
  if (state === undefined) throw new UsageError(`state: expected one of ${QUEUE_STATES.join(', ')}`);
  return state;
}

/** Cuts a list to a page. If it has more rows, `last` is the class key after which the next page begins. */
export function cutPage(
  queues: readonly QueueReport[],
  limit: number,
): { readonly rows: readonly QueueReport[]; readonly last: string | undefined } {
  const rows = queues.slice(0, limit);
  return { rows, last: queues.length > limit ? rows.at(-1)?.classKey : undefined };
}
