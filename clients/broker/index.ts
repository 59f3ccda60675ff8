export type { BrokerHit } from '../../protocols/broker/index.js';
export {
  type AbortOptions,
  BrokerClient,
  type BrokerClientOptions,
  type BrokerResults,
  DEFAULT_BROKER_PORT,
} from './client.js';
export { type OpaqueMode, type QueryRequest, queryMessage, requestFlags } from './request.js';
