export type { ReceiveBudget } from '../connection/receive-budget.js';
export * from './client.js';
export * from './collect.js';
