export { indexedPartOf } from './columns/indexed-part.js';
export type { OpenIndexerAt } from './conformance-fixture.js';
export {
  type Hit,
  type IndexedWord,
  type Indexer,
  type IndexerCapabilities,
  type IndexTerm,
  MATCHER_CAPABILITIES,
  type MatchedLine,
  PauseSwitch,
  type SearchOptions,
  type SearchOutcome,
  type SearchResults,
  type SharedIndex,
  type StopReason,
  type WordRequest,
} from './contract.js';
export { type EmbeddedIndexerOptions, openEmbeddedIndexer } from './embedded/embedded-indexer.js';
export { INDEX_FAILURES } from './embedded/messages.js';
export type { CandidateLimits } from './embedded/search/candidates.js';
export type { ReadLimits } from './embedded/search/read-memory.js';
export type { SearchLimits } from './embedded/search/search.js';
export type { Engine, EngineFinding, OpenIndexerOptions, OpenSearchSettings } from './engine.js';
export {
  type Candidate,
  type CandidateEngine,
  type CandidateOptions,
  type CandidateSearchLimits,
  type MostCandidates,
  type ProgramEngineOptions,
  searchCandidates,
} from './external/candidate-search.js';
export { openGlimpseIndexer } from './glimpse/open-glimpse.js';
export type { GlimpseIndexerOptions } from './glimpse/options.js';
export {
  ENGINES,
  INDEXER_TYPES,
  type IndexerType,
  isModuleType,
  type OpenOwnIndexer,
  openIndexer,
  parseIndexerType,
} from './open.js';
export {
  type OpenSearchIndexerOptions,
  openOpenSearchIndexer,
} from './opensearch/opensearch-indexer.js';
export type { PatternLimits } from './query/leaf.js';
export type { QueryLimits } from './query/matcher.js';
export { type PlainWord, type PlainWords, plainWordsOf } from './query/plain-words.js';
export { openSwishIndexer, type SwishIndexerOptions } from './swish/swish-indexer.js';
