export {
  BrokerStore,
  type BrokerStoreOptions,
  type CollectionPointState,
} from './broker/broker-store.js';
export type { StoreChange } from './broker/change-log.js';
export type { StoredParts } from './broker/large-objects.js';
export { type ObjectReader, openObjectReader } from './broker/object-reader.js';
export {
  type ApplyCounts,
  type ApplyObserver,
  type ApplyOptions,
  type ApplyResult,
  type CollectedChange,
  NO_COUNTS,
} from './broker/registry-apply.js';
export type { StoredCopy } from './broker/registry-changes.js';
export { type CommitOptions, type GatheredReferences, GathererBatch } from './gatherer/batch.js';
export type { DocumentStore } from './gatherer/documents.js';
export type { LinkTables } from './gatherer/link-tables.js';
export type { MetaStore, MetaValue } from './gatherer/meta.js';
export type { InactivePosition, QueueRecordStore } from './gatherer/queue-records.js';
export {
  type QueueEntry,
  type QueuePosition,
  type QueueSurvey,
  queueKey,
  type WorkQueueStore,
} from './gatherer/queues.js';
export { GathererStore, type GathererStoreOptions } from './gatherer/store.js';
export type { WaitingUri } from './gatherer/waiting-uris.js';
export {
  deflateEnd,
  deflatePiece,
  EXPORT_HEAD,
  EXPORT_TAIL,
} from './generations/export/format.js';
export type { BlockRange, BlockSelection, BlockSum, ReadyExport } from './generations/export/ready-export.js';
export type { GathererNames } from './generations/export/survey.js';
export { Generations, type GenerationsOptions, type PublishedGeneration } from './generations/generations.js';
export type { PublishOptions } from './generations/publish.js';
export type { SnapshotInfo, SummarySnapshot } from './generations/snapshot.js';
export { type OpenDatabase, openDatabase } from './level/open-database.js';
export {
  type DocumentLink,
  type DocumentRecord,
  type FrontierState,
  NETWORK,
  QUEUE_STATUS,
  type QueuedUri,
  type QueueRecord,
  type RegistryEntry,
  type Removal,
  SCHEMA_VERSION,
} from './records/records.js';
export type { ExportChunk, ExportOptions, Summary, SummaryStore } from './summaries/summary-store.js';
export type { Tombstone, TombstoneStore } from './summaries/tombstones.js';
