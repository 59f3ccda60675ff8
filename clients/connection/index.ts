export { onConfirmedEnd } from './confirmed-end.js';
export {
  type AbortOptions,
  Connection,
  type ConnectionOptions,
  exchange,
  type PeerOptions,
} from './connection.js';
export { type ByteLog, LargeLog, type LargeObjects, largeBytesOf } from './large-log.js';
export * from './network-errors.js';
export { ReceiveBudget, type ReceiveLimits } from './receive-budget.js';
