export type { MonitorOptions } from '../monitor/monitor.js';
export { type AccessDecision, admitPeer } from './access.js';
export type { ChunkCache, ChunkCacheOptions, ChunkLease, ChunkSource } from './chunk-cache.js';
export type { ServedGeneration } from './current-snapshot.js';
export { CurrentSnapshot, type SnapshotSource } from './current-snapshot.js';
export {
  type GatherdDaemonOptions,
  type GatherdProgramOptions,
  runDaemon,
  runInetd,
} from './daemon.js';
export { monitoredGatherd } from './figures.js';
export { type GatherdFileNames, type GatherdFiles, gatherdFiles } from './files.js';
export type { GenerationCopiesOptions } from './generation-copies.js';
export { encodeInfo, type GathererIdentity } from './info.js';
export { MemoryDatabase, type MemoryDatabaseOptions } from './memory-database.js';
export { GatherdServer, type GatherdServerOptions } from './server.js';
export { GatherdService, type GatherdServiceOptions } from './service.js';
export { type GatherdCounts, type GatherdTransfer, type SessionContext, serveGatherd } from './session.js';
