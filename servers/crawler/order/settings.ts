import { z } from 'zod';
import { ROBOTS_POLICIES } from '../../../protocols/robots/index.js';
import { QUEUE_POLICIES } from '../../../protocols/urls/index.js';

/** Description of a setting in addition to its schema, for `describe.ts`. */
export interface SettingNote {
  readonly text: string;
  /** Empty for a setting without a unit. */
  readonly unit: string;
  /** The rule that defines it. */
  readonly rule: string;
}

/** The notes of all settings by schema. */
export const settingNotes = z.registry<SettingNote>();

/** Registers a note for a schema and returns the schema. */
export function withNote<T extends z.ZodType>(schema: T, rule: string, text: string, unit = ''): T {
  settingNotes.add(schema, { text, unit, rule });
  return schema;
}

const count = z.int().min(0);
const milliseconds = z.int().min(0);
const seconds = z.number().min(0);
/** -1: no limit. */
const limit = z.int().min(-1);
/** Kilobytes per second; 0: no limit. */
const bandwidth = z.number().min(0);

const QUOTA_UNITS = { Successes: 'URIs', SuccessKB: 'KB', Responses: 'URIs', AllKB: 'KB' } as const;

/** Returns the schema of a quota (CRAWL-11.3). */
function quota(unit: string, subject: string): z.ZodDefault<typeof limit> {
  return withNote(limit.default(-1), 'CRAWL-11.3', `Limit of ${subject}; -1: no limit`, unit);
}

const { Successes, SuccessKB, Responses, AllKB } = QUOTA_UNITS;

/** CRAWL-11.3. */
export const quotasSchema = z.strictObject({
  serverMaxSuccesses: quota(Successes, 'successes of one server'),
  serverMaxSuccessKB: quota(SuccessKB, 'bytes of the successes of one server'),
  serverMaxResponses: quota(Responses, 'responses of one server'),
  serverMaxAllKB: quota(AllKB, 'bytes of all responses of one server'),
  hostMaxSuccesses: quota(Successes, 'successes of one host'),
  hostMaxSuccessKB: quota(SuccessKB, 'bytes of the successes of one host'),
  hostMaxResponses: quota(Responses, 'responses of one host'),
  hostMaxAllKB: quota(AllKB, 'bytes of all responses of one host'),
  groupMaxSuccesses: quota(Successes, 'successes of one queue'),
  groupMaxSuccessKB: quota(SuccessKB, 'bytes of the successes of one queue'),
  groupMaxResponses: quota(Responses, 'responses of one queue'),
  groupMaxAllKB: quota(AllKB, 'bytes of all responses of one queue'),
});

/**
 * The settings of a URI, which sheets can override (CRAWL-19.5). Names and defaults are those of CRAWL-6.1, 6.4 and 11.3, in this project's
 * spelling.
 */
export const crawlSettingsSchema = z.strictObject({
  delayFactor: withNote(
    z.number().min(0).default(5),
    'CRAWL-7.1 step 1',
    'A queue waits this many times the duration of its last fetch',
  ),
  minDelayMs: withNote(
    milliseconds.default(3000),
    'CRAWL-7.1 step 2',
    'Shortest wait of a queue after a fetch',
    'ms',
  ),
  maxDelayMs: withNote(
    milliseconds.default(30_000),
    'CRAWL-7.1 step 2',
    'Longest wait of a queue after a fetch',
    'ms',
  ),
  respectCrawlDelayUpToSecs: withNote(
    seconds.default(300),
    'CRAWL-7.1 step 3',
    'A Crawl-delay of robots.txt is honored up to this',
    's',
  ),
  maxPerHostBandwidthKBs: withNote(
    bandwidth.default(0),
    'CRAWL-7.1 step 4',
    'Bandwidth limit of one host; 0: no limit',
    'KB/s',
  ),
  bandwidthReading: withNote(
    z.enum(['sum', 'maximum']).default('sum'),
    'CRAWL-7.5',
    'sum: the wait for bandwidth is added to the other wait; maximum: the longer of both, one document later (CRAWL-7.4)',
  ),
  respectRetryAfterUpToSecs: withNote(
    seconds.default(300),
    'CRAWL-22 pain 4',
    'The Retry-After of a 429 or 503 is honored up to this',
    's',
  ),

  maxRetries: withNote(count.default(30), 'CRAWL-8.3', 'Attempts before a URI fails for good', 'attempts'),
  retryDelaySeconds: withNote(
    seconds.default(900),
    'CRAWL-8.3',
    'Wait before the retry of a URI after a failed contact',
    's',
  ),

  queueAssignment: withNote(z.enum(QUEUE_POLICIES).default('host'), 'CRAWL-9', 'Which URIs share a queue'),
  forceQueue: withNote(
    z
      .string()
      .regex(/^[\w.,:#-]*$/)
      .default(''),
    'CRAWL-9.7',
    'A fixed class key; empty: queueAssignment decides',
  ),
  parallelQueues: withNote(
    z.int().min(1).max(64).default(1),
    'CRAWL-9.7',
    'Number of queues per class key, by the first segment of the path',
    'queues',
  ),
  costPolicy: withNote(
    z.enum(['zero', 'unit', 'wag', 'anti-calendar']).default('unit'),
    'CRAWL-9.10',
    "Cost of a URI to its queue's budgets",
  ),
  uriPrecedence: withNote(
    z.enum(['cost', 'base', 'hops']).default('cost'),
    'CRAWL-9.11',
    'Precedence of the URIs of a queue',
  ),
  queuePrecedence: withNote(
    z.enum(['base', 'success-counts']).default('base'),
    'CRAWL-9.11',
    'Precedence of the queues',
  ),
  preferenceEmbedHops: withNote(
    z.int().min(0).default(1),
    'CRAWL-2.6',
    'Embeds of up to this many hops precede other URIs',
    'hops',
  ),
  preferenceDepthHops: withNote(
    z.int().min(-1).default(-1),
    'CRAWL-2.6',
    'Hops up to which the crawl is depth-first; -1: never',
    'hops',
  ),

  balanceReplenishAmount: withNote(
    count.default(3000),
    'CRAWL-5.4.1',
    'Budget of a session, in costs of URIs, after which other queues follow',
    'cost',
  ),
  errorPenaltyAmount: withNote(count.default(100), 'CRAWL-6.1', 'Extra cost of a failed URI', 'cost'),
  queueTotalBudget: withNote(
    limit.default(-1),
    'CRAWL-6.1',
    'Budget of a queue, after which it is retired; -1: no limit',
    'cost',
  ),

  seenRules: withNote(
    z.array(z.string()).default([]),
    'CRAWL-14',
    "Rules of the seen test in their order; empty: the key is the Gatherer's canonical URL (G-57)",
  ),
  maxUrisPerPattern: withNote(
    count.default(0),
    'CRAWL-22, G-173',
    'Limit of URIs of a host that differ only in their numbers; 0: no limit',
    'URIs',
  ),
  maxOutlinks: withNote(count.default(10_000), 'G-173, CRAWL-6.1', 'Limit of links per document', 'links'),

  robotsPolicy: withNote(
    z.enum(ROBOTS_POLICIES).default('classic'),
    'CRAWL-13.4, 13.6',
    'How robots.txt is honored',
  ),
  robotsAnswers: withNote(
    z.enum(['strict', 'original']).default('strict'),
    'G-63, CRAWL-13.3 item 11',
    'strict: redirects of robots.txt are followed, and a 5xx is a failure; original: both allow everything',
  ),
  customRobots: withNote(
    z.string().default(''),
    'CRAWL-13.4',
    "The operator's own robots.txt, for the policy custom",
  ),
  userAgents: withNote(
    z.array(z.string()).default([]),
    'CRAWL-13.4',
    'The agents of the policy most-favored-set',
  ),
  masquerade: withNote(
    z.boolean().default(false),
    'CRAWL-13.5',
    'With a most-favored policy: fetch as the agent that is allowed',
  ),
  robotsUnreachable: withNote(
    z.enum(['forbid', 'allow']).default('forbid'),
    'CRAWL-13.3 item 12, 21',
    'The effect of three failures to get robots.txt',
  ),
  calculateRobotsOnly: withNote(
    z.boolean().default(false),
    'CRAWL-12.5',
    'robots.txt forbids nothing; URIs that it would forbid are annotated (robotExcluded)',
  ),
  robotsValiditySeconds: withNote(
    seconds.default(86_400),
    'CRAWL-13.3 item 13',
    'Validity of a robots.txt; 0: no expiry',
    's',
  ),
  ipValiditySeconds: withNote(
    seconds.default(21_600),
    'CRAWL-12.3',
    'Validity of the addresses of a name; 0: no expiry',
    's',
  ),

  digestStripPattern: withNote(
    z.string().default(''),
    'CRAWL-18.7',
    'Text that matches this, e.g. a counter or a date, does not count for the digest of a page; empty: all text counts',
  ),
  digestStripMaxKB: withNote(
    limit.default(1024),
    'CRAWL-18.7',
    'Larger pages are digested as they are; -1: no limit',
    'KB',
  ),
  skipUnchanged: withNote(
    z.boolean().default(false),
    'CRAWL-18.8',
    'A page with the digest of its last fetch is not read again: its links are not followed, its object is not refreshed',
  ),
  runtimeSeconds: withNote(
    count.default(0),
    'CRAWL-11.3',
    'Seconds of crawling after which runtimeOperation applies; 0: never',
    's',
  ),
  runtimeOperation: withNote(
    z.enum(['pause', 'terminate', 'block']).default('pause'),
    'CRAWL-11.3',
    'pause or end the crawl, or fail the URIs that follow (-5004); a sheet should only block',
  ),

  quotas: quotasSchema.prefault({}),
  quotaForceRetire: withNote(
    z.boolean().default(true),
    'CRAWL-11.3',
    'At a quota the queue is retired, instead of failing the URI',
  ),
  blockAll: withNote(z.boolean().default(false), 'CRAWL-11.2', 'No URI is fetched (-5001)'),
  blockPattern: withNote(
    z.string().default(''),
    'CRAWL-11.2',
    'URIs that match this as a whole are not fetched (-5001); empty: no URI is blocked',
  ),
  allowPattern: withNote(
    z.string().default(''),
    'CRAWL-11.2',
    'Only URIs that match this as a whole are fetched; empty: all',
  ),
});

/** The settings of one URI. */
export type CrawlSettings = z.output<typeof crawlSettingsSchema>;
/** Settings as an operator writes them. */
export type CrawlSettingsInput = z.input<typeof crawlSettingsSchema>;

/** A field without its default: an absent value stays absent. */
type WithoutDefault<T> = T extends z.ZodDefault<infer Inner> ? z.ZodOptional<Inner> : T;
type ShapeWithoutDefaults<S> = { [K in keyof S]: WithoutDefault<S[K]> };

/** Removes the defaults of fields, which `partial()` would apply. */
function withoutDefaults<S extends z.core.$ZodLooseShape>(shape: S): ShapeWithoutDefaults<S> {
  const fields = Object.entries(shape).map(([name, field]) => [
    name,
    field instanceof z.ZodDefault ? z.optional(field.unwrap()) : field,
  ]);
  return Object.fromEntries(fields) as ShapeWithoutDefaults<S>;
}

const { quotas: _, ...plainSettings } = crawlSettingsSchema.shape;

/** CRAWL-19.6: the settings of a sheet: any settings and any quotas. Absent ones are not overridden. */
export const settingsOverridesSchema = z.strictObject({
  ...withoutDefaults(plainSettings),
  quotas: z.strictObject(withoutDefaults(quotasSchema.shape)).optional(),
});

export type SettingsOverrides = z.output<typeof settingsOverridesSchema>;
