import type { UnixSeconds } from '../../../protocols/time.js';

/** `2005`, `2005-01`, `2005-01-01`, `2004-12-23T18:00:15+00:00`: the W3C's profile of ISO 8601. */
const W3C_DATE = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?)?)?$/i;
/** `Sat, 07 Sep 2002 00:00:01 GMT`: RFC 822, years of two digits included. */
const RFC822_DATE =
  /^(?:[A-Z][a-z]{2},\s*)?\d{1,2}\s+[A-Z][a-z]{2}\s+\d{2,4}\s+\d{1,2}:\d\d(?::\d\d)?\s+(?:[A-Z]{1,4}|[+-]\d{4})$/;

/**
 * Parses the date of a sitemap's or feed's entry in either format; returns 0 for anything else and for times
 * before 1970. A day without a time is its start in UTC.
 */
export function parseListedDate(text: string): UnixSeconds {
  if (text.length > 64 || !(W3C_DATE.test(text) || RFC822_DATE.test(text))) return 0;
  const milliseconds = Date.parse(text.toUpperCase().startsWith('T', 10) ? text.toUpperCase() : text);
  return milliseconds > 0 ? Math.floor(milliseconds / 1000) : 0;
}

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
