export { type CrawlEvent, crawlChannel, type DocumentEvent, documentChannel } from '../crawler/events.js';
export type { Figure, MonitoredServer, Reading } from '../monitor/figures.js';
export type { Annotations, AnnotationsOptions } from './annotate/annotations.js';
export type { OwnFetcherOptions, SchemeFetcher } from './configuration/fetchers.js';
export type { ConfigurationDigests, RulesDigest } from './configuration/rules-digest.js';
export { Gatherer, type GathererOptions, type GatherReport, type RootReport } from './gatherer.js';
export {
  type PublishElsewhereOptions,
  type PublishedElsewhere,
  publishElsewhere,
} from './publish-elsewhere.js';
export type { OpenBrowser } from './run/console.js';
export type { SharedRunOptions } from './run/shared-run.js';
export type { NetworkReach } from './scope/reach.js';
export type { KnownAddresses } from './scope/root-limits.js';
export {
  type Refusal,
  RootLimits,
  type RootProgress,
  type RootRules,
  readProgress,
} from './scope/root-limits.js';
export type { ScopeAddresses } from './scope/root-node-scope.js';
export { RootNodeScope } from './scope/root-node-scope.js';
export type { SharedAdmission, SharedCounters } from './scope/shared-admission.js';
export type { GathererScriptOptions } from './scripts.js';
export { writeGathererScripts } from './scripts.js';
export { debugProcessors, followDebug } from './watch/debug.js';
export { MonitoredGatherer } from './watch/figures.js';
export { logDocuments, logRun } from './watch/log.js';
export type { FailedRoot } from './watch/tally.js';
