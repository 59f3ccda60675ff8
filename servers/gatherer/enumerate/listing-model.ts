import type { UnixSeconds } from '../../../protocols/time.js';

/** The format of a document that lists URLs (G-172). `page`: an HTML page, which may name its feeds. */
export type ListingKind = 'sitemap' | 'sitemap-index' | 'text' | 'robots' | 'rss' | 'atom' | 'page';

/** One URL of a listing. */
export interface ListedUrl {
  /** Canonical. */
  readonly url: string;
  /** The last change according to the listing, a hint; 0 if unknown. */
  readonly lastModified: UnixSeconds;
  /** `listing`: another sitemap or page of a feed, which is also read. */
  readonly kind: 'document' | 'listing';
}

/** A URL as written in the listing. */
export interface ListedReference {
  readonly reference: string;
  /** Base of a relative reference; empty for the listing's URL. */
  readonly base: string;
  readonly lastModified: UnixSeconds;
  readonly kind: ListedUrl['kind'];
}

/** Reads the text of one listing; appends to `found`. */
export interface ListingFormat {
  readonly kind: ListingKind | undefined;
  readonly found: ListedReference[];
  /** Why the rest is not read, as a sentence; undefined without a problem. */
  readonly problem: string | undefined;
  write(text: string): void;
  end(): void;
}

/** An XML element. Names have no prefix and are in lower case. */
export interface ListedElement {
  readonly name: string;
  /** Name of the enclosing element; empty for the root. */
  readonly parent: string;
  /** As written, prefixes included. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Base of its references; empty for the document's URL. */
  readonly base: string;
}

/** Interprets the elements of one XML format. */
export interface ElementReader {
  readonly kind: ListingKind;
  open(element: ListedElement): void;
  /** @param text its own text, without that of nested elements, trimmed */
  close(element: ListedElement, text: string): void;
}
