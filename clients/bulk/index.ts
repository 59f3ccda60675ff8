export type { ChangeKind, DigestIdentity, DigestReport } from '../../protocols/bulk/index.js';
export { BulkClient, type BulkClientOptions, type BulkTransferRequest } from './client.js';
export { type BrokerDifference, type CompareOptions, compareBrokers } from './compare.js';
export type { BulkWarning } from './reply.js';
export { type BulkReceived, type BulkTotals, BulkTransfer } from './transfer.js';
