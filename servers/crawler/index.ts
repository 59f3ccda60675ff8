export type { ChromiumLoaderOptions } from './browser/chromium-loader.js';
export type { LoadedPage, PageLoad, PageLoader, PartRequest, PartResponse } from './browser/types.js';
export {
  CHAIN_NAMES,
  type ChainName,
  type Processor,
  type ProcessorChains,
  type ProcessResult,
  runChains,
} from './chains.js';
export type { Restored } from './checkpoint.js';
export { listCheckpoints, readCheckpointInfo, restoreCheckpoint, verifyCheckpoint } from './checkpoint.js';
export type {
  CheckpointInfo,
  CrawlProcess,
  CrawlSnapshot,
  HostReport,
  ProcessorReport,
  QueueReport,
  RecentError,
  WaitingReport,
  WorkerReport,
} from './control.js';
export {
  type ControllerOptions,
  type CrawlCommand,
  type CrawlControl,
  CrawlController,
} from './controller.js';
export type { FetchedPart, RenderedDocument } from './crawl-uri.js';
export { CrawlUri, type Disposition, FETCH_STATUS, type OutLink } from './crawl-uri.js';
export type { DecideRule, DecideSequence, DecideSubject, Decision, Explanation } from './decide/decision.js';
export type { DocumentEvent, RecordedEvent, UriErrorEvent } from './events.js';
export type { FigureName, Figures } from './figures.js';
export type { Aside, Enumerations } from './frontier/contract.js';
export {
  type Candidate,
  type CrawlFrontier,
  DIRECTIVE,
  type Finish,
  type FrontierCounts,
  type Prepared,
  type PreparedOf,
} from './frontier/contract.js';
export { Frontier, type FrontierOptions } from './frontier/frontier.js';
export type { FrontierStore } from './frontier/frontier-store.js';
export type { CrawlLimits } from './limits.js';
export type {
  CrawlCounters,
  CrawlStatisticsOptions,
  NoveltyCounts,
  SeedState,
  StatisticsFigures,
  StoredStatistics,
} from './logs/statistics.js';
export { CrawlStatistics } from './logs/statistics.js';
export type { CrawlOrderConfig } from './order/order.js';
export { type CrawlSettings, crawlSettingsSchema } from './order/settings.js';
export type { PreparerOptions } from './preparer.js';
export { FrontierPreparer } from './preparer.js';
export { FetchProcessor, ResponseClassifier } from './processors/fetch.js';
export type { LinksScoperOptions } from './processors/links-scoper.js';
export { LinksScoper } from './processors/links-scoper.js';
export type { FetchLimits } from './processors/parts.js';
export { PreconditionEnforcer } from './processors/precondition-enforcer.js';
export type { UserProcessor, UserProcessorOptions } from './processors/user-processor.js';
export type { CookieJars, CookieLimits } from './requests/cookie-jars.js';
export type { Scope } from './scope.js';
export type { CountedEvent, Traffic } from './servers/counters.js';
export type { HostAddressesOptions } from './servers/host-addresses.js';
export { HostAddresses } from './servers/host-addresses.js';
export type { HostHold, HostHolds } from './servers/host-holds.js';
export type { HostLocks } from './servers/host-locks.js';
export type { HostPauses } from './servers/host-pauses.js';
export { TotalBandwidth } from './servers/politeness.js';
export type { RobotsArchive, RobotsContact } from './servers/robots-files.js';
export type { RobotsVerdict, ServerCacheOptions, ServerCacheSnapshot } from './servers/server-cache.js';
export { ServerCache } from './servers/server-cache.js';
export type { CrawlState, EndReason, QueueState, WaitReason } from './states.js';
export type { WorkerSlot, WorkerSlots } from './worker-pool.js';
