export { type CrawlEvent, crawlChannel, type DocumentEvent, documentChannel } from '../crawler/events.js';
export type { Figure, MonitoredServer, Reading } from '../monitor/figures.js';
export type { Annotations, AnnotationsOptions } from './annotations.js';
export { debugProcessors, followDebug } from './debug.js';
export { MonitoredGatherer } from './figures.js';
export { Gatherer, type GathererOptions, type GatherReport, type RootReport } from './gatherer.js';
export { logDocuments, logRun } from './log.js';
export type { OpenBrowser } from './open-browser.js';
export type { OwnFetcherOptions, SchemeFetcher } from './own-fetchers.js';
export type { NetworkReach } from './reach.js';
export type { KnownAddresses } from './root-limits.js';
export {
  type Refusal,
  RootLimits,
  type RootProgress,
  type RootRules,
  readProgress,
} from './root-limits.js';
export type { ConfigurationDigests, RulesDigest } from './rules-digest.js';
export type { ScopeAddresses } from './scope.js';
export { RootNodeScope } from './scope.js';
export type { GathererScriptOptions } from './scripts.js';
export { writeGathererScripts } from './scripts.js';
export type { FailedRoot } from './tally.js';
