export * from './decoder.js';
export {
  clampU32,
  DEFAULT_FORMAT,
  dataBytesOf,
  FILE_HEADER_BYTES,
  objectDirectory,
  objectName,
  oidOfFileName,
  READINGS,
  RECORD_HEADER_BYTES,
  type RecordState,
  type RegistryFormat,
  type RegistryReading,
  registryFormat,
  sizeFieldOf,
  stateOf,
  U32_MAX,
} from './format.js';
export { GathererIds, type GathererTriple } from './gatherer-ids.js';
export {
  decodeRecordHeader,
  decodeRegistryHeader,
  encodeRecordHeader,
  encodeRegistryHeader,
  type RecordHeader,
  type RegistryCounts,
  type RegistryHeader,
} from './header.js';
export {
  decodeRecordData,
  emptyFields,
  encodeRecordData,
  encodeRegistryRecord,
  FIELDS,
  isRegistryVersion,
  type RecordGatherer,
  type RegistryRecord,
  type RegistryVersion,
} from './record.js';
