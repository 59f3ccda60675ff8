import type { CrawlUri, OutLink } from './crawl-uri.js';
import type { Candidate } from './frontier/contract.js';

/**
 * Decides which discovered links may be crawled (CRAWL-1.3). A decision takes two steps because names may have
 * to be resolved: {@link prepare} waits, {@link candidate} does not.
 */
export interface Scope {
  /** Resolves what the decisions about these links of the document need. */
  prepare(uri: CrawlUri, links: readonly OutLink[]): Promise<void>;
  /** Returns the frontier's candidate for the link; undefined if the link is out of scope. */
  candidate(uri: CrawlUri, link: OutLink): Candidate | undefined;
  /** Counts links that are not decided about, because the document has too many (G-173). */
  dropped?(uri: CrawlUri, count: number): void;
  /** Counts documents of which not all links could be read (CRAWL-22.13). */
  unread?(uri: CrawlUri): void;
  /** Counts links from which a login was removed (G-81). */
  withoutLogin?(uri: CrawlUri, count: number): void;
  /** Counts hidden entries of a local directory that were left out. */
  leftOut?(uri: CrawlUri, count: number): void;
}
