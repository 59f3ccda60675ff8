// Divides a web among several crawlers, without a connection between them (CRAWL-9.8).
import { crawlerOf, hostOf, isEnumerable, queueAssignment } from '../../../protocols/urls/index.js';

export interface CrawlMapOptions {
  /** Number of crawlers. */
  readonly crawlers: number;
  /** The number of this one, from 0. */
  readonly own: number;
  /** `domain`: the registered domain decides; `queue`: the class key of the URI. */
  readonly by: 'domain' | 'queue';
}

/** CRAWL-9.8: which crawler is responsible for a URI: the same for all crawlers of one number and the same settings. */
export class CrawlMap {
  readonly #domainOf = queueAssignment({ policy: 'topmost' });

  constructor(readonly options: CrawlMapOptions) {}

  /** Returns the number of another crawler; undefined if this one is responsible. */
  foreignCrawler(uri: string, classKey: string): number | undefined {
    const { crawlers, own, by } = this.options;
    // A `dns:` or file URI belongs to the crawler that has it.
    if (uri.startsWith('file:') || !isEnumerable(uri)) return undefined;
    // All ports and schemes of a host belong together.
    const key = by === 'domain' ? this.#domainOf({ uri: `http://${hostOf(uri)}/` }) : classKey;
    const crawler = crawlerOf(key, crawlers);
    return crawler === own ? undefined : crawler;
  }
}
