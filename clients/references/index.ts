export { type CallOptions, type LinkQuery, type PagesQuery, ReferencesCalls } from './calls.js';
export { ReferencesClient, type ReferencesClientOptions } from './client.js';
export {
  type CommonConfiguration,
  type CommonConfigurationOptions,
  type ConfigurationList,
  fetchCommonConfiguration,
} from './configuration.js';
export {
  type LinkedUrls,
  type LinkedUrlsOptions,
  type LinkListName,
  linkedUrls,
} from './linked-urls.js';
export { ReferencesPool, type ReferencesPoolOptions } from './pool.js';
