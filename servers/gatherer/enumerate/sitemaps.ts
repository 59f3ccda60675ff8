import { parseListedDate } from './dates.js';
import type { ElementReader, ListedElement, ListedReference } from './listing-model.js';

/** Names that a sitemap or feed, not a site, usually has. */
const LISTING_NAME = /\.(?:xml|rss|rdf|atom|txt)(?:\.gz)?$/i;

/**
 * Where the URLs of a RootNode with `Enumeration=sitemap` or `feed` are looked for (G-172): at the URL itself when it has the look of
 * a listing, or is no HTTP URL; else where its site says in robots.txt, and at the usual place. A page may also name feeds.
 * @param url canonical
 */
export function sitemapUrls(url: string): readonly string[] {
  const { origin, pathname, protocol } = new URL(url);
  if (!/^https?:$/.test(protocol) || LISTING_NAME.test(pathname)) return [url];
  const found = [`${origin}/robots.txt`, `${origin}/sitemap.xml`];
  return pathname === '/' ? found : [url, ...found];
}

/** `urlset` and `sitemapindex` of the sitemap protocol. Only `loc` directly in `url` counts: `image:loc` is no page. */
export class SitemapEntries implements ElementReader {
  #reference = '';
  #lastModified = 0;

  constructor(
    readonly kind: 'sitemap' | 'sitemap-index',
    private readonly found: (reference: ListedReference) => void,
  ) {}

  open({ name }: ListedElement): void {
    if (name !== 'url' && name !== 'sitemap') return;
    this.#reference = '';
    this.#lastModified = 0;
  }

  close({ name, parent, base }: ListedElement, text: string): void {
    if (parent === 'url' || parent === 'sitemap') {
      if (name === 'loc') this.#reference = text;
      else if (name === 'lastmod') this.#lastModified = parseListedDate(text);
    } else if ((name === 'url' || name === 'sitemap') && this.#reference !== '') {
      const kind = name === 'url' ? 'document' : 'listing';
      this.found({ reference: this.#reference, base, lastModified: this.#lastModified, kind });
      this.#reference = '';
    }
  }
}

const FEED_TYPE = /^application\/(?:rss|atom|rdf)\+xml\b/i;

/** The feeds that an HTML page names: `LINK REL=alternate TYPE=application/rss+xml` and the like. */
export class FeedLinks implements ElementReader {
  readonly kind = 'page';
  #base = '';

  constructor(private readonly found: (reference: ListedReference) => void) {}

  open({ name, attributes }: ListedElement): void {
    const { rel = '', type = '', href } = lowerCased(attributes);
    if (href === undefined) return;
    if (name === 'base' && this.#base === '' && /^https?:/.test(href)) this.#base = href;
    if (name !== 'link' || !FEED_TYPE.test(type) || !rel.toLowerCase().split(/\s+/).includes('alternate'))
      return;
    this.found({ reference: href, base: this.#base, lastModified: 0, kind: 'listing' });
  }

  close(): void {
    // A page's texts list nothing.
  }
}

function lowerCased(attributes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value]));
}
