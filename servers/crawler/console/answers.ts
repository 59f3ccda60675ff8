// What the console's addresses for programs answer, as schemas; they are the types of `control.ts`.
import { z } from 'zod';
import type {
  CheckpointInfo,
  CrawlSnapshot,
  HostReport,
  QueueReport,
  RecentError,
  WaitingReport,
  WorkerReport,
} from '../control.js';
import { CRAWL_STATES, END_REASONS, QUEUE_STATES, WAIT_REASONS } from '../control.js';
import { FIGURE_ROWS, FIGURES, type FigureName, PLOTS } from '../figures.js';
import type { Sample } from './history.js';

const count = z.int().min(0);
const amount = z.number().min(0);
const milliseconds = z.int().describe('Milliseconds since 1970');

/** A schema of exactly this type. */
function of<T>() {
  return <S extends z.ZodType<T>>(schema: S): S => schema;
}

const snapshot = of<CrawlSnapshot>()(
  z.strictObject({
    name: z.string(),
    time: milliseconds,
    state: z.enum(CRAWL_STATES),
    end: z.enum(END_REASONS).exactOptional().describe('Why the crawl ended'),
    pauseReason: z.string().exactOptional().describe('Why the crawl paused by itself'),
    ...(Object.fromEntries(FIGURE_ROWS.map(([name, { schema }]) => [name, schema])) as Record<
      FigureName,
      z.ZodType<number>
    >),
    queues: z.record(z.enum(QUEUE_STATES), count).describe('Queues by state'),
    reasons: z.partialRecord(z.enum(WAIT_REASONS), count).describe('Waiting queues in memory, by reason'),
    seenFilter: z.strictObject({ kind: z.string(), count, memoryBytes: count }),
    checkpoint: z.string().describe('The newest checkpoint; empty before the first one'),
  }),
);

const queue = of<QueueReport>()(
  z.strictObject({
    classKey: z.string(),
    state: z.enum(QUEUE_STATES),
    count: count.describe('Pending URIs'),
    enqueued: count.describe('URIs that were ever queued'),
    reason: z.enum(WAIT_REASONS).exactOptional().describe('Why it waits'),
    wakeTime: milliseconds.describe('End of its sleep, milliseconds since 1970; 0: it does not sleep'),
    precedence: z.number(),
    sessionBalance: z.number(),
    totalExpenditure: z.number(),
    totalBudget: z.number().describe('-1: no limit'),
    errors: count,
    lastPeeked: z.string(),
    lastQueued: z.string(),
  }),
);

const host = of<HostReport>()(
  z.strictObject({
    server: z.string().describe('host or host:port'),
    addresses: z.array(z.string()),
    robots: z.enum(['none', 'rules', 'allow-all', 'unavailable', 'pending']),
    crawlDelay: amount.exactOptional().describe('Seconds'),
    successes: count,
    failures: count,
    disregarded: count,
    robotsDenials: count,
    bytes: count,
    connectionErrors: count.describe('Failed contacts in a row'),
    lastContact: milliseconds,
  }),
);

const waiting = of<WaitingReport>()(
  z.strictObject({
    url: z.string(),
    classKey: z.string(),
    status: z.int().describe('Of the last attempt (CRAWL-8.1)'),
    attempts: count,
    dueTime: milliseconds,
    reason: z.string(),
  }),
);

const worker = of<WorkerReport>()(
  z.strictObject({
    worker: count,
    url: z.string(),
    step: z.string().describe('Name of the processor'),
    milliseconds: amount,
  }),
);

const recentError = of<RecentError>()(
  z.strictObject({ time: milliseconds, url: z.string(), status: z.int(), reason: z.string() }),
);

const sample = of<Sample>()(
  z.strictObject({
    time: milliseconds,
    ...(Object.fromEntries(
      Object.entries(PLOTS).map(([name, [figure]]) => [name, FIGURES[figure].schema as z.ZodType<number>]),
    ) as Record<keyof typeof PLOTS, z.ZodType<number>>),
  }),
);

const processor = z.strictObject({ chain: z.string(), processor: z.string(), uris: count });

const checkpoint = of<CheckpointInfo>()(
  z.strictObject({
    name: z.string(),
    directory: z.string(),
    time: milliseconds,
    queued: count,
    succeeded: count,
    bytes: count,
  }),
);

/** The answer to a request that cannot be done. */
export const failureSchema = z.strictObject({ ok: z.literal(false), error: z.string() });

/** The answers of `GET /api/NAME`. */
export const QUERY_ANSWERS = {
  snapshot,
  history: z.strictObject({ samples: z.array(sample) }),
  queues: z.strictObject({
    queues: z.array(queue),
    next: z
      .string()
      .exactOptional()
      .describe('More queues follow: the value of "after" for the next request'),
  }),
  hosts: z.strictObject({ hosts: z.array(host) }),
  retries: z.strictObject({ retries: z.array(waiting) }),
  workers: z.strictObject({ workers: z.array(worker) }),
  errors: z.strictObject({ errors: z.array(recentError) }),
  chains: z.strictObject({ processors: z.array(processor) }),
} as const;
export type QueryName = keyof typeof QUERY_ANSWERS;

/** Members of the answers of `POST /api/NAME` beside `ok` and `text`. */
export const ACTION_ANSWERS = {
  pause: {},
  resume: {},
  checkpoint: { checkpoint },
  stop: {},
  'force-wake': {},
  'reconsider-retired': { queues: count },
  'delete-uris': { deleted: count },
  'kill-worker': {},
} as const satisfies Readonly<Record<string, z.core.$ZodShape>>;
export type ActionName = keyof typeof ACTION_ANSWERS;
