export { type CrawlEvent, crawlChannel, type DocumentEvent, documentChannel } from '../crawler/events.js';
export { debugProcessors, followDebug } from './debug.js';
export { Gatherer, type GathererOptions, type GatherReport, type RootReport } from './gatherer.js';
export { logDocuments, logRun } from './log.js';
export {
  type Refusal,
  RootLimits,
  type RootProgress,
  type RootRules,
  readProgress,
} from './root-limits.js';
export { RootNodeScope } from './scope.js';
export { writeGathererScripts } from './scripts.js';
