import { canonicalUrl } from '../../../protocols/urls/index.js';
import { localName, type MarkupAttributes, MarkupStream } from '../../essence/html/markup-stream.js';
import { FeedEntries } from './feeds.js';
import type {
  ElementReader,
  ListedElement,
  ListedReference,
  ListingFormat,
  ListingKind,
} from './listing-model.js';
import { FeedLinks, SitemapEntries } from './sitemaps.js';

/** Maximum length of an element's text in UTF-16 units: more than any URL or date needs. */
const MAX_TEXT = 8192;
/** Maximum number of open elements: ten times the need of the formats. */
const MAX_DEPTH = 100;
/** The same for pages, whose head may have elements without end tags. */
const MAX_PAGE_DEPTH = 1000;

/**
 * Reads XML as a stream of elements; the root element determines the format. Entities of the document are not
 * expanded, and external ones are not fetched. A document that is not well-formed is read up to the error.
 */
export class ListingXml implements ListingFormat {
  readonly found: ListedReference[] = [];
  problem: string | undefined;
  readonly #stream: MarkupStream;
  readonly #open: { element: ListedElement; text: string }[] = [];
  #reader: ElementReader | undefined;
  /** Whether the head of a page, which can name feeds, has ended. */
  #headEnded = false;

  constructor() {
    this.#stream = new MarkupStream(
      {
        open: (name, attributes) => this.#onOpen(name, attributes),
        text: (text) => this.#onText(text),
        close: () => this.#onClose(),
      },
      { isFull: () => this.#isFull },
    );
  }

  get kind(): ListingKind | undefined {
    return this.#reader?.kind;
  }

  write(text: string): void {
    this.#stream.write(text);
  }

  end(): void {
    // An element that the end of the file closes may be truncated: it is ignored.
    this.problem ??= this.#open.length > 0 && this.kind !== 'page' ? 'it is truncated' : undefined;
    this.#stream.end();
  }

  get #isFull(): boolean {
    return this.problem !== undefined || this.#headEnded;
  }

  #onOpen(qualified: string, attributes: MarkupAttributes): void {
    if (this.#isFull) return;
    const parent = this.#open.at(-1)?.element;
    const name = localName(qualified).toLowerCase();
    if (parent === undefined && this.#reader === undefined) {
      this.#reader = createReader(name, (reference) => this.found.push(reference));
      if (this.#reader === undefined) {
        this.problem = 'it is not a sitemap or feed';
        return;
      }
    }
    if (this.kind === 'page' && (name === 'body' || this.#open.length >= MAX_PAGE_DEPTH))
      this.#headEnded = true;
    if (this.#headEnded) return;
    if (this.kind !== 'page' && this.#open.length >= MAX_DEPTH) {
      this.problem = `elements nested deeper than ${MAX_DEPTH}`;
      return;
    }
    const parentBase = parent?.base ?? '';
    const ownBase = attributes['xml:base'];
    const base =
      ownBase === undefined
        ? parentBase
        : (canonicalUrl(ownBase, parentBase === '' ? undefined : parentBase) ?? parentBase);
    const element = { name, parent: parent?.name ?? '', attributes, base };
    this.#open.push({ element, text: '' });
    this.#reader?.open(element);
  }

  #onText(text: string): void {
    const top = this.#open.at(-1);
    if (top !== undefined && top.text.length < MAX_TEXT) top.text += text;
  }

  #onClose(): void {
    const top = this.#open.pop();
    if (top === undefined || this.problem !== undefined) return;
    this.#reader?.close(top.element, top.text.trim());
  }
}

function createReader(
  root: string,
  onReference: (reference: ListedReference) => void,
): ElementReader | undefined {
  switch (root) {
    case 'urlset':
      return new SitemapEntries('sitemap', onReference);
    case 'sitemapindex':
      return new SitemapEntries('sitemap-index', onReference);
    case 'rss':
    case 'rdf':
      return new FeedEntries('rss', onReference);
    case 'feed':
      return new FeedEntries('atom', onReference);
    case 'html':
      return new FeedLinks(onReference);
    default:
      return undefined;
  }
}
