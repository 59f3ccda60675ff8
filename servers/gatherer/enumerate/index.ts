export { isListed, searchSettings } from './listed.js';
export { hostOf, type Listing, type ListingOptions, listedUrls, readListing } from './listing.js';
export {
  type EnumerationOptions,
  enumerationSettings,
  expandLeafNodes,
  expandRootNodes,
} from './programs.js';
export { sitemapUrls } from './sitemaps.js';
