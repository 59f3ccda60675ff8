export type { AbortOptions, PeerOptions, ReceiveBudget } from '../connection/index.js';
export {
  type GatherdChange,
  GatherdClient,
  type GatherdClientOptions,
  type GatherdWarning,
  type UpdateRequest,
} from './client.js';
export * from './collect.js';
export type { InflateLimits } from './inflater.js';
