export type { BrokerHit } from '../../protocols/broker/index.js';
export {
  type AbortOptions,
  BrokerClient,
  type BrokerClientOptions,
  type BrokerResults,
  DEFAULT_BROKER_PORT,
} from './client.js';
export type { BuiltQuery, OneWord } from './query-builder.js';
export { AttributeCondition, EveryObject, QueryExpression, q } from './query-builder.js';
export {
  type OpaqueMode,
  type QueryInput,
  type QueryRequest,
  queryMessage,
  requestFlags,
} from './request.js';
