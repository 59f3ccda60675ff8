import {
  type ElementReader,
  type ListedElement,
  type ListedReference,
  parseListedDate,
} from './listing-model.js';

/** File names of sitemaps and feeds. */
const LISTING_NAME = /\.(?:xml|rss|rdf|atom|txt)(?:\.gz)?$/i;

/**
 * Returns the listings of a RootNode with `Enumeration=sitemap` or `feed` (G-172): the URL itself if its name
 * is that of a listing or it is not an HTTP URL; else the site's robots.txt and `/sitemap.xml`, and the page,
 * which may name feeds.
 * @param url canonical
 */
export function sitemapUrls(url: string): readonly string[] {
  const { origin, pathname, protocol } = new URL(url);
  if (!/^https?:$/.test(protocol) || LISTING_NAME.test(pathname)) return [url];
  const listings = [`${origin}/robots.txt`, `${origin}/sitemap.xml`];
  return pathname === '/' ? listings : [url, ...listings];
}

/**
 * Reads `urlset` and `sitemapindex` of the sitemap protocol. Only the `loc` children of `url` are used:
 * `image:loc` is not a page.
 */
export class SitemapEntries implements ElementReader {
  readonly #onReference: (reference: ListedReference) => void;
  #reference = '';
  #lastModified = 0;

  constructor(
    readonly kind: 'sitemap' | 'sitemap-index',
    onReference: (reference: ListedReference) => void,
  ) {
    this.#onReference = onReference;
  }

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
      this.#onReference({ reference: this.#reference, base, lastModified: this.#lastModified, kind });
      this.#reference = '';
    }
  }
}

const FEED_TYPE = /^application\/(?:rss|atom|rdf)\+xml\b/i;

/** Reads the feeds that an HTML page names: `LINK REL=alternate TYPE=application/rss+xml` and similar. */
export class FeedLinks implements ElementReader {
  readonly #onReference: (reference: ListedReference) => void;
  readonly kind = 'page';
  #base = '';

  constructor(onReference: (reference: ListedReference) => void) {
    this.#onReference = onReference;
  }

  open({ name, attributes }: ListedElement): void {
    const { rel = '', type = '', href } = lowerCaseNames(attributes);
    if (href === undefined) return;
    if (name === 'base' && this.#base === '' && /^https?:/.test(href)) this.#base = href;
    if (name !== 'link' || !FEED_TYPE.test(type) || !rel.toLowerCase().split(/\s+/).includes('alternate'))
      return;
    this.#onReference({ reference: href, base: this.#base, lastModified: 0, kind: 'listing' });
  }

  close(): void {
    // The texts of a page are not used.
  }
}

function lowerCaseNames(attributes: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value]));
}
