import type { QueuePolicy } from '../../../protocols/urls/index.js';
import type { SeenKind } from '../../../storage/seen/index.js';
import { PROCESSORS } from '../processors/table.js';
import type { CrawlSettings } from './settings.js';

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
  ...PROCESSORS.flatMap(({ classes = [] }) => classes),
  'BdbFrontier',
  'CrawlStateUpdater',
  'FetchFTP',
  'FetchHistoryProcessor',
  'PersistLoadProcessor',
  'PersistStoreProcessor',
  'FetchDNS',
  'FetchHTTP',
  'FrontierScheduler',
  'HTTPContentDigest',
  'RobotsHonoringPolicy',
  'StatisticsTracker',
]);

/** Classes that write archives (CRAWL-18.6), with the default of their `path`. */
export const WRITER_CLASSES: ReadonlyMap<string, string> = new Map([
  ['WARCWriterProcessor', 'warcs'],
  ['ExperimentalWARCWriterProcessor', 'warcs'],
  ['ARCWriterProcessor', 'arcs'],
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
