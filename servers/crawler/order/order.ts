// The schema of a crawl order, with the notes that `harvest crawl order` prints for operators.
import { z } from 'zod';
import { SEEN_KINDS } from '../../../storage/seen/index.js';
import { sequenceConfigSchema } from '../decide/rule-config.js';
import { browserSchema } from './browser.js';
import { chainsSchema } from './chain-config.js';
import { credentialsSchema } from './credentials.js';
import { withNote } from './setting-notes.js';
import { crawlSettingsSchema, settingsOverridesSchema } from './settings.js';
import { warcSchema } from './warc.js';

const count = z.int().min(0);

/**
 * CRAWL-19.6: a sheet overrides settings for the URIs under its SURT prefixes and for those that its rules
 * accept.
 */
const sheetSchema = z.strictObject({
  name: z.string().min(1),
  /** Prefixes, URIs or host names, as in a seed list (CRAWL-15.2). */
  surts: z.array(z.string()).default([]),
  /** Decide rules (CRAWL-10.2). */
  rules: sequenceConfigSchema.default([]),
  settings: settingsOverridesSchema.default({}),
});

/** The crawl mapper (CRAWL-9.8). */
export const mapperSchema = z.strictObject({
  crawlers: withNote(
    z.int().min(0).max(10_000).default(0),
    'CRAWL-9.8',
    'Number of crawlers that divide the web among themselves; 0: this one crawls everything',
    { unit: 'crawlers' },
  ),
  own: withNote(z.int().min(0).max(9_999).default(0), 'CRAWL-9.8', 'The number of this crawler, from 0'),
  by: withNote(
    z.enum(['domain', 'queue']).default('domain'),
    'CRAWL-9.8',
    'What decides which crawler is responsible: domain: the registered domain; queue: the whole class key',
  ),
  directory: withNote(
    z.string().default('diversions'),
    'CRAWL-9.8',
    "Directory of the files with the URIs of other crawlers; relative to the crawl's own directory",
  ),
});

/** The action directory (CRAWL-17.1.4). */
export const actionsSchema = z.strictObject({
  directory: withNote(
    z.string().default(''),
    'CRAWL-17.1.4',
    "Directory whose files are carried out while the crawl runs: NAME.seeds, .schedule, .force, .include, .recover; relative to the crawl's own directory; empty: none",
  ),
  firstLookSeconds: withNote(
    z.number().min(0).default(10),
    'CRAWL-17.1.4',
    'Time from the start of the crawl to the first look into it',
    { unit: 's' },
  ),
  lookSeconds: withNote(z.number().positive().default(30), 'CRAWL-17.1.4', 'Time between two looks into it', {
    unit: 's',
  }),
});

/** The console (CRAWL-22). */
export const consoleSchema = z.strictObject({
  host: withNote(z.string().default('127.0.0.1'), 'CRAWL-22.16', 'Address on which the console listens'),
  port: withNote(z.int().min(0).max(65_535), 'CRAWL-22.16', 'Port of the console; 0: any free port'),
  hostNames: withNote(
    z.array(z.string()).default([]),
    'CRAWL-22.16',
    'Names by which browsers may reach the console, besides localhost and IP addresses',
  ),
  passwordEnvironment: withNote(
    z.string().default('HARVEST_CONSOLE_PASSWORD'),
    'CRAWL-22.16',
    'Name of the environment variable that holds the password',
  ),
  certificate: withNote(
    z.string().default(''),
    'CRAWL-22.16',
    "PEM file with the console's certificate and those of its authorities, which makes it speak HTTPS; a renewed file is used within a minute; relative to the crawl's own directory",
  ),
  key: withNote(
    z.string().default(''),
    'CRAWL-22.16',
    "PEM file with the certificate's private key; relative to the crawl's own directory",
  ),
});

/**
 * The order of a crawl (CRAWL-19.2): options of the whole crawl, the settings of all URIs, and the sheets that
 * override them.
 */
export const crawlOrderSchema = z.strictObject({
  name: withNote(z.string().default('crawl'), 'CRAWL-19.2', 'Name of the crawl'),
  profile: withNote(
    z.enum(['gather', 'archive']).default('gather'),
    'CRAWL-22.6',
    'archive: images, styles and scripts are fetched as well, wherever they are (settings.embeds any), linked files of every type are (the default URL filter does not apply), cookies are kept, URLs stay as pages write them, requests name the page of the link (settings.urlForm, cookies, sendReferer); what the order gives precedes',
  ),
  seeds: withNote(
    z.array(z.string()).default([]),
    'CRAWL-10.1.5',
    "The seeds, in addition to a Gatherer's RootNodes and LeafNodes; with a scope only its rules limit them, without one they have the default limits of a RootNode",
  ),
  scope: withNote(
    sequenceConfigSchema.default([]),
    'CRAWL-10.2',
    'Decide rules in addition to the limits of the RootNodes',
  ),
  userAgent: withNote(
    z.string().default(''),
    'G-65, CRAWL-19.2',
    "The User-Agent of requests; empty: the Gatherer's",
    { original: 'user-agent' },
  ),
  from: withNote(z.string().default(''), 'G-65, CRAWL-19.2', "The From of requests; empty: the Gatherer's", {
    original: 'from',
  }),

  workers: withNote(
    z.int().min(1).max(1000).default(16),
    'CRAWL-20.3',
    'Number of URIs that are processed concurrently',
    { unit: 'workers', original: 'max-toe-threads' },
  ),
  holdQueues: withNote(
    z.boolean().default(true),
    'CRAWL-5.4 T1',
    'New queues stay inactive while enough queues are ready (targetReadyBacklog)',
    { original: 'hold-queues' },
  ),
  targetReadyBacklog: withNote(
    z.int().min(1).default(50),
    'CRAWL-5.4 T1',
    'Number of ready queues at which new queues stay inactive',
    { unit: 'queues', original: 'target-ready-backlog' },
  ),
  snoozeDeactivateMs: withNote(
    count.default(300_000),
    'CRAWL-5.4 T18',
    'A queue that must wait longer than this becomes inactive, so that another one can be active',
    { unit: 'ms', original: 'snooze-deactivate-ms' },
  ),
  totalBandwidthKBs: withNote(
    z.number().min(0).default(0),
    'CRAWL-7.6',
    'Bandwidth limit of the whole crawl; 0: no limit',
    { unit: 'KB/s', original: 'total-bandwidth-usage-KB-sec' },
  ),
  seen: withNote(z.enum(SEEN_KINDS).default('level'), 'CRAWL-4.4', 'Kind of the seen filter'),
  sourceTagSeeds: withNote(z.boolean().default(false), 'CRAWL-2.9', 'Every URI is tagged with its seed', {
    original: 'source-tag-seeds',
  }),

  dumpPendingAtClose: withNote(
    z.boolean().default(false),
    'CRAWL-5.6.6',
    'When the crawl ends by a limit or by its operator, crawl.log gets a line with status 0 for each URI that is left',
    { original: 'dump-pending-at-close' },
  ),
  maxBytes: withNote(count.default(0), 'CRAWL-20.2', 'The crawl ends after this many bytes; 0: no limit', {
    unit: 'bytes',
    original: 'max-bytes-download',
  }),
  maxDocuments: withNote(
    count.default(0),
    'CRAWL-20.2',
    'The crawl ends after this many documents; 0: no limit',
    { unit: 'documents', original: 'max-document-download' },
  ),
  maxSeconds: withNote(count.default(0), 'CRAWL-20.2', 'The crawl ends after this time; 0: no limit', {
    unit: 's',
    original: 'max-time-sec',
  }),
  lowDiskMiB: withNote(
    count.default(512),
    'CRAWL-20.4, 22.10',
    'The crawl pauses while less disk space is free, says so, and resumes by itself; 0: never',
    { unit: 'MiB' },
  ),
  pauseAtStart: withNote(z.boolean().default(false), 'CRAWL-6.1', 'The crawl starts paused', {
    original: 'pause-at-start',
  }),
  pauseAtFinish: withNote(
    z.boolean().default(false),
    'CRAWL-6.1',
    'The crawl pauses, instead of ending, when no URI is left',
    { original: 'pause-at-finish' },
  ),
  stuckSeconds: withNote(
    count.default(1200),
    'CRAWL-20.3, 22.10',
    'A worker that is busy with one URI for longer than this is killed (-7000); 0: never',
    { unit: 's' },
  ),

  credentials: credentialsSchema,
  cookiesLoadFile: withNote(
    z.string().default(''),
    'CRAWL-11.8',
    "File in the format of Netscape whose cookies a new crawl begins with; relative to the crawl's own directory; empty: none",
    { original: 'load-cookies-from-file' },
  ),
  cookiesSaveFile: withNote(
    z.string().default(''),
    'CRAWL-11.8',
    "File in the format of Netscape to which the cookies are written when the crawl ends or stops; relative to the crawl's own directory; empty: none",
    { original: 'save-cookies-to-file' },
  ),
  recoveryJournal: withNote(z.boolean().default(false), 'CRAWL-17.1', 'The recovery journal is written', {
    original: 'recovery-log-enabled',
  }),
  checkpointMinutes: withNote(
    z.number().min(0).default(0),
    'CRAWL-17.3.1',
    'Interval of checkpoints, at least a minute after the first hundred of a run; 0: on request only',
    { unit: 'min' },
  ),
  checkpointsKept: withNote(z.int().min(1).default(3), 'CRAWL-17.3', 'Number of checkpoints to keep', {
    unit: 'checkpoints',
  }),
  logs: withNote(z.boolean().default(true), 'CRAWL-16', 'The logs of the crawl are written'),
  progressSeconds: withNote(
    z.number().min(0.01).max(86_400).default(20),
    'CRAWL-16.3',
    'Interval of the lines of figures in progress-statistics.log',
    { unit: 's', original: 'interval-seconds' },
  ),
  actions: actionsSchema.prefault({}),
  mapper: mapperSchema.prefault({}),
  warc: warcSchema.prefault({}),
  browser: browserSchema.prefault({}),
  /** Absent: the crawl has no console. */
  console: consoleSchema.optional(),

  /** CRAWL-11. */
  chains: chainsSchema.prefault({}),
  settings: crawlSettingsSchema.prefault({}),
  /** Applied in the order of CRAWL-19.6; the last one wins. */
  sheets: z.array(sheetSchema).default([]),
});

export type CrawlOrderConfig = z.output<typeof crawlOrderSchema>;
export type CrawlOrderInput = z.input<typeof crawlOrderSchema>;
export type SheetConfig = z.output<typeof sheetSchema>;
