export { Connection, type ConnectionOptions } from './connection.js';
export { exchange } from './exchange.js';
export { asConnectionError, asError, failedBeforeConnection } from './network-errors.js';
