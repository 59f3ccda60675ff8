import type { RootNode } from '../../../protocols/config/index.js';
import type { CrawlSettings } from '../../crawler/order/settings.js';

/** G-172: words behind `Enumeration=` that are no programs. A program of such a name is given with its path. */
const LISTED: ReadonlySet<string> = new Set(['sitemap', 'feed']);

/** G-172: whether a RootNode's LeafNodes are those that its site's sitemaps and feeds list. */
export function isListed(root: RootNode): boolean {
  return root.enumeration !== undefined && LISTED.has(root.enumeration.toLowerCase());
}

/**
 * G-30: what `Search=` asks of the frontier, for URIs that descend from this RootNode. `Search=Depth` gives every link precedence
 * over what waits (CRAWL-2.6: `preferenceDepthHops` 0); `Search=Breadth`, the default, is the order of a queue as it is.
 */
export function searchSettings({ search }: Pick<RootNode, 'search'>): Partial<CrawlSettings> {
  return search === 'depth' ? { preferenceDepthHops: 0 } : {};
}
