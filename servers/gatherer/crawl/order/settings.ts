import { z } from 'zod';
import { ROBOTS_POLICIES } from '../../../../protocols/robots/index.js';
import { QUEUE_POLICIES } from '../../../../protocols/urls/index.js';

const count = z.int().min(0);
const milliseconds = z.int().min(0);
const seconds = z.number().min(0);
/** Where -1 stands for "no limit". */
const limit = z.int().min(-1);
/** Kilobytes a second; 0 is off. */
const bandwidth = z.number().min(0);

/**
 * What is read in the context of a URI, so that a sheet can override it for some of them (CRAWL-19.5). Names and defaults are
 * those of CRAWL-6.1, 6.4 and 11.3, in this project's spelling.
 */
export const crawlSettingsSchema = z.strictObject({
  /** CRAWL-7.1 step 1: wait this many times the duration of the last fetch. */
  delayFactor: z.number().min(0).default(5),
  minDelayMs: milliseconds.default(3000),
  maxDelayMs: milliseconds.default(30_000),
  /** CRAWL-7.1 step 3: a Crawl-delay is honoured up to this. */
  respectCrawlDelayUpToSecs: seconds.default(300),
  /** CRAWL-7.1 step 4. */
  maxPerHostBandwidthKBs: bandwidth.default(0),
  /** CRAWL-7.5: `sum` is the seed's reading (without lag), `maximum` the original program's (with the lag of 7.4). */
  bandwidthReading: z.enum(['sum', 'maximum']).default('sum'),
  /** CRAWL-22 pain 4: a 429 or 503 that names a Retry-After is obeyed up to this. */
  respectRetryAfterUpToSecs: seconds.default(300),

  /** CRAWL-8.3: attempts before a URI fails for good; every hand-back counts. */
  maxRetries: count.default(30),
  retryDelaySeconds: seconds.default(900),

  /** CRAWL-9: what shares a queue. */
  queueAssignment: z.enum(QUEUE_POLICIES).default('host'),
  /** A fixed class key; empty: by the policy. */
  forceQueue: z
    .string()
    .regex(/^[\w.,:#-]*$/)
    .default(''),
  /** CRAWL-9.7. */
  parallelQueues: z.int().min(1).max(64).default(1),
  /** CRAWL-9.10. */
  costPolicy: z.enum(['zero', 'unit', 'wag', 'anti-calendar']).default('unit'),
  /** CRAWL-9.11: `cost` takes the cost for it. */
  uriPrecedence: z.enum(['cost', 'base', 'hops']).default('cost'),
  queuePrecedence: z.enum(['base', 'highest-uri', 'success-counts']).default('base'),
  /** CRAWL-2.6. */
  preferenceEmbedHops: z.int().min(0).default(1),
  preferenceDepthHops: z.int().min(-1).default(-1),

  /** CRAWL-5.4.1, 6.1: URIs (by cost) that a queue gives before others have their turn; what a failure costs more. */
  balanceReplenishAmount: count.default(3000),
  errorPenaltyAmount: count.default(100),
  /** Over it a queue is retired; -1: none. */
  queueTotalBudget: limit.default(-1),

  /** CRAWL-14: names of the rules of the seen test, in this order. Empty (the default): the Gatherer's canonical URL is the key (G-57). */
  seenRules: z.array(z.string()).default([]),
  /** Links of one document beyond this are dropped (G-173, CRAWL-6.1 maxOutlinks). */
  maxOutlinks: count.default(10_000),

  /** CRAWL-13.4, 13.6. */
  robotsPolicy: z.enum(ROBOTS_POLICIES).default('classic'),
  /** The operator's own robots.txt, for `custom`. */
  customRobots: z.string().default(''),
  /** For the most-favored policies. */
  userAgents: z.array(z.string()).default([]),
  masquerade: z.boolean().default(false),
  /** CRAWL-13.3 item 12, 21: what three failures mean. */
  robotsUnreachable: z.enum(['forbid', 'allow']).default('forbid'),
  /** CRAWL-12.5: robots.txt is only noted (annotation `robotExcluded`). */
  calculateRobotsOnly: z.boolean().default(false),
  robotsValiditySeconds: seconds.default(86_400),
  /** CRAWL-12.3. */
  ipValiditySeconds: seconds.default(21_600),

  /** CRAWL-11.3, of one server, host or queue: successes, success bytes, responses, all bytes; -1 is none. */
  quotas: z
    .strictObject({
      serverMaxSuccesses: limit.default(-1),
      serverMaxSuccessKB: limit.default(-1),
      serverMaxResponses: limit.default(-1),
      serverMaxAllKB: limit.default(-1),
      hostMaxSuccesses: limit.default(-1),
      hostMaxSuccessKB: limit.default(-1),
      hostMaxResponses: limit.default(-1),
      hostMaxAllKB: limit.default(-1),
      groupMaxSuccesses: limit.default(-1),
      groupMaxSuccessKB: limit.default(-1),
      groupMaxResponses: limit.default(-1),
      groupMaxAllKB: limit.default(-1),
    })
    .prefault({}),
  /** CRAWL-11.3: over a quota the queue is retired instead of the URI being failed. */
  quotaForceRetire: z.boolean().default(true),
  /** CRAWL-11.2 Preselector: patterns of whole URIs (-5001). */
  blockAll: z.boolean().default(false),
  blockPattern: z.string().default(''),
  allowPattern: z.string().default(''),
});

/** Resolved for one URI. */
export type CrawlSettings = z.output<typeof crawlSettingsSchema>;
/** As an operator writes them. */
export type CrawlSettingsInput = z.input<typeof crawlSettingsSchema>;
