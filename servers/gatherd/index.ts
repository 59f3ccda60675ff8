export { type AccessDecision, admitPeer } from './access.js';
export { CurrentSnapshot, type SnapshotSource } from './current-snapshot.js';
export { type ExportCount, gzipMember, wrappedStream } from './export-stream.js';
export { encodeInfo, type GathererIdentity } from './info.js';
export { GatherdServer, type GatherdServerOptions } from './server.js';
export { type GatherdTransfer, type SessionContext, serveGatherd } from './session.js';
