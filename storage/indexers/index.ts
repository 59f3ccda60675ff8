export type { CandidateLimits } from './candidates.js';
export type { OpenIndexerAt } from './conformance-fixture.js';
export type {
  Hit,
  IndexedWord,
  Indexer,
  IndexerCapabilities,
  MatchedLine,
  SearchOptions,
  SearchOutcome,
  SearchResults,
  StopReason,
  WordRequest,
} from './contract.js';
export { type EmbeddedIndexerOptions, openEmbeddedIndexer } from './embedded.js';
export type { Engine, OpenIndexerOptions } from './engine.js';
export type { CandidateSearchLimits } from './external/candidate-search.js';
export {
  type Candidate,
  type CandidateEngine,
  type CandidateOptions,
  searchCandidates,
} from './external/candidate-search.js';
export { openGlimpseIndexer } from './glimpse/open-glimpse.js';
export type { GlimpseIndexerOptions } from './glimpse/options.js';
export { indexedPartOf } from './indexed-part.js';
export type { PatternLimits } from './leaf.js';
export type { QueryLimits } from './matcher.js';
export {
  ENGINES,
  INDEXER_TYPES,
  type IndexerType,
  isModuleType,
  type OpenOwnIndexer,
  openIndexer,
  parseIndexerType,
} from './open.js';
export { PauseSwitch } from './pause-switch.js';
export { INDEX_FAILURES } from './plain-error.js';
export type { ReadLimits } from './read-memory.js';
export type { SearchLimits } from './search.js';
export { openSwishIndexer, type SwishIndexerOptions } from './swish/swish-indexer.js';
