// The settings of a URI in a crawl order: names, types, defaults, and the notes that `harvest crawl order`
// prints for operators.
import { z } from 'zod';
import { ROBOTS_POLICIES } from '../../../protocols/robots/index.js';
import { QUEUE_POLICIES } from '../../../protocols/urls/index.js';
import { browserSettings } from './browser.js';
import { quotasSchema } from './quotas.js';
import { withNote } from './setting-notes.js';

const count = z.int().min(0);
const milliseconds = z.int().min(0);
const seconds = z.number().min(0);
/** -1: no limit. */
const limit = z.int().min(-1);
/** Kilobytes per second; 0: no limit. */
const bandwidth = z.number().min(0);

/**
 * The settings of a URI, which sheets can override (CRAWL-19.5). The defaults are those of CRAWL-6.1, 6.4 and
 * 11.3, and so are the names, written in camel case (`min-delay-ms` is `minDelayMs`).
 */
export const crawlSettingsSchema = z.strictObject({
  delayFactor: withNote(
    z.number().min(0).default(5),
    'CRAWL-7.1 step 1',
    'A queue waits this many times as long as its last fetch took',
    { original: 'delay-factor' },
  ),
  minDelayMs: withNote(
    milliseconds.default(3000),
    'CRAWL-7.1 step 2',
    'Shortest wait of a queue after a fetch',
    { unit: 'ms', original: 'min-delay-ms' },
  ),
  maxDelayMs: withNote(
    milliseconds.default(30_000),
    'CRAWL-7.1 step 2',
    'Longest wait of a queue after a fetch',
    { unit: 'ms', original: 'max-delay-ms' },
  ),
  respectCrawlDelayUpToSecs: withNote(
    seconds.default(300),
    'CRAWL-7.1 step 3',
    'Longest Crawl-delay of robots.txt that is obeyed; a longer one is cut to this',
    { unit: 's', original: 'respect-crawl-delay-up-to-secs' },
  ),
  maxPerHostBandwidthKBs: withNote(
    bandwidth.default(0),
    'CRAWL-7.1 step 4',
    'Bandwidth limit of one host; 0: no limit',
    { unit: 'KB/s', original: 'max-per-host-bandwidth-usage-KB-sec' },
  ),
  bandwidthReading: withNote(
    z.enum(['sum', 'maximum']).default('sum'),
    'CRAWL-7.5',
    'sum: a queue waits for the bandwidth limit in addition to its other wait; maximum: for the longer of the two, and a large document delays the fetch after the next one (CRAWL-7.4)',
  ),
  respectRetryAfterUpToSecs: withNote(
    seconds.default(86_400),
    'CRAWL-22.4',
    'Longest Retry-After of a 429 or 503 that is obeyed; a longer one is cut to this',
    { unit: 's' },
  ),
  retireRetryAfterSecs: withNote(
    seconds.default(0),
    'CRAWL-22.4',
    'A Retry-After longer than this is not waited for: the queue is retired, and its documents are left for a later run, which does not ask the host before that time, either; 0: every one is waited for. A Gatherer without an order has 300',
    { unit: 's' },
  ),

  maxLengthBytes: withNote(
    z.int().min(0).default(0),
    'CRAWL-8.6',
    'Longest body that is kept, as it was sent; of a longer one the beginning is (lenTrunc); 0: no limit. What is read of it in memory is limited by Max-Retrieval-Size, too',
    { unit: 'bytes', original: 'max-length-bytes' },
  ),
  fetchSeconds: withNote(
    z.number().gt(0).max(1200).default(1200),
    'CRAWL-8.6',
    'Longest transfer of a document; of a longer one the part that arrived is kept (timeTrunc)',
    { unit: 's', original: 'timeout-seconds' },
  ),
  maxRetries: withNote(
    count.default(30),
    'CRAWL-8.3',
    'Maximum number of attempts to fetch a URI, the first one included, whatever the failures',
    { unit: 'attempts', original: 'max-retries' },
  ),
  retryDelaySeconds: withNote(
    seconds.default(900),
    'CRAWL-8.3',
    'Wait of a queue whose server cannot be reached; the longest wait before a URI is tried again after other failures',
    { unit: 's', original: 'retry-delay-seconds' },
  ),
  unansweredRetryDelaySeconds: withNote(
    z.number().min(-1).default(-1),
    'CRAWL-8.3, 22.4',
    'Instead of retryDelaySeconds, for a server that has not answered in this crawl and cannot be reached; -1: no other wait',
    { unit: 's' },
  ),
  lostMaxRetries: withNote(
    count.default(5),
    'CRAWL-8.3, 22.4',
    'Maximum number of attempts to fetch a URI whose connection is lost (-3)',
    { unit: 'attempts' },
  ),
  lostRetryDelaySeconds: withNote(
    seconds.default(300),
    'CRAWL-8.3, 22.4',
    'Wait before a URI is tried again after its connection was lost; its queue continues meanwhile',
    { unit: 's' },
  ),
  busyMaxRetries: withNote(
    count.default(5),
    'CRAWL-8.3, 22.4',
    'Maximum number of attempts to fetch a URI that is answered with 429 or 503',
    { unit: 'attempts' },
  ),
  busyRetryDelaySeconds: withNote(
    seconds.default(60),
    'CRAWL-8.3, 22.4',
    'Wait before a URI is tried again after a 429 or 503 without Retry-After; its queue continues meanwhile',
    { unit: 's' },
  ),
  serverFailures: withNote(
    z.int().min(1).default(3),
    'CRAWL-8.5, 22.4',
    'Number of lost connections, 429 and 503 in a row after which a server fails as a whole: its queue waits with the URI',
    { unit: 'attempts' },
  ),

  queueAssignment: withNote(z.enum(QUEUE_POLICIES).default('host'), 'CRAWL-9', 'Which URIs share a queue'),
  forceQueue: withNote(
    z
      .string()
      .regex(/^[\w.,:#-]*$/)
      .default(''),
    'CRAWL-9.7',
    'Name of the queue of these URIs; empty: queueAssignment decides',
    { original: 'force-queue-assignment' },
  ),
  parallelQueues: withNote(
    z.int().min(1).max(64).default(1),
    'CRAWL-9.7',
    'Number of queues into which a queue is split',
    { unit: 'queues' },
  ),
  parallelQueuesBy: withNote(
    z.enum(['segment', 'uri']).default('segment'),
    'CRAWL-9.7',
    'What determines the part of a split queue: the first segment of the path, or the whole URI',
  ),
  queueLabels: withNote(
    z.int().min(-1).default(2),
    'CRAWL-9.4, 22.17',
    'With queueAssignment limits or host-limits: the labels of a host that name its queue, the last ones; -1: all',
    { unit: 'labels' },
  ),
  costPolicy: withNote(
    z.enum(['zero', 'unit', 'wag', 'anti-calendar']).default('unit'),
    'CRAWL-9.10',
    'How much a URI costs the budgets of its queue',
  ),
  uriPrecedence: withNote(
    z.enum(['cost', 'base', 'hops', 'depth-first']).default('cost'),
    'CRAWL-9.11, 22.17, G-30',
    'What determines the order of the URIs within a queue; depth-first: the links of a document come before the other URIs, up to 126 hops from the seed',
  ),
  queuePrecedence: withNote(
    z.enum(['base', 'success-counts', 'highest-uri']).default('base'),
    'CRAWL-9.11, 22.17',
    'What determines the order of the queues: base: all have the same; success-counts: those with many successes come later; highest-uri: those whose next URI has a larger precedence (uriPrecedence) come later',
  ),
  preferenceEmbedHops: withNote(
    z.int().min(0).default(1),
    'CRAWL-2.6',
    'Embedded documents (images, frames) up to this many hops from their page precede other URIs',
    { unit: 'hops', original: 'preference-embed-hops' },
  ),
  preferenceDepthHops: withNote(
    z.int().min(-1).default(-1),
    'CRAWL-2.6',
    'Number of hops up to which the crawl is depth-first; -1: it never is',
    { unit: 'hops', original: 'preference-depth-hops' },
  ),

  balanceReplenishAmount: withNote(
    count.default(3000),
    'CRAWL-5.4.1',
    'Total cost of the URIs that a queue may process before it yields to other queues',
    { unit: 'cost', original: 'balance-replenish-amount' },
  ),
  errorPenaltyAmount: withNote(count.default(100), 'CRAWL-6.1', 'Additional cost of a URI that failed', {
    unit: 'cost',
    original: 'error-penalty-amount',
  }),
  queueTotalBudget: withNote(
    limit.default(-1),
    'CRAWL-6.1',
    'Total cost of URIs after which a queue is retired; -1: no limit',
    { unit: 'cost', original: 'queue-total-budget' },
  ),

  seenRules: withNote(
    z.array(z.string()).default([]),
    'CRAWL-14',
    'Rewriting rules, in their order, that decide which URIs count as the same; empty: those with equal canonical URLs (G-57)',
  ),
  maxUrisPerPattern: withNote(
    count.default(0),
    'CRAWL-22.5, G-173',
    'Maximum number of URIs of a host that differ only in their digits; 0: no limit',
    { unit: 'URIs' },
  ),
  maxPathRepetitions: withNote(
    count.default(2),
    'CRAWL-10.2.2, 22.5, G-173',
    'Without scope rules, a link is not followed in which a segment of the path, or a group of them, is followed by so many copies of itself; 0: no limit',
    { unit: 'copies' },
  ),
  maxOutlinks: withNote(
    count.default(10_000),
    'G-173, CRAWL-6.1',
    'Maximum number of links that are followed from one document',
    { unit: 'links' },
  ),
  maxRedirects: withNote(
    count.default(5),
    'CRAWL-22.5, G-173',
    'Maximum number of redirects in a row that are followed; 0: no limit. An answer that exceeds it fails',
    { unit: 'redirects' },
  ),

  embeds: withNote(
    z.enum(['frames', 'root', 'any']).default('frames'),
    'CRAWL-10.2.3, 22.6',
    'frames: only the links and frames of pages are followed; root: also images, style sheets, scripts and all other references, within the limits of the RootNode; any: what a document embeds is fetched from any host, beyond those limits',
  ),
  maxTransHops: withNote(
    count.default(3),
    'CRAWL-10.2.3',
    'With embeds: number of steps from a page to what it embeds, e.g. 2 for an image of a style sheet; redirects do not count',
    { unit: 'hops' },
  ),
  maxSpeculativeHops: withNote(
    count.default(1),
    'CRAWL-10.2.3',
    'With embeds: number of these steps that are guesses, such as strings in scripts; 0: guesses are not followed',
    { unit: 'hops' },
  ),
  urlForm: withNote(
    z.enum(['canonical', 'clean']).default('canonical'),
    'CRAWL-2.1, 22.6',
    'With embeds, the form of the URLs that are found: canonical: as summaries name documents, e.g. %7e for a tilde; clean: as pages write them, only cleaned, as archives want. Also applies to the seeds of the order',
  ),
  lenientHttp: withNote(
    z.boolean().default(true),
    'CRAWL-22.11',
    'A response, or a body of another protocol, that ends too soon is kept as far as it arrived (annotation incomplete); false: it counts as a lost connection. One that is complete is read in any case, as browsers read it (annotation lenientHttp)',
  ),

  ...browserSettings,

  cookies: withNote(
    z.boolean().default(false),
    'CRAWL-11.8, 22.15',
    'Cookies that servers set are kept and sent back',
  ),
  sendReferer: withNote(
    z.boolean().default(false),
    'CRAWL-6.1',
    'Requests name the page on which the URL was found (Referer)',
    { original: 'send-referer' },
  ),
  requestHeaders: withNote(
    z.record(z.string(), z.string()).default({}),
    'CRAWL-22.15',
    'Further headers of requests, e.g. {"Accept-Language": "ru"}; those of a sheet take the place of all others',
  ),
  proxy: withNote(
    z.string().default(''),
    'G-84, CRAWL-22.15',
    "Proxy of HTTP requests: http://HOST:PORT, socks5://HOST:PORT or socks4://HOST:PORT; direct: none; empty: the Gatherer's HTTP-Proxy",
  ),
  proxyLoginEnvironment: withNote(
    z.string().default(''),
    'CRAWL-22.15',
    'Name of the environment variable that holds USER:PASSWORD of the proxy; empty: it needs no login',
  ),

  robotsPolicy: withNote(
    z.enum(ROBOTS_POLICIES).default('classic'),
    'CRAWL-13.4, 13.6',
    'How robots.txt is obeyed',
  ),
  robotsAnswers: withNote(
    z.enum(['strict', 'original']).default('strict'),
    'G-63, CRAWL-13.3.15',
    'strict: redirects of robots.txt are followed, and a 429 or 5xx is a failure; original: all of them allow everything',
  ),
  customRobots: withNote(
    z.string().default(''),
    'CRAWL-13.4',
    "The operator's own robots.txt, for the policy custom",
    { original: 'custom-robots' },
  ),
  userAgents: withNote(
    z.array(z.string()).default([]),
    'CRAWL-13.4',
    'The agents of the policy most-favored-set',
    { original: 'user-agents' },
  ),
  masquerade: withNote(
    z.boolean().default(false),
    'CRAWL-13.5',
    'With a most-favored policy: requests name the agent that robots.txt allows',
    { original: 'masquerade' },
  ),
  robotsUnreachable: withNote(
    z.enum(['forbid', 'allow']).default('forbid'),
    'CRAWL-13.3.12, 21',
    'Whether a site is fetched after three failures to get its robots.txt',
  ),
  calculateRobotsOnly: withNote(
    z.boolean().default(false),
    'CRAWL-12.5',
    'robots.txt forbids nothing; URIs that it would forbid are annotated (robotExcluded)',
    { original: 'calculate-robots-only' },
  ),
  robotsValiditySeconds: withNote(
    seconds.default(86_400),
    'CRAWL-13.3.13',
    'Time after which a robots.txt is fetched again; 0: never',
    { unit: 's', original: 'robot-validity-duration-seconds' },
  ),
  ipValiditySeconds: withNote(
    seconds.default(21_600),
    'CRAWL-12.3',
    'Time after which a host name is looked up again; 0: never',
    { unit: 's', original: 'ip-validity-duration-seconds' },
  ),

  digestStripPattern: withNote(
    z.string().default(''),
    'CRAWL-18.7',
    'Regular expression; text that matches it, e.g. a counter or a date, is left out of the digest of a page; empty: nothing is left out',
    { original: 'strip-reg-expr' },
  ),
  digestStripMaxKB: withNote(
    limit.default(1024),
    'CRAWL-18.7',
    'Nothing is left out of the digest of a larger page; -1: no limit',
    { unit: 'KB', original: 'max-size-kb' },
  ),
  skipUnchanged: withNote(
    z.boolean().default(false),
    'CRAWL-18.8',
    'If a page has the same digest as at its last fetch, its links are not followed and its object is not updated',
  ),
  runtimeSeconds: withNote(
    count.default(0),
    'CRAWL-11.3',
    'Seconds of crawling after which runtimeOperation applies; 0: never',
    { unit: 's', original: 'runtime-sec' },
  ),
  runtimeOperation: withNote(
    z.enum(['pause', 'terminate', 'block']).default('pause'),
    'CRAWL-11.3',
    'pause: the crawl pauses; terminate: it ends; block: further URIs fail (-5004). A sheet should only use block',
  ),

  quotas: quotasSchema.prefault({}),
  quotaForceRetire: withNote(
    z.boolean().default(true),
    'CRAWL-11.3',
    'When a quota is reached, true: the queue is retired; false: the URI fails',
    { original: 'force-retire' },
  ),
  blockAll: withNote(z.boolean().default(false), 'CRAWL-11.2', 'true: no URI is fetched (-5001)', {
    original: 'block-all',
  }),
  blockPattern: withNote(
    z.string().default(''),
    'CRAWL-11.2',
    'Regular expression; a URI that matches it as a whole is not fetched (-5001); empty: no URI is blocked',
    { original: 'block-by-regexp' },
  ),
  allowPattern: withNote(
    z.string().default(''),
    'CRAWL-11.2',
    'Regular expression; only URIs that match it as a whole are fetched; empty: all URIs',
    { original: 'allow-by-regexp' },
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
