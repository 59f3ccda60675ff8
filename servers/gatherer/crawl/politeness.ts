import type { RootNode } from '../../../protocols/config/index.js';
import type { CrawlUri } from './crawl-uri.js';
import type { ServerCache } from './server-cache.js';

export interface PolitenessOptions {
  /** Seconds between contacts for URIs of no RootNode (LeafNodes): `Access-Delay` (G-38). */
  readonly accessDelay: number;
  /** Seconds of Crawl-delay that are honoured at most (CRAWL-6.1, respect-crawl-delay-up-to-secs). */
  readonly maxCrawlDelay: number;
}

/**
 * How long a queue sleeps after a contact with its server, in milliseconds (G-38, G-63, G-66): the RootNode's Delay,
 * raised by Crawl-delay, never lowered by it. Nothing is waited for when nobody was contacted (CRAWL-7.1), nor for files.
 */
export function politenessDelay(
  uri: CrawlUri,
  roots: readonly RootNode[],
  servers: ServerCache,
  options: PolitenessOptions,
): number {
  if (uri.contactEnd === 0 || uri.fetched?.local === true) return 0;
  const seconds = roots[uri.entry.uri.root]?.delay ?? options.accessDelay;
  const crawlDelay = Math.min(servers.crawlDelay(uri.url) ?? 0, options.maxCrawlDelay);
  return Math.max(seconds, crawlDelay) * 1000;
}
