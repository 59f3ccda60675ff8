export {
  CHAIN_NAMES,
  type ChainName,
  type Processor,
  type ProcessorChains,
  type ProcessResult,
  runChains,
} from './chains.js';
export { listCheckpoints, readCheckpointInfo, restoreCheckpoint, verifyCheckpoint } from './checkpoint.js';
export type { CrawlControl, CrawlSnapshot, HostReport, QueueReport } from './control.js';
export { type ControllerOptions, CrawlController } from './controller.js';
export { CrawlUri, type Disposition, FETCH_STATUS, type OutLink } from './crawl-uri.js';
export type { DocumentEvent } from './events.js';
export {
  type Candidate,
  type CrawlFrontier,
  DIRECTIVE,
  type Finish,
  Frontier,
  type FrontierCounts,
  type FrontierOptions,
  type Prepared,
  type PreparedOf,
} from './frontier/index.js';
export { CrawlStatistics } from './logs/index.js';
export { type CrawlSettings, crawlSettingsSchema } from './order/index.js';
export { FrontierPreparer } from './preparer.js';
export { type FetchLimits, FetchProcessor, ResponseClassifier } from './processors/fetch.js';
export { LinksScoper } from './processors/links-scoper.js';
export { PreconditionEnforcer } from './processors/precondition-enforcer.js';
export type { UserProcessor, UserProcessorOptions } from './processors/user-processor.js';
export type { Scope } from './scope.js';
export { HostAddresses, ServerCache, TotalBandwidth } from './servers/index.js';
