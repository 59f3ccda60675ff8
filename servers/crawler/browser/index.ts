export { ChromiumLoader, type ChromiumLoaderOptions } from './chromium-loader.js';
export { findChromium } from './find-chromium.js';
export { PageParts, type PagePartsOptions } from './page-parts.js';
export { PartCache } from './part-cache.js';
export { processTree } from './process-tree.js';
export {
  type LoadedPage,
  PageError,
  type PageLoad,
  type PageLoader,
  type PartResponse,
} from './types.js';
