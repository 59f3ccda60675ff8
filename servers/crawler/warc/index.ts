export { ArchiveIndex, damageSentence, type FileIndex, indexArchive } from './archive-index.js';
export {
  type CaptureMetadata,
  type CaptureRecords,
  captureRecords,
  conversionRecord,
  dnsRecord,
  metadataRecord,
  payloadDigestOf,
  type Revisit,
} from './captures.js';
export { examineRecords } from './complete-records.js';
export { sha1Base32 } from './digest.js';
export { type NewWarcRecord, newRecordId, type WarcRecordType, warcDate } from './new-record.js';
export { type ArchiveFormat, type Compression, compressionOf, formatOf } from './record-compression.js';
export { SideCaptures } from './side-captures.js';
export { packWacz } from './wacz.js';
export { type RecoveredFile, WarcFiles, type WarcFilesOptions, type WarcPosition } from './warc-files.js';
export { zstdProblem } from './zstd-frames.js';
