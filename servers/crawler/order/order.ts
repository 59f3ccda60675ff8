import { z } from 'zod';
import { SEEN_KINDS } from '../../../storage/seen/index.js';
import { sequenceConfigSchema } from '../decide/rule-config.js';
import { crawlSettingsSchema, noted, settingsOverridesSchema } from './settings.js';

const count = z.int().min(0);

/** CRAWL-19.6: a sheet overrides some settings for the URIs under its SURT prefixes, or for which its rules say ACCEPT. */
const sheetSchema = z.strictObject({
  name: z.string().min(1),
  /** Prefixes, URIs or host names, as in a seed list (CRAWL-15.2). */
  surts: z.array(z.string()).default([]),
  /** Decide rules (CRAWL-10.2). */
  rules: sequenceConfigSchema.default([]),
  settings: settingsOverridesSchema.default({}),
});

/** CRAWL-18.6. */
export const warcSchema = z.strictObject({
  directory: noted(z.string().default(''), 'CRAWL-18.6', 'Where WARC files go; empty: none are written'),
  maxFileBytes: noted(
    z.int().min(1024).default(1_000_000_000),
    'CRAWL-18.6',
    'A new file begins behind this',
    'bytes',
  ),
  compress: noted(z.boolean().default(true), 'CRAWL-18.6', 'Each record is compressed by itself'),
  skipIdenticalDigests: noted(
    z.boolean().default(false),
    'CRAWL-18.6',
    'A document whose digest is known is not written at all',
  ),
  digestHistory: noted(
    z.boolean().default(false),
    'CRAWL-18.5',
    'A body that is archived under any URI is written as a revisit record',
  ),
  prefix: noted(
    z
      .string()
      .regex(/^[\w.-]+$/)
      .default('HARVEST'),
    'CRAWL-18.6',
    'How the names of the files begin',
  ),
});

/** The console (CRAWL-22 pain 3). */
export const consoleSchema = z.strictObject({
  host: noted(z.string().default('127.0.0.1'), 'CRAWL-22 pain 3', 'Address on which the console listens'),
  port: noted(z.int().min(0).max(65_535), 'CRAWL-22 pain 3', 'Its port; 0: any free one'),
  passwordEnvironment: noted(
    z.string().default('HARVEST_CONSOLE_PASSWORD'),
    'CRAWL-22 pain 3',
    'Name of the environment variable that holds the password',
  ),
});

/** The whole order of a crawl (CRAWL-19.2): what is read once, the settings of all URIs, and the sheets that override them. */
export const crawlOrderSchema = z.strictObject({
  name: noted(z.string().default('crawl'), 'CRAWL-19.2', 'Name of the crawl'),
  seeds: noted(
    z.array(z.string()).default([]),
    'CRAWL-10.1.5',
    "URIs with which the crawl begins; a Gatherer's RootNodes and LeafNodes are seeds too",
  ),
  scope: noted(
    sequenceConfigSchema.default([]),
    'CRAWL-10.2',
    'Decide rules beside the limits of the RootNodes; empty: those alone decide',
  ),
  userAgent: noted(
    z.string().default(''),
    'G-65, CRAWL-19.2',
    "The User-Agent that is sent; empty: the Gatherer's own",
  ),
  from: noted(z.string().default(''), 'G-65, CRAWL-19.2', "The From that is sent; empty: the Gatherer's own"),

  workers: noted(z.int().min(1).max(1000).default(16), 'CRAWL-20.3', 'URIs in work at one time', 'workers'),
  holdQueues: noted(z.boolean().default(true), 'CRAWL-5.4 T1', 'Queues start inactive when enough are ready'),
  targetReadyBacklog: noted(z.int().min(1).default(50), 'CRAWL-5.4 T1', 'How many are enough', 'queues'),
  snoozeDeactivateMs: noted(
    count.default(300_000),
    'CRAWL-5.4 T18',
    'A queue that has to sleep longer makes room for another',
    'ms',
  ),
  totalBandwidthKBs: noted(
    z.number().min(0).default(0),
    'CRAWL-7.6',
    'Bandwidth of the whole crawl; 0: no limit',
    'KB/s',
  ),
  seen: noted(z.enum(SEEN_KINDS).default('level'), 'CRAWL-4.4', 'How the URIs that were seen are kept'),
  sourceTagSeeds: noted(
    z.boolean().default(false),
    'CRAWL-2.9',
    'Every URI carries the seed that it descends from',
  ),

  maxBytes: noted(count.default(0), 'CRAWL-20.2', 'The crawl ends behind this; 0: no limit', 'bytes'),
  maxDocuments: noted(count.default(0), 'CRAWL-20.2', 'The crawl ends behind this; 0: no limit', 'documents'),
  maxSeconds: noted(count.default(0), 'CRAWL-20.2', 'The crawl ends behind this; 0: no limit', 's'),
  lowDiskMiB: noted(
    count.default(512),
    'CRAWL-20.4',
    'The crawl pauses when less is free on the disk; 0: never',
    'MiB',
  ),
  pauseAtStart: noted(z.boolean().default(false), 'CRAWL-6.1', 'The crawl waits to be resumed'),
  pauseAtFinish: noted(
    z.boolean().default(false),
    'CRAWL-6.1',
    'When nothing is left the crawl waits for more',
  ),
  stuckSeconds: noted(
    count.default(1200),
    'CRAWL-20.3',
    'A worker that is busy with one URI for longer is killed (-7000); 0: never',
    's',
  ),

  recoveryJournal: noted(
    z.boolean().default(false),
    'CRAWL-17.1',
    'What the frontier does is written to a journal',
  ),
  checkpointMinutes: noted(
    z.number().min(0).default(0),
    'CRAWL-17.3.1',
    'Time between checkpoints; 0: only when asked',
    'min',
  ),
  checkpointsKept: noted(
    z.int().min(1).default(3),
    'CRAWL-17.3',
    'Older checkpoints are deleted',
    'checkpoints',
  ),
  logs: noted(z.boolean().default(true), 'CRAWL-16', 'crawl.log and its companions are written'),
  warc: warcSchema.prefault({}),
  /** Absent: there is none. */
  console: consoleSchema.optional(),

  settings: crawlSettingsSchema.prefault({}),
  /** Applied after each other; see CRAWL-19.6 for the order. The last one wins. */
  sheets: z.array(sheetSchema).default([]),
});

export type CrawlOrderConfig = z.output<typeof crawlOrderSchema>;
export type CrawlOrderInput = z.input<typeof crawlOrderSchema>;
export type SheetConfig = z.output<typeof sheetSchema>;
