export type { RecentWork } from '../../protocols/fair-queue.js';
export { addressGroup } from './address-group.js';
export type { AdmissionLimits } from './admission.js';
export {
  type ByteStream,
  type ConnectionContext,
  type ConnectionLimits,
  type HostConnection,
  runSession,
  type SocketConnection,
} from './connection.js';
export {
  type ConnectionSlot,
  ConnectionTable,
  type PeerLimits,
  type TableLimits,
} from './connection-table.js';
export { createDebug, type Debug, DebugFlags } from './debug-flags.js';
export { type DetachOptions, startDetached, startUnwatched } from './detach.js';
export type { FairShareOptions } from './fair-share.js';
export { FairShare, type SessionShare } from './fair-share.js';
export { connectionsWithinLimit } from './fd-limit.js';
export type { LineFileOptions } from './line-writer.js';
export { type Listen, Listener, type ListenerOptions, type ListenRequest, listenTcp } from './listener.js';
export { LogFile, type LogFileOptions } from './log-file.js';
export { type ConnectionLines, LogLimiter, type LogLimits, type PeerLog } from './log-limit.js';
export {
  createLogger,
  createLoggerOn,
  formatHarvestLine,
  type Logger,
  type LoggerOptions,
  type LogRotation,
  type OpenLog,
  openLog,
} from './logger.js';
export type { NewcomerCounts } from './newcomers.js';
export { notifyReady } from './notify.js';
export { passwordFileWarning } from './password-file.js';
export { createPeer, type NameLookup, NO_ADDRESS, type Peer, plainAddress, systemLookup } from './peer.js';
export { lockOf, PidFile, type PidRecord, removePidFile, runningProcess, stopProcess } from './pid-file.js';
export { processIdentity } from './process-identity.js';
export type { ProgramOptions } from './program-options.js';
export { SCRIPT_MARK, shellWord, writeScript } from './script-file.js';
export type { SendLimits } from './send-watch.js';
export { acceptedBytes, SendWatch } from './send-watch.js';
export {
  openStandardConnection,
  type StandardConnection,
  type StandardConnectionOptions,
} from './standard-connection.js';
export { shieldStandardError } from './standard-descriptors.js';
export {
  STOP_LIMIT_MS,
  type StopLimit,
  StopSignal,
  type StopSignalOptions,
  stopLimit,
} from './stop-signal.js';
export { HostedServer, type HostOptions, type LastWords, TcpHost } from './tcp-host.js';
export { Certificate, type CertificateFiles, openCertificate } from './tls.js';
export { traceConnection } from './traced-connection.js';
