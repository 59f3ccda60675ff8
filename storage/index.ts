export type { Complete } from '../protocols/defined.js';
export type {
  BlobInfo,
  BlobListOptions,
  BlobReadOptions,
  BlobRequestOptions,
  BlobSource,
  BlobStore,
} from './blobs/contract.js';
export {
  BrokerStore,
  type BrokerStoreOptions,
  type CollectionPointState,
} from './broker/broker-store.js';
export type { StoredParts } from './broker/large-objects.js';
export type { LargePart } from './broker/object-reader.js';
export { type ObjectReader, openObjectReader } from './broker/object-reader.js';
export {
  type ApplyCounts,
  type ApplyObserver,
  type ApplyOptions,
  type ApplyResult,
  addCounts,
  type CollectedChange,
  NO_COUNTS,
} from './broker/registry-apply.js';
export type {
  ChangedSinceOptions,
  EntriesOptions,
  StoredCopy,
  ValidOptions,
} from './broker/registry-changes.js';
export type { RepairedTimes } from './broker/repair-times.js';
export { type CollectionState, SharedCollections } from './broker/shared-collections.js';
export type { CollectionRun, PointState, StoreChange } from './broker/tables.js';
export type { BatchContent, CommitBatch, PartitionOfBatch, ReferenceChange } from './gatherer/batch.js';
export { type CommitOptions, type GatheredReferences, GathererBatch } from './gatherer/batch.js';
export type { DocumentStore } from './gatherer/documents.js';
export type { LinkRows, LinkTables } from './gatherer/link-tables.js';
export {
  MAX_PARTITIONS,
  PARTITION_LEASES,
  type PartitionedStore,
  type PartitionStore,
  partitionLease,
  partitionOf,
} from './gatherer/partitions.js';
export {
  type QueueEntry,
  type QueuePosition,
  type QueueSurvey,
  queueKey,
  type WorkQueueStore,
} from './gatherer/queues.js';
export { GathererStore, type GathererStoreOptions, type MetaChange } from './gatherer/store.js';
export type {
  GathererFormats,
  InactivePosition,
  InboxPlace,
  InboxRow,
  MetaValue,
  StoredEvent,
  WaitingPosition,
  WaitingUri,
} from './gatherer/tables.js';
export type { BlockRange, ClearBlocks, ClearBlocksOptions } from './generations/export/clear-blocks.js';
export {
  deflateEnd,
  deflatePiece,
  EXPORT_HEAD,
  EXPORT_TAIL,
} from './generations/export/format.js';
export type {
  BlockSelection,
  BlockSum,
  DeflatedPiece,
  ReadyExport,
} from './generations/export/ready-export.js';
export type { GathererNames } from './generations/export/survey.js';
export { Generations, type GenerationsOptions, type PublishedGeneration } from './generations/generations.js';
export type { LoginSeal, Sealing } from './generations/login-seal.js';
export type { PublishOptions } from './generations/publish.js';
export type {
  NumberedChange,
  NumberedChanges,
  SnapshotInfo,
  SummarySnapshot,
} from './generations/snapshot.js';
export { type HeldLease, LeaseKeeper, type LeaseKeeperOptions } from './leases/lease-keeper.js';
export {
  type Lease,
  type LeaseHolder,
  Leases,
  type LeasesOptions,
  StaleLeaseError,
} from './leases/leases.js';
export type {
  Level,
  LevelOptions,
} from './level/level.js';
export type { OpenDatabaseOptions } from './level/open-database.js';
export { isStoreInUse, type OpenDatabase, openDatabase } from './level/open-database.js';
export { hasStore, placeOf, setStoreUrl } from './place/store-url.js';
export type { PublishedFiles } from './publishing/publish-files.js';
export type { Replica, ReplicaGeneration, ReplicaOptions } from './publishing/replica.js';
export type { TombstoneRecord } from './records/records.js';
export {
  type DocumentLink,
  type DocumentRecord,
  type FrontierState,
  type LinkCounters,
  NETWORK,
  QUEUE_STATUS,
  type QueuedUri,
  type QueueRecord,
  type RegistryEntry,
  type Removal,
  SCHEMA_VERSION,
} from './records/records.js';
export type {
  ClaimOptions,
  ExclusiveOptions,
  PageOptions,
  Row,
  RowChange,
  RowReader,
  Rows,
  RowsOptions,
  RowsSnapshot,
  RowTransaction,
  RowWriter,
  StoreKind,
} from './rows/contract.js';
export type { KeyCodec, KeyRange } from './rows/keys.js';
export type { RowCodec, Table, TableFormat, TablePageOptions } from './rows/table.js';
export type { SummaryChange } from './summaries/summary-changes.js';
export type {
  ExportChunk,
  ExportOptions,
  Summary,
  SummaryPlace,
  SummaryStore,
} from './summaries/summary-store.js';
export type { Tombstone } from './summaries/tables.js';
export type { TombstoneStore } from './summaries/tombstones.js';
