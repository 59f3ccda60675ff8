import type { RootNode } from '../../../protocols/config/index.js';
import type { CrawlSettings } from '../../crawler/order/settings.js';

/** G-172: values of `Enumeration=` that are not programs. A program of such a name needs its path. */
const LISTED: ReadonlySet<string> = new Set(['sitemap', 'feed']);

/** G-172: whether a RootNode's LeafNodes are listed by its site's sitemaps and feeds. */
export function isListed(root: RootNode): boolean {
  return root.enumeration !== undefined && LISTED.has(root.enumeration.toLowerCase());
}

/**
 * G-30: returns the frontier settings of `Search=` for the URIs of a RootNode. With `Search=Depth` its links
 * precede those of other RootNodes in the same queue (CRAWL-2.6: `preferenceDepthHops` 0), and the links of a
 * document precede its siblings; `Search=Breadth`, the default, keeps the order of the queue.
 */
export function searchSettings({ search }: Pick<RootNode, 'search'>): Partial<CrawlSettings> {
  return search === 'depth' ? { preferenceDepthHops: 0, uriPrecedence: 'depth-first' } : {};
}
