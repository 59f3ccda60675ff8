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
export * from './events.js';
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
