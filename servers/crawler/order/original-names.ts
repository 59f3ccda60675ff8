import type { QueuePolicy } from '../../../protocols/urls/index.js';
import type { SeenKind } from '../../../storage/seen/index.js';
import type { CrawlOrderConfig } from './order.js';
import type { CrawlSettings } from './settings.js';

/** Settings of URIs by their names in a 1.x order or override (CRAWL-6.1, 6.4, 19.2, 19.5). */
export const SETTING_NAMES: ReadonlyMap<string, keyof CrawlSettings> = new Map([
  ['delay-factor', 'delayFactor'],
  ['max-delay-ms', 'maxDelayMs'],
  ['min-delay-ms', 'minDelayMs'],
  ['respect-crawl-delay-up-to-secs', 'respectCrawlDelayUpToSecs'],
  ['max-per-host-bandwidth-usage-KB-sec', 'maxPerHostBandwidthKBs'],
  ['max-retries', 'maxRetries'],
  ['retry-delay-seconds', 'retryDelaySeconds'],
  ['timeout-seconds', 'fetchSeconds'],
  ['send-referer', 'sendReferer'],
  ['preference-embed-hops', 'preferenceEmbedHops'],
  ['preference-depth-hops', 'preferenceDepthHops'],
  ['force-queue-assignment', 'forceQueue'],
  ['balance-replenish-amount', 'balanceReplenishAmount'],
  ['error-penalty-amount', 'errorPenaltyAmount'],
  ['queue-total-budget', 'queueTotalBudget'],
  ['ip-validity-duration-seconds', 'ipValiditySeconds'],
  ['robot-validity-duration-seconds', 'robotsValiditySeconds'],
  ['calculate-robots-only', 'calculateRobotsOnly'],
  ['block-all', 'blockAll'],
  ['block-by-regexp', 'blockPattern'],
  ['allow-by-regexp', 'allowPattern'],
  ['force-retire', 'quotaForceRetire'],
  ['masquerade', 'masquerade'],
  ['custom-robots', 'customRobots'],
  ['user-agents', 'userAgents'],
  ['runtime-sec', 'runtimeSeconds'],
  ['strip-reg-expr', 'digestStripPattern'],
  ['max-size-kb', 'digestStripMaxKB'],
]);

/** CRAWL-11.3: values of `end-operation`. */
export const RUNTIME_OPERATIONS: ReadonlyMap<string, CrawlSettings['runtimeOperation']> = new Map([
  ['Pause job', 'pause'],
  ['Terminate job', 'terminate'],
  ['Block URIs', 'block'],
]);

/** Settings that the presence of a module sets; its own values override them. */
export const MODULE_SETTINGS: ReadonlyMap<string, Partial<CrawlSettings>> = new Map([
  ['ChangeEvaluator', { skipUnchanged: true }],
  ['RuntimeLimitEnforcer', { runtimeSeconds: 86_400 }],
  // CRAWL-6.4.
  ['FetchHTTP', { cookies: true, sendReferer: true }],
]);

/** Options of the whole crawl by their names in a 1.x order. */
export const ORDER_NAMES: ReadonlyMap<string, keyof CrawlOrderConfig> = new Map([
  ['max-bytes-download', 'maxBytes'],
  ['max-document-download', 'maxDocuments'],
  ['max-time-sec', 'maxSeconds'],
  ['max-toe-threads', 'workers'],
  ['total-bandwidth-usage-KB-sec', 'totalBandwidthKBs'],
  ['pause-at-start', 'pauseAtStart'],
  ['pause-at-finish', 'pauseAtFinish'],
  ['dump-pending-at-close', 'dumpPendingAtClose'],
  ['source-tag-seeds', 'sourceTagSeeds'],
  ['recovery-log-enabled', 'recoveryJournal'],
  ['hold-queues', 'holdQueues'],
  ['target-ready-backlog', 'targetReadyBacklog'],
  ['snooze-deactivate-ms', 'snoozeDeactivateMs'],
  ['user-agent', 'userAgent'],
  ['from', 'from'],
  ['interval-seconds', 'progressSeconds'],
  ['load-cookies-from-file', 'cookiesLoadFile'],
  ['save-cookies-to-file', 'cookiesSaveFile'],
]);

/** Quotas by their names in a 1.x order (CRAWL-11.3). */
export const QUOTA_NAMES: ReadonlyMap<string, keyof CrawlSettings['quotas']> = new Map(
  (['server', 'host', 'group'] as const).flatMap((subject) => [
    [`${subject}-max-fetch-successes`, `${subject}MaxSuccesses`] as const,
    [`${subject}-max-success-kb`, `${subject}MaxSuccessKB`] as const,
    [`${subject}-max-fetch-responses`, `${subject}MaxResponses`] as const,
    [`${subject}-max-all-kb`, `${subject}MaxAllKB`] as const,
  ]),
);

/** Queue assignment policies by class (CRAWL-9). */
export const QUEUE_CLASSES: ReadonlyMap<string, QueuePolicy> = new Map([
  ['HostnameQueueAssignmentPolicy', 'host'],
  ['SurtAuthorityQueueAssignmentPolicy', 'surt'],
  ['TopmostAssignedSurtQueueAssignmentPolicy', 'topmost'],
  ['IPQueueAssignmentPolicy', 'ip'],
  ['BucketQueueAssignmentPolicy', 'bucket'],
  ['ELFHashQueueAssignmentPolicy', 'elf'],
]);

/** Cost policies by class (CRAWL-9.10). */
export const COST_CLASSES: ReadonlyMap<string, CrawlSettings['costPolicy']> = new Map([
  ['ZeroCostAssignmentPolicy', 'zero'],
  ['UnitCostAssignmentPolicy', 'unit'],
  ['WagCostAssignmentPolicy', 'wag'],
  ['AntiCalendarCostAssignmentPolicy', 'anti-calendar'],
]);

/** Seen filters by class (CRAWL-4). */
export const SEEN_CLASSES: ReadonlyMap<string, SeenKind> = new Map([
  ['BdbUriUniqFilter', 'level'],
  ['BloomUriUniqFilter', 'bloom'],
  ['MemUriUniqFilter', 'memory-set'],
  ['FPUriUniqFilter', 'memory-set'],
  ['MemFPMergeUriUniqFilter', 'memory-merge'],
  ['DiskFPMergeUriUniqFilter', 'disk-merge'],
]);

/** Rules of the seen test by class (CRAWL-14). */
export const SEEN_RULE_CLASSES: ReadonlyMap<string, string> = new Map([
  ['LowercaseRule', 'Lowercase'],
  ['StripUserinfoRule', 'StripUserinfo'],
  ['StripWWWNRule', 'StripWWWN'],
  ['StripWWWRule', 'StripWWW'],
  ['StripSessionIDs', 'StripSessionIDs'],
  ['StripSessionCFIDs', 'StripSessionCFIDs'],
  ['FixupQueryStr', 'FixupQuery'],
  ['StripExtraSlashes', 'StripExtraSlashes'],
]);

/**
 * Extractors with an equivalent in this project: the setting `embeds` includes them always, or the scope limits
 * them (CRAWL-11.2).
 */
export const EXTRACTOR_CLASSES: ReadonlyMap<string, 'always' | 'limited'> = new Map([
  ['ExtractorCSS', 'always'],
  ['ExtractorHTML', 'always'],
  ['AggressiveExtractorHTML', 'always'],
  ['JerichoExtractorHTML', 'always'],
  ['ExtractorHTTP', 'always'],
  ['ExtractorJS', 'limited'],
  ['ExtractorXML', 'always'],
]);

/** What operators do instead of modules that are not converted, by class. */
export const LEFT_OUT_CLASSES: ReadonlyMap<string, string> = new Map([
  [
    'CredentialStore',
    'is left out: an order has no passwords, name variables of the environment in credentials',
  ],
]);

/** Modules with an equivalent in this project. */
export const BUILT_IN_CLASSES: ReadonlySet<string> = new Set([
  ...EXTRACTOR_CLASSES.keys(),
  'BdbFrontier',
  'ARCWriterProcessor',
  'ChangeEvaluator',
  'CrawlStateUpdater',
  'ExperimentalWARCWriterProcessor',
  'FetchFTP',
  'FetchHistoryProcessor',
  'PersistLoadProcessor',
  'PersistStoreProcessor',
  'FetchDNS',
  'FetchHTTP',
  'FrontierScheduler',
  'HTTPContentDigest',
  'LinksScoper',
  'PreconditionEnforcer',
  'Preselector',
  'QuotaEnforcer',
  'RobotsHonoringPolicy',
  'RuntimeLimitEnforcer',
  'StatisticsTracker',
  'WARCWriterProcessor',
]);

/** Classes that write archives (CRAWL-18.6), with the default of their `path`. */
export const WRITER_CLASSES: ReadonlyMap<string, string> = new Map([
  ['WARCWriterProcessor', 'warcs'],
  ['ExperimentalWARCWriterProcessor', 'warcs'],
  ['ARCWriterProcessor', 'arcs'],
]);

/** Options of archives by their names in a 1.x order. */
export const WRITER_NAMES: ReadonlyMap<string, keyof CrawlOrderConfig['warc']> = new Map([
  ['compress', 'compress'],
  ['prefix', 'prefix'],
  ['max-size-bytes', 'maxFileBytes'],
  ['pool-max-active', 'poolMaxActive'],
  ['skip-identical-digests', 'skipIdenticalDigests'],
]);

/** Settings without an effect here, by name, and why. Each is reported with its line. */
export const IGNORED_NAMES: ReadonlyMap<string, string> = new Map([
  ...reasons('the crawl keeps its files in the directory of the Gatherer', [
    'checkpoints-path',
    'disk-path',
    'logs-path',
    'scratch-path',
    'state-path',
    'surts-dump-file',
  ]),
  ...reasons('the store sizes its buffers itself', [
    'bdb-cache-percent',
    'recorder-in-buffer-bytes',
    'recorder-out-buffer-bytes',
  ]),
  ...reasons('a record waits until it is written', ['pool-max-wait']),
  ...reasons('every body has a SHA-1 digest', ['digest-content', 'digest-algorithm']),
  ...reasons('HTTP-If-Modified-Since of the configuration applies', [
    'send-if-modified-since',
    'send-if-none-match',
  ]),
  ...reasons('cookies are kept in the store', ['use-bdb-for-cookies']),
  ...reasons('the setting embeds decides what is extracted', [
    'extract-javascript',
    'extract-only-form-gets',
    'extract-value-attributes',
    'ignore-form-action-urls',
    'ignore-unexpected-html',
    'treat-frames-as-embed-links',
  ]),
  ...reasons('`harvest crawl recover` imports a journal', [
    'recover-path',
    'recover-retain-failures',
    'recover-scope-enqueues',
    'recover-scope-includes',
  ]),
  ...reasons('a checkpoint always contains the whole store', ['checkpoint-copy-bdbje-logs']),
  ...reasons('logs are continued', ['overwrite-logs']),
  ...reasons('every link passes the scope once', ['recheck-scope']),
  ...reasons('the logs of the crawl have all lines', ['override-logger']),
  ...reasons('the order is read when the crawl starts', ['rebuild-on-reconfig', 'reread-seeds-on-config']),
  ...reasons('the read time-out of the Gatherer applies', ['sotimeout-ms']),
  ...reasons('Max-Retrieval-Size of the configuration applies', ['max-length-bytes']),
  ...reasons('an order has no such note; use comments', [
    'audience',
    'date',
    'description',
    'operator',
    'organization',
  ]),
]);

function reasons(reason: string, names: readonly string[]): (readonly [string, string])[] {
  return names.map((name) => [name, reason] as const);
}
