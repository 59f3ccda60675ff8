import type { UnixSeconds } from '../../../protocols/time.js';

/** What a document that lists URLs turned out to be (G-172). `page`: an HTML page, which may name its feeds. */
export type ListingKind = 'sitemap' | 'sitemap-index' | 'text' | 'robots' | 'rss' | 'atom' | 'page';

/** One URL of a listing. */
export interface ListedUrl {
  /** Canonical. */
  readonly url: string;
  /** What the listing says of its last change: a hint, not a promise; 0 = nothing. */
  readonly lastModified: UnixSeconds;
  /** `listing`: another sitemap or feed page, to be read in turn. */
  readonly kind: 'document' | 'listing';
}

/** A URL as the listing has it. */
export interface ListedReference {
  readonly reference: string;
  /** What a relative reference is relative to; empty: the listing. */
  readonly base: string;
  readonly lastModified: UnixSeconds;
  readonly kind: ListedUrl['kind'];
}

/** Reads the text of one listing; what is found is taken from `found`. */
export interface ListingFormat {
  readonly kind: ListingKind | undefined;
  readonly found: ListedReference[];
  /** Why the rest is not read, as a sentence; undefined: it is. */
  readonly problem: string | undefined;
  write(text: string): void;
  end(): void;
}

/** An element as the formats see it. Names are without prefix, in lower case. */
export interface ListedElement {
  readonly name: string;
  /** Name of the element around it; empty for the root. */
  readonly parent: string;
  /** As written, prefixes included. */
  readonly attributes: Readonly<Record<string, string>>;
  /** What references in it are relative to; empty: the document. */
  readonly base: string;
}

/** What one of the XML formats makes of its elements. */
export interface ElementReader {
  readonly kind: ListingKind;
  open(element: ListedElement): void;
  /** @param text its own text, without that of elements in it, trimmed */
  close(element: ListedElement, text: string): void;
}
