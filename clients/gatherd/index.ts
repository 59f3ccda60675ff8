export type { AbortOptions, PeerOptions, ReceiveBudget } from '../connection/index.js';
export * from './client.js';
export * from './collect.js';
export type { InflateLimits } from './inflater.js';
