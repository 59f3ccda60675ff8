export type { ChangeKind, DigestIdentity, DigestReport } from '../../protocols/bulk/index.js';
export type { ByteLog, LargeObjects } from '../connection/large-log.js';
export type { ReceiveLimits } from '../connection/receive-budget.js';
export type { InflateLimits } from '../gatherd/inflater.js';
export { BulkClient, type BulkClientOptions, type BulkTransferRequest } from './client.js';
export { type BrokerDifference, type CompareOptions, compareBrokers } from './compare.js';
export type { BulkWarning } from './reply.js';
export { type BulkChange, type BulkTotals, BulkTransfer } from './transfer.js';
