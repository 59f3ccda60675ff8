export { BulkReplyDecoder, type BulkReplyDecoderOptions } from './decoder.js';
export * from './digest.js';
export {
  BulkReplyEncoder,
  INTERFACE_MAJOR,
  INTERFACE_MINOR,
  MAGIC_NUMBER,
  MAX_DATA_BYTES,
  MAX_STRING_BYTES,
} from './encoder.js';
export type { BulkLargeItem } from './events.js';
export {
  BULK_ERROR,
  type BulkChange,
  type BulkEvent,
  type BulkExtension,
  type BulkInfo,
  type BulkLargeObject,
  type BulkListedObject,
  type BulkTrailer,
  CHANGE_KINDS,
  type ChangeKind,
} from './events.js';
export { type BulkRequest, encodeBulkRequest, isDigestPrefix, MAX_PREFIX } from './request.js';
export {
  BULK_STATUS,
  encodeBulkError,
  encodeBulkSuccess,
  formatTransferText,
  groupClose,
  groupOpen,
  parseTransferTime,
} from './shipped-reader.js';
export * from './tokens.js';
