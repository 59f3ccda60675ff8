export type { ConnectionLimits, HostConnection } from './connection.js';
export {
  createLogger,
  createLoggerOn,
  formatHarvestLine,
  harvestLines,
  type Logger,
  type LoggerOptions,
} from './logger.js';
export { createPeer, type NameLookup, type Peer, plainAddress, systemLookup } from './peer.js';
export { type HostOptions, TcpHost } from './tcp-host.js';
