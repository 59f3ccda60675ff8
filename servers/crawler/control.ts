// The reports of a running crawl. Their schemas are the console's JSON, its OpenAPI document and the checks of its
// client.
import { z } from 'zod';
import { FIGURE_SCHEMAS } from './figures.js';
import { CRAWL_STATES, END_REASONS, QUEUE_STATES, type QueueState, WAIT_REASONS } from './states.js';

const count = z.int().min(0);
const amount = z.number().min(0);
export const milliseconds = z.int().describe('Milliseconds since 1970');

/** A process that shares the crawl with others. */
const processSchema = z.object({
  name: z.string(),
  partitions: count.describe('Parts of the queues that it has'),
  state: z.enum(CRAWL_STATES),
  succeeded: count.describe('In the parts that it has'),
  queued: count,
  currentDocumentsPerSecond: amount,
  currentKilobytesPerSecond: amount,
  busyWorkers: count,
  workers: count,
});
export type CrawlProcess = Readonly<z.infer<typeof processSchema>>;

/** The state and figures of the crawl at one moment. Taking a snapshot every second costs little. */
export const snapshotSchema = z.object({
  name: z.string(),
  time: milliseconds,
  state: z.enum(CRAWL_STATES),
  end: z.enum(END_REASONS).optional().describe('Why the crawl ended'),
  pauseReason: z.string().optional().describe('Why the crawl paused by itself'),
  ...FIGURE_SCHEMAS,
  queues: z.record(z.enum(QUEUE_STATES), count).describe('Queues by state'),
  reasons: z.partialRecord(z.enum(WAIT_REASONS), count).describe('Waiting queues in memory, by reason'),
  seenFilter: z.object({ kind: z.string(), count, memoryBytes: count }),
  checkpoint: z.string().describe('The newest checkpoint; empty before the first one'),
  processes: list(processSchema)
    .exactOptional()
    .describe('Those that share the crawl; the figures are of all of them, a few seconds old of the others'),
});
export type CrawlSnapshot = Readonly<z.infer<typeof snapshotSchema>>;

/** The report of one queue. */
export const queueSchema = z.object({
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
});
export type QueueReport = Readonly<z.infer<typeof queueSchema>>;

/** CRAWL-12.2, 16.6: the report of one host or server. */
export const hostSchema = z.object({
  server: z.string().describe('host or host:port'),
  addresses: list(z.string()),
  robots: z.enum(['none', 'rules', 'allow-all', 'unavailable', 'pending']),
  crawlDelay: amount.optional().describe('Seconds'),
  successes: count,
  failures: count,
  disregarded: count,
  robotsDenials: count,
  bytes: count,
  connectionErrors: count.describe('Failed contacts in a row'),
  /** When the last contact ended. */
  lastContact: milliseconds,
});
export type HostReport = Readonly<z.infer<typeof hostSchema>>;

/** A URI that waits for a retry beside its queue. */
export const waitingSchema = z.object({
  url: z.string(),
  classKey: z.string(),
  status: z.int().describe('Of the last attempt (CRAWL-8.1)'),
  attempts: count,
  /** When it returns to its queue. */
  dueTime: milliseconds,
  reason: z.string(),
});
export type WaitingReport = Readonly<z.infer<typeof waitingSchema>>;

/** The URI of a busy worker (CRAWL-20.3). */
export const workerSchema = z.object({
  worker: count,
  url: z.string(),
  step: z.string().describe('Name of the processor'),
  milliseconds: amount,
});
export type WorkerReport = Readonly<z.infer<typeof workerSchema>>;

/** A failed URI in the list of recent errors. */
export const recentErrorSchema = z.object({
  time: milliseconds,
  url: z.string(),
  status: z.int(),
  reason: z.string(),
});
export type RecentError = Readonly<z.infer<typeof recentErrorSchema>>;

/** A processor of a chain, with the number of URIs that it received. */
export const processorSchema = z.object({ chain: z.string(), processor: z.string(), uris: count });
export type ProcessorReport = Readonly<z.infer<typeof processorSchema>>;

/** A checkpoint that was taken and verified (CRAWL-17.3). */
export const checkpointSchema = z.object({
  name: z.string(),
  directory: z.string(),
  time: milliseconds,
  queued: count,
  succeeded: count,
  bytes: count,
});
export type CheckpointInfo = Readonly<z.infer<typeof checkpointSchema>>;

/** A schema of a list, which its readers do not change. */
export function list<T>(row: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.array(row);
}

/** Selects the queues of a report. */
export interface QueueSelection {
  /** Default: queues with pending URIs. */
  readonly state?: QueueState | undefined;
  /** The last class key of the previous page. Default: empty, the first page. */
  readonly after?: string;
  /** Default 100. */
  readonly limit?: number;
}
