export { Connection, type ConnectionOptions } from './connection.js';
export { exchange } from './exchange.js';
export { type ByteLog, LargeLog, type LargeObjects, largeBytesOf } from './large-log.js';
export {
  asConnectionError,
  asError,
  EARLY_END,
  failedBeforeConnection,
  isHeaderTooLong,
  isRefusedMessage,
  isUnresolved,
} from './network-errors.js';
export { ReceiveBudget, type ReceiveLimits } from './receive-budget.js';
