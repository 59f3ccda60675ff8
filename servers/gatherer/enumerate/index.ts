export { isListed, searchSettings } from './listed.js';
export {
  DEFAULT_MAX_ENTRIES,
  DEFAULT_MAX_LISTING_BYTES,
  DEFAULT_MAX_LISTING_DEPTH,
  type Listing,
  type ListingOptions,
  listedUrls,
  readListing,
} from './listing.js';
export type { ListedUrl, ListingKind } from './listing-model.js';
export {
  DEFAULT_MAX_LEVELS,
  DEFAULT_MAX_LINES,
  type EnumerationOptions,
  type EnumerationPrograms,
  enumerationSettings,
  expandLeafNodes,
  expandRootNodes,
} from './programs.js';
export { sitemapUrls } from './sitemaps.js';
