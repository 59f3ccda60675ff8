export { createFetcher, type FetcherOptions } from './create-fetcher.js';
export { entryUrl, FileFetcher, type FileFetcherOptions } from './file-fetcher.js';
export { HttpFetcher, type HttpFetcherOptions } from './http-fetcher.js';
export { LocalMapper, type LocalMapping } from './local-mapping.js';
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_TIMEOUT_MS,
  DIRECTORY_TYPE,
  type Fetcher,
  type FetchRequest,
  type FetchResult,
} from './types.js';
