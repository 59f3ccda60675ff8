export type { GatherdClientEvent, GatherdClientOptions } from './client-events.js';
export { GatherdClientSession } from './client-session.js';
export { combineCrc32 } from './crc.js';
export {
  crc32,
  encodeGzipTrailer,
  GZIP_HEADER,
  GzipHeaderReader,
  GzipTrailerReader,
  MAX_GZIP_HEADER_BYTES,
} from './gzip.js';
export type { ObjectDelivery } from './object-reader.js';
export {
  type GatherdServerEffect,
  type GatherdServerOptions,
  GatherdServerSession,
} from './server-session.js';
export {
  CLIENT_STATES,
  type ClientState,
  type ClientStep,
  nextState,
  SERVER_STATES,
  type ServerState,
  type ServerStep,
  type StateTable,
} from './states.js';
export type { UpdateDelivery, UpdateEvent } from './update-reader.js';
export type { SessionSetting } from './vocabulary.js';
export {
  COMMAND_LINE,
  encodeStatusLine,
  GATHERD_CODES,
  GATHERD_COMMANDS,
  GATHERD_PORT,
  GATHERD_VERSION,
  type GatherdCommand,
  MAX_LINE_BYTES,
  parseCommand,
  parseStatusLine,
  parseTimestamp,
  type StatusLine,
} from './vocabulary.js';
