export { isListed, searchSettings } from './listed.js';
export { type Listing, type ListingOptions, listedUrls, readListing } from './listing.js';
export {
  type EnumerationOptions,
  enumerationSettings,
  expandLeafNodes,
  expandRootNodes,
} from './programs.js';
export { sitemapUrls } from './sitemaps.js';
