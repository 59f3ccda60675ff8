export { BrokerHit } from '../../protocols/broker/index.js';
export type { AbortOptions, PeerOptions } from '../connection/index.js';
export {
  BrokerClient,
  type BrokerClientOptions,
  type BrokerPeerOptions,
  type BrokerResults,
  DEFAULT_BROKER_PORT,
} from './client.js';
export * from './query-builder.js';
export {
  type OpaqueMode,
  type QueryInput,
  type QueryRequest,
  queryMessage,
  requestFlags,
} from './request.js';
