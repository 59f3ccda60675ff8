export { type CommitOptions, type GatheredReferences, GathererBatch } from './batch.js';
export {
  BrokerStore,
  type BrokerStoreOptions,
  type CollectionPointState,
  type StoreChange,
} from './broker-store.js';
export type { DocumentStore } from './documents.js';
export {
  deflateEnd,
  deflatePiece,
  EXPORT_HEAD,
  EXPORT_TAIL,
} from './export/format.js';
export type { BlockRange, BlockSelection, BlockSum, ReadyExport } from './export/ready-export.js';
export type { GathererNames } from './export/survey.js';
export { Generations, type GenerationsOptions } from './generations.js';
export type { LinkTables } from './link-tables.js';
export type { MetaStore, MetaValue } from './meta.js';
export { type ObjectReader, openObjectReader } from './object-reader.js';
export type { PublishOptions } from './publish.js';
export type { InactivePlace, QueueRecordStore } from './queue-records.js';
export {
  type QueueEntry,
  type QueuePlace,
  type QueueSurvey,
  queueKey,
  type WorkQueueStore,
} from './queues.js';
export {
  type DocumentLink,
  type DocumentRecord,
  type FrontierState,
  type QueuedUri,
  type QueueRecord,
  type RegistryEntry,
  type Removal,
  SCHEMA_VERSION,
  STANDING,
} from './records.js';
export type {
  ApplyCounts,
  ApplyObserver,
  ApplyOptions,
  ApplyResult,
  CollectedChange,
} from './registry-apply.js';
export type { StoredCopy } from './registry-changes.js';
export type { SnapshotInfo, SummarySnapshot } from './snapshot.js';
export { GathererStore, type GathererStoreOptions } from './store.js';
export type { ExportChunk, ExportOptions, Summary, SummaryStore } from './summaries.js';
export type { Tombstone, TombstoneStore } from './tombstones.js';
