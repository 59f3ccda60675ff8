import { z } from 'zod';
import { SEEN_KINDS } from '../../../../storage/seen/index.js';
import { sequenceConfigSchema } from '../decide/rule-config.js';
import { crawlSettingsSchema } from './settings.js';

const count = z.int().min(0);

/** CRAWL-19.6: a sheet overrides some settings for the URIs under its SURT prefixes, or for which its rules say ACCEPT. */
export const sheetSchema = z.strictObject({
  name: z.string().min(1),
  /** Prefixes, URIs or host names, as in a seed list (CRAWL-15.2). */
  surts: z.array(z.string()).default([]),
  /** Decide rules (CRAWL-10.2). */
  rules: sequenceConfigSchema.default([]),
  settings: crawlSettingsSchema.partial(),
});

/** The whole order of a crawl (CRAWL-19.2): what is read once, the settings of all URIs, and the sheets that override them. */
export const crawlOrderSchema = z.strictObject({
  name: z.string().default('crawl'),
  /** CRAWL-10.1.5; a Gatherer's RootNodes and LeafNodes are seeds too. */
  seeds: z.array(z.string()).default([]),
  /** CRAWL-10.2: beside the limits of the RootNodes; empty: those alone decide. */
  scope: sequenceConfigSchema.default([]),

  /** CRAWL-20.3. */
  workers: z.int().min(1).max(1000).default(16),
  /** CRAWL-5.4 T1: queues start inactive when enough are ready. */
  holdQueues: z.boolean().default(true),
  targetReadyBacklog: z.int().min(1).default(50),
  /** CRAWL-5.4 T18. */
  snoozeDeactivateMs: count.default(300_000),
  /** CRAWL-7.6. */
  totalBandwidthKBs: z.number().min(0).default(0),
  /** CRAWL-4.4. */
  seen: z.enum(SEEN_KINDS).default('level'),
  /** CRAWL-2.9. */
  sourceTagSeeds: z.boolean().default(false),

  /** CRAWL-20.2; 0 is no limit. */
  maxBytes: count.default(0),
  maxDocuments: count.default(0),
  maxSeconds: count.default(0),
  /** CRAWL-20.4: the crawl pauses below this; 0 is never. */
  lowDiskMiB: count.default(512),
  pauseAtStart: z.boolean().default(false),
  pauseAtFinish: z.boolean().default(false),
  dumpPendingAtClose: z.boolean().default(false),
  /** A worker that is busy with one URI for longer is killed (-7000); 0 is never. */
  stuckSeconds: count.default(1200),

  /** CRAWL-17.1. */
  recoveryJournal: z.boolean().default(false),
  /** CRAWL-17.3.1: minutes; 0 is off. */
  checkpointMinutes: z.number().min(0).default(0),
  checkpointsKept: z.int().min(1).default(3),
  /** CRAWL-16: crawl.log and its companions. */
  logs: z.boolean().default(true),
  /** CRAWL-18.6: a directory for WARC files; empty: none are written. */
  warc: z
    .strictObject({
      directory: z.string().default(''),
      maxFileBytes: z.int().min(1024).default(1_000_000_000),
      compress: z.boolean().default(true),
      skipIdenticalDigests: z.boolean().default(false),
      prefix: z
        .string()
        .regex(/^[\w.-]+$/)
        .default('HARVEST'),
    })
    .prefault({}),
  /** The console (CRAWL-22 pain 3); port 0 is any free one, absent: none. */
  console: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port: z.int().min(0).max(65_535),
      /** Name of the environment variable that holds the password. */
      passwordEnvironment: z.string().default('HARVEST_CONSOLE_PASSWORD'),
    })
    .optional(),

  settings: crawlSettingsSchema.prefault({}),
  /** Applied in this order after prefixes of rising length: the last one wins (CRAWL-19.6). */
  sheets: z.array(sheetSchema).default([]),
});

export type CrawlOrderConfig = z.output<typeof crawlOrderSchema>;
export type CrawlOrderInput = z.input<typeof crawlOrderSchema>;
export type SheetConfig = z.output<typeof sheetSchema>;
