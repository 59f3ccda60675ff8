export type { AbortOptions } from '../connection/index.js';
export { type LinkQuery, type PagesQuery, ReferencesCalls } from './calls.js';
export { ReferencesClient, type ReferencesClientOptions } from './client.js';
export * from './configuration.js';
export * from './linked-urls.js';
export { ReferencesPool, type ReferencesPoolOptions } from './pool.js';
