export {
  CHAIN_NAMES,
  type ChainName,
  type Processor,
  type ProcessorChains,
  type ProcessResult,
  runChains,
} from './chains.js';
export { CrawlController, type CrawlOrder, rootProgressKey } from './controller.js';
export { CrawlUri, type Disposition, FETCH_STATUS, type OutLink } from './crawl-uri.js';
export { DIRECTIVE, Frontier, type FrontierCounts, type FrontierOptions } from './frontier.js';
export { HostAddresses } from './host-addresses.js';
export { type Refusal, RootLimits, type RootProgress, type RootRules } from './root-limits.js';
export { type Candidate, RootNodeScope, type Scope } from './scope.js';
export { FingerprintSet, type UriUniqFilter } from './seen.js';
export { ServerCache } from './server-cache.js';
