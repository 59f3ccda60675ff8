import { Parser } from 'htmlparser2';
import { canonicalUrl } from '../../../protocols/urls/index.js';
import { FeedEntries } from './feeds.js';
import type {
  ElementReader,
  ListedElement,
  ListedReference,
  ListingFormat,
  ListingKind,
} from './listing-model.js';
import { FeedLinks, SitemapEntries } from './sitemaps.js';

/** Limit of an element's text in UTF-16 units: more than any URL or date has. */
const MAX_TEXT = 8192;
/** Limit of open elements, ten times what the formats need. */
const MAX_DEPTH = 100;
/** Limit for pages, whose head may have elements without end tags. */
const MAX_PAGE_DEPTH = 1000;

/**
 * Reads XML as a stream of elements; the root element determines the format. Entities of the document are not expanded, external ones not
 * fetched. A document that is not well-formed is read up to the error.
 */
export class ListingXml implements ListingFormat {
  readonly found: ListedReference[] = [];
  problem: string | undefined;
  readonly #parser: Parser;
  readonly #open: { element: ListedElement; text: string }[] = [];
  #reader: ElementReader | undefined;
  /** The head of a page has ended: only it can name feeds. */
  #done = false;

  constructor() {
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => this.#opened(name, attributes),
        ontext: (text) => this.#text(text),
        onclosetag: () => this.#closed(),
      },
      { xmlMode: true, decodeEntities: true },
    );
  }

  get kind(): ListingKind | undefined {
    return this.#reader?.kind;
  }

  write(text: string): void {
    if (this.problem === undefined && !this.#done) this.#parser.write(text);
  }

  end(): void {
    // An element that the end of the file closes may be truncated: it is ignored.
    this.problem ??=
      this.#open.length > 0 && this.kind !== 'page' ? 'it breaks off in the middle' : undefined;
    this.#parser.end();
  }

  #opened(qualified: string, attributes: Readonly<Record<string, string>>): void {
    if (this.problem !== undefined || this.#done) return;
    const around = this.#open.at(-1)?.element;
    const name = localName(qualified);
    if (around === undefined && this.#reader === undefined) {
      this.#reader = readerFor(name, (reference) => this.found.push(reference));
      if (this.#reader === undefined) {
        this.problem = 'it is not a sitemap or feed';
        return;
      }
    }
    if (this.kind === 'page' && (name === 'body' || this.#open.length >= MAX_PAGE_DEPTH)) this.#done = true;
    if (this.#done) return;
    if (this.kind !== 'page' && this.#open.length >= MAX_DEPTH) {
      this.problem = `elements nested deeper than ${MAX_DEPTH}`;
      return;
    }
    const outer = around?.base ?? '';
    const written = attributes['xml:base'];
    const base =
      written === undefined ? outer : (canonicalUrl(written, outer === '' ? undefined : outer) ?? outer);
    const element = { name, parent: around?.name ?? '', attributes, base };
    this.#open.push({ element, text: '' });
    this.#reader?.open(element);
  }

  #text(text: string): void {
    const top = this.#open.at(-1);
    if (top !== undefined && top.text.length < MAX_TEXT) top.text += text;
  }

  #closed(): void {
    const top = this.#open.pop();
    if (top === undefined || this.problem !== undefined) return;
    this.#reader?.close(top.element, top.text.trim());
  }
}

function readerFor(root: string, found: (reference: ListedReference) => void): ElementReader | undefined {
  switch (root) {
    case 'urlset':
      return new SitemapEntries('sitemap', found);
    case 'sitemapindex':
      return new SitemapEntries('sitemap-index', found);
    case 'rss':
    case 'rdf':
      return new FeedEntries('rss', found);
    case 'feed':
      return new FeedEntries('atom', found);
    case 'html':
      return new FeedLinks(found);
    default:
      return undefined;
  }
}

function localName(qualified: string): string {
  return qualified.slice(qualified.indexOf(':') + 1).toLowerCase();
}
