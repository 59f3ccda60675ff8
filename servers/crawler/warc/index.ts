export {
  type CaptureMetadata,
  type CaptureRecords,
  captureRecords,
  metadataRecord,
  type RequestHead,
  type Revisit,
} from './captures.js';
export { examineRecords } from './complete-records.js';
export { sha1Base32 } from './digest.js';
export { type NewWarcRecord, newRecordId, type WarcRecordType, warcDate } from './new-record.js';
export { type RecoveredFile, WarcFiles, type WarcFilesOptions, type WarcPosition } from './warc-files.js';
