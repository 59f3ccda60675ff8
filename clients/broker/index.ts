export type { BrokerHit } from '../../protocols/broker/index.js';
export type { ConnectionOptions } from '../connection/index.js';
export {
  type AbortOptions,
  BrokerClient,
  type BrokerClientOptions,
  type BrokerResults,
  DEFAULT_BROKER_PORT,
} from './client.js';
export * from './query-builder.js';
export * from './request.js';
