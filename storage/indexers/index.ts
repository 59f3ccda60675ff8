export type {
  Hit,
  Indexer,
  IndexerCapabilities,
  MatchedLine,
  SearchOptions,
  SearchOutcome,
  SearchResults,
  StopReason,
} from './contract.js';
export { type EmbeddedIndexerOptions, openEmbeddedIndexer } from './embedded.js';
export type { QueryLimits } from './matcher.js';
export type { SearchLimits } from './search.js';
