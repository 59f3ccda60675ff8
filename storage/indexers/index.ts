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
export {
  type Candidate,
  type CandidateEngine,
  type CandidateOptions,
  searchCandidates,
} from './external/candidate-search.js';
export { openGlimpseIndexer } from './glimpse/open-glimpse.js';
export type { GlimpseIndexerOptions } from './glimpse/options.js';
export { indexedPartOf } from './indexed-part.js';
export type { QueryLimits } from './matcher.js';
export {
  INDEXER_TYPES,
  type IndexerType,
  type OpenIndexerOptions,
  openIndexer,
  parseIndexerType,
} from './open.js';
export { Pace } from './pace.js';
export { INDEX_FAILURES } from './plain-error.js';
export type { SearchLimits } from './search.js';
export { openSwishIndexer, type SwishIndexerOptions } from './swish/swish-indexer.js';
