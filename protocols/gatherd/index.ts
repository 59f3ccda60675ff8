export { GatherdClientSession } from './client-session.js';
export {
  commandLine,
  type DataRequest,
  type DataResults,
  describeCommand,
  GATHERD_COMMANDS,
  type GatherdCommand,
  parseCommand,
  parseTimestamp,
  type SequenceMark,
  type SessionSetting,
  type UpdateResult,
} from './commands.js';
export {
  combineCrc32,
  crc32,
  encodeGzipTrailer,
  GZIP_HEADER,
  GzipHeaderReader,
  GzipTrailerReader,
  MAX_GZIP_HEADER_BYTES,
} from './gzip.js';
export * from './server-session.js';
export type { ClientState, ServerState } from './states.js';
export type {
  GatherdClientEvent,
  GatherdClientOptions,
  ObjectDelivery,
  SetPending,
  UpdateDelivery,
  UpdateEvent,
} from './update-reader.js';
export {
  BUSY_LINE,
  encodeStatusLine,
  GATHERD_CODES,
  GATHERD_PORT,
  GATHERD_VERSION,
  MAKE_ROOM_LINE,
  MAX_LINE_BYTES,
  parseStatusLine,
  type StatusLine,
} from './vocabulary.js';
