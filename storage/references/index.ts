export type { BerkeleyFile } from './berkeley-db.js';
export { berkeleyFile } from './berkeley-db.js';
export {
  type PublishedReferences,
  ReferencesBuilder,
  type ReferencesBuilderOptions,
} from './builder.js';
export type {
  DocumentInput,
  LinkKind,
  LinkList,
  LinkStore,
  References,
  ReferencesCounts,
  ServerRecord,
  ServerStore,
  UrlRecord,
  UrlStore,
} from './contract.js';
export { CurrentReferences, type CurrentReferencesOptions } from './current.js';
export { type DumpFormat, dumpDocuments, dumpLinks, dumpServers } from './dump.js';
export type { Manifest } from './format.js';
export { referencesDirectory } from './format.js';
export { idsOf } from './link-table.js';
export { type LoadOptions, loadReferences } from './load.js';
export { type PageRankOptions, type PageRanks, pageRank, type RankGraph } from './pagerank.js';
export type { ByteOrder } from './pair-parser.js';
export type { BuildPhase, ProgressOptions } from './progress-reporter.js';
export { type PublishedRanks, publishRanks, type RankOptions } from './rank-publication.js';
export { ReferencesReader, type ReferencesReaderOptions } from './reader.js';
export { ThreadedReferencesBuilder } from './threaded-builder.js';
