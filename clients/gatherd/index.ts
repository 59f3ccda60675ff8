export type { ReceiveBudget } from '../connection/receive-budget.js';
export {
  type GatherdChange,
  GatherdClient,
  type GatherdClientConnectOptions,
  type GatherdWarning,
  type UpdateRequest,
} from './client.js';
export {
  type CollectedTotals,
  Collection,
  type CollectOptions,
  type CollectRetry,
  collectChanges,
} from './collect.js';
