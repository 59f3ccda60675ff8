export type { ReplaceOptions } from '../files/replace-file.js';
export { changeDatabase, createProduction } from './change.js';
export { DatabaseFile, type DatabaseFileOptions, type WalkOptions } from './database-file.js';
export {
  describeKind,
  type FileKind,
  GENERATIONS_DIRECTORY,
  type LocatedSource,
  locateSource,
  PRODUCTION_FILE,
  TEMPLATES_FILE,
  WORKING_FILE,
} from './file-kind.js';
export type { GdbmOptions } from './gdbm-dump.js';
export {
  type LoadCounts,
  type LookupDatabase,
  loadObjects,
  lookupOf,
  openLookup,
  type ToolOptions,
  temporaryCopy,
} from './load.js';
export {
  type BinaryCounts,
  type CleanCounts,
  type CleanOptions,
  cleanDatabase,
  removeBinary,
} from './maintain.js';
export {
  type ConsolidateCounts,
  consolidate,
  type MergeCounts,
  mergeDatabases,
} from './merge.js';
export {
  locateExported,
  type PublishDirectoryOptions,
  type PublishedDirectory,
  publishDirectory,
} from './publish-directory.js';
export { type DatabaseRecord, recordOf, storedUrl } from './record.js';
export { openLocated, openSource, readStream, type SourceObject, type SourceOptions } from './sources.js';
export { type SynchronizeCounts, synchronize } from './synchronize.js';
