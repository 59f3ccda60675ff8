export type { GatherdClientEvent, GatherdClientOptions } from './client-events.js';
export { GatherdClientSession } from './client-session.js';
export {
  commandLine,
  type DataRequest,
  describeCommand,
  GATHERD_COMMANDS,
  type GatherdCommand,
  parseCommand,
  parseTimestamp,
  type SessionSetting,
} from './commands.js';
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
export {
  encodeStatusLine,
  GATHERD_CODES,
  GATHERD_PORT,
  GATHERD_VERSION,
  MAX_LINE_BYTES,
  parseStatusLine,
  type StatusLine,
} from './vocabulary.js';
