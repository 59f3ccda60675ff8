export { AppendFileSync, type AppendFileSyncOptions } from './append-file-sync.js';
export type { ConnectionLimits, HostConnection } from './connection.js';
export { createDebug, type Debug, DebugFlags } from './debug-flags.js';
export { type DetachOptions, startDetached } from './detach.js';
export { connectionsWithinLimit } from './fd-limit.js';
export { Listener, type ListenerOptions } from './listener.js';
export {
  createLogger,
  createLoggerOn,
  formatHarvestLine,
  harvestLines,
  type Logger,
  type LoggerOptions,
  type OpenLog,
  openLog,
} from './logger.js';
export { createPeer, type NameLookup, NO_ADDRESS, type Peer, plainAddress, systemLookup } from './peer.js';
export { PidFile, type PidRecord, removePidFile, runningProcess, stopProcess } from './pid-file.js';
export { processIdentity } from './process-identity.js';
export { runSession } from './run-session.js';
export { SCRIPT_MARK, shellWord, writeScript } from './script-file.js';
export {
  openStandardConnection,
  type StandardConnection,
  type StandardConnectionOptions,
  shieldStandardError,
} from './standard-connection.js';
export { StopSignal, type StopSignalOptions } from './stop-signal.js';
export { type HostOptions, TcpHost } from './tcp-host.js';
export { traceConnection } from './traced-connection.js';
