import { z } from 'zod';
import { ROBOTS_POLICIES } from '../../../protocols/robots/index.js';
import { QUEUE_POLICIES } from '../../../protocols/urls/index.js';

/** What is said of a setting beside its schema: read by `describe.ts`, and by nothing else. */
export interface SettingNote {
  readonly text: string;
  /** Empty: a number without one, or no number. */
  readonly unit: string;
  /** The rule that it comes from. */
  readonly rule: string;
}

/** The notes of all settings, by their schemas. */
export const settingNotes = z.registry<SettingNote>();

/** Adds the note to the schema. */
export function noted<T extends z.ZodType>(schema: T, rule: string, text: string, unit = ''): T {
  settingNotes.add(schema, { text, unit, rule });
  return schema;
}

const count = z.int().min(0);
const milliseconds = z.int().min(0);
const seconds = z.number().min(0);
/** Where -1 stands for "no limit". */
const limit = z.int().min(-1);
/** Kilobytes a second; 0 is off. */
const bandwidth = z.number().min(0);

const QUOTA_UNITS = { Successes: 'URIs', SuccessKB: 'KB', Responses: 'URIs', AllKB: 'KB' } as const;

/** CRAWL-11.3: one limit; what is counted is in its name. */
function quota(unit: string, what: string): z.ZodDefault<typeof limit> {
  return noted(limit.default(-1), 'CRAWL-11.3', `Most ${what}; -1: no limit`, unit);
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
 * What is read in the context of a URI, so that a sheet can override it for some of them (CRAWL-19.5). Names and defaults are
 * those of CRAWL-6.1, 6.4 and 11.3, in this project's spelling.
 */
export const crawlSettingsSchema = z.strictObject({
  delayFactor: noted(
    z.number().min(0).default(5),
    'CRAWL-7.1 step 1',
    'A queue waits this many times the duration of its last fetch',
  ),
  minDelayMs: noted(
    milliseconds.default(3000),
    'CRAWL-7.1 step 2',
    'Least wait of a queue after a fetch',
    'ms',
  ),
  maxDelayMs: noted(milliseconds.default(30_000), 'CRAWL-7.1 step 2', 'Longest such wait', 'ms'),
  respectCrawlDelayUpToSecs: noted(
    seconds.default(300),
    'CRAWL-7.1 step 3',
    'A Crawl-delay of robots.txt is honored up to this',
    's',
  ),
  maxPerHostBandwidthKBs: noted(
    bandwidth.default(0),
    'CRAWL-7.1 step 4',
    'Bandwidth that one host may give; 0: no limit',
    'KB/s',
  ),
  bandwidthReading: noted(
    z.enum(['sum', 'maximum']).default('sum'),
    'CRAWL-7.5',
    'sum: the wait for the bandwidth comes on top of the other; maximum: the longer of both, one document late (CRAWL-7.4)',
  ),
  respectRetryAfterUpToSecs: noted(
    seconds.default(300),
    'CRAWL-22 pain 4',
    'The Retry-After of a 429 or 503 is obeyed up to this',
    's',
  ),

  maxRetries: noted(
    count.default(30),
    'CRAWL-8.3',
    'Attempts before a URI fails for good; every hand-back counts',
    'attempts',
  ),
  retryDelaySeconds: noted(
    seconds.default(900),
    'CRAWL-8.3',
    'Wait before a URI whose contact failed is tried again',
    's',
  ),

  queueAssignment: noted(z.enum(QUEUE_POLICIES).default('host'), 'CRAWL-9', 'What shares a queue'),
  forceQueue: noted(
    z
      .string()
      .regex(/^[\w.,:#-]*$/)
      .default(''),
    'CRAWL-9.7',
    'A fixed class key; empty: by queueAssignment',
  ),
  parallelQueues: noted(
    z.int().min(1).max(64).default(1),
    'CRAWL-9.7',
    'Queues of one class key, by the first segment of the path',
    'queues',
  ),
  costPolicy: noted(
    z.enum(['zero', 'unit', 'wag', 'anti-calendar']).default('unit'),
    'CRAWL-9.10',
    "What a URI takes from its queue's budgets",
  ),
  uriPrecedence: noted(
    z.enum(['cost', 'base', 'hops']).default('cost'),
    'CRAWL-9.11',
    'Which URI of a queue comes first',
  ),
  queuePrecedence: noted(
    z.enum(['base', 'success-counts']).default('base'),
    'CRAWL-9.11',
    'Which queue comes first',
  ),
  preferenceEmbedHops: noted(
    z.int().min(0).default(1),
    'CRAWL-2.6',
    'Embeds up to this many hops deep go before other URIs',
    'hops',
  ),
  preferenceDepthHops: noted(
    z.int().min(-1).default(-1),
    'CRAWL-2.6',
    'Hops up to which depth goes before breadth; -1: never',
    'hops',
  ),

  balanceReplenishAmount: noted(
    count.default(3000),
    'CRAWL-5.4.1',
    'What a queue may spend (costs of its URIs) before others have their turn',
    'cost',
  ),
  errorPenaltyAmount: noted(count.default(100), 'CRAWL-6.1', 'What a failed URI costs more', 'cost'),
  queueTotalBudget: noted(
    limit.default(-1),
    'CRAWL-6.1',
    'A queue that spent more is retired; -1: no limit',
    'cost',
  ),

  seenRules: noted(
    z.array(z.string()).default([]),
    'CRAWL-14',
    "Names of the rules of the seen test, in this order; empty: the Gatherer's canonical URL is the key (G-57)",
  ),
  maxUrisPerPattern: noted(
    count.default(0),
    'CRAWL-22, G-173',
    'URIs of a host that differ only in their numbers, beyond which they are left out; 0: none is',
    'URIs',
  ),
  maxOutlinks: noted(
    count.default(10_000),
    'G-173, CRAWL-6.1',
    'Links of one document beyond this are dropped',
    'links',
  ),

  robotsPolicy: noted(
    z.enum(ROBOTS_POLICIES).default('classic'),
    'CRAWL-13.4, 13.6',
    'How robots.txt is honored',
  ),
  robotsAnswers: noted(
    z.enum(['strict', 'original']).default('strict'),
    'G-63, CRAWL-13.3 item 11',
    'strict: redirects of robots.txt are followed, and a 5xx is a failure; original: either allows everything',
  ),
  customRobots: noted(
    z.string().default(''),
    'CRAWL-13.4',
    "The operator's own robots.txt, for the policy custom",
  ),
  userAgents: noted(z.array(z.string()).default([]), 'CRAWL-13.4', 'The set of the policy most-favored-set'),
  masquerade: noted(
    z.boolean().default(false),
    'CRAWL-13.5',
    'With a most-favored policy: fetch as the agent that is allowed',
  ),
  robotsUnreachable: noted(
    z.enum(['forbid', 'allow']).default('forbid'),
    'CRAWL-13.3 item 12, 21',
    'What three failures to get robots.txt mean',
  ),
  calculateRobotsOnly: noted(
    z.boolean().default(false),
    'CRAWL-12.5',
    'robots.txt forbids nothing: what it would is only noted (robotExcluded)',
  ),
  robotsValiditySeconds: noted(
    seconds.default(86_400),
    'CRAWL-13.3 item 13',
    'How long a robots.txt holds; 0: for ever',
    's',
  ),
  ipValiditySeconds: noted(
    seconds.default(21_600),
    'CRAWL-12.3',
    'How long the addresses of a name hold; 0: for ever',
    's',
  ),

  digestStripPattern: noted(
    z.string().default(''),
    'CRAWL-18.7',
    'Text that matches this, e.g. a counter or a date, does not count for the digest of a page; empty: all of it counts',
  ),
  digestStripMaxKB: noted(
    limit.default(1024),
    'CRAWL-18.7',
    'Larger pages are digested as they are; -1: no limit',
    'KB',
  ),
  skipUnchanged: noted(
    z.boolean().default(false),
    'CRAWL-18.8',
    'A page with the digest of its last fetch is not read again: its links are not followed, its object is not refreshed',
  ),
  runtimeSeconds: noted(
    count.default(0),
    'CRAWL-11.3',
    'Seconds of crawling after which runtimeOperation applies; 0: never',
    's',
  ),
  runtimeOperation: noted(
    z.enum(['pause', 'terminate', 'block']).default('pause'),
    'CRAWL-11.3',
    'pause or end the crawl, or fail the URIs that follow (-5004); a sheet should only block',
  ),

  quotas: quotasSchema.prefault({}),
  quotaForceRetire: noted(
    z.boolean().default(true),
    'CRAWL-11.3',
    'Over a quota the queue is retired instead of the URI being failed',
  ),
  blockAll: noted(z.boolean().default(false), 'CRAWL-11.2', 'Nothing is fetched (-5001)'),
  blockPattern: noted(
    z.string().default(''),
    'CRAWL-11.2',
    'URIs that match this as a whole are not fetched (-5001); empty: none',
  ),
  allowPattern: noted(
    z.string().default(''),
    'CRAWL-11.2',
    'Only URIs that match this as a whole are fetched; empty: all',
  ),
});

/** Resolved for one URI. */
export type CrawlSettings = z.output<typeof crawlSettingsSchema>;
/** As an operator writes them. */
export type CrawlSettingsInput = z.input<typeof crawlSettingsSchema>;

/** A field of a schema whose default is no more: what is not said stays unsaid. */
type Unsaid<T> = T extends z.ZodDefault<infer Inner> ? z.ZodOptional<Inner> : T;
type UnsaidShape<S> = { [K in keyof S]: Unsaid<S[K]> };

/** The same fields without their defaults: `partial()` alone would fill them in. */
function withoutDefaults<S extends z.core.$ZodLooseShape>(shape: S): UnsaidShape<S> {
  const fields = Object.entries(shape).map(([name, field]) => [
    name,
    field instanceof z.ZodDefault ? z.optional(field.unwrap()) : field,
  ]);
  return Object.fromEntries(fields) as UnsaidShape<S>;
}

const { quotas: _, ...plainSettings } = crawlSettingsSchema.shape;

/** CRAWL-19.6: what a sheet says: any of the settings, and of the quotas any. What it does not name it leaves alone. */
export const settingsOverridesSchema = z.strictObject({
  ...withoutDefaults(plainSettings),
  quotas: z.strictObject(withoutDefaults(quotasSchema.shape)).optional(),
});

export type SettingsOverrides = z.output<typeof settingsOverridesSchema>;
