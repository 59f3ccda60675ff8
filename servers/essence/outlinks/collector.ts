// Collects the references of one document as absolute URLs.
import {
  isEnumerable,
  type ReferenceResolver,
  referenceResolver,
  type UrlForm,
} from '../../../protocols/urls/index.js';
import type { OutlinkHop } from './attributes.js';

/**
 * If a URL occurs several times, the first of these hops counts: what a page shows is fetched even where its
 * links are not followed.
 */
const RANK: Readonly<Record<OutlinkHop, number>> = { E: 3, R: 2, L: 1, X: 0 };

/** Longest reference that is resolved; a `data:` URL may have megabytes. */
const MAX_REFERENCE = 8192;

/** A URL with its hop. */
export interface Outlink {
  readonly url: string;
  readonly hop: OutlinkHop;
}

/** Resolves each distinct reference once; keeps the first `maxLinks` URLs (G-173). */
export class OutlinkCollector {
  readonly #links = new Map<string, OutlinkHop>();
  readonly #resolved = new Map<string, string | undefined>();
  readonly #maxLinks: number;
  readonly #canLinkToFiles: boolean;
  readonly #form: UrlForm;
  #resolver: ReferenceResolver;
  /** Speculative references of a script are relative to the page that contains it. */
  readonly #speculative: ReferenceResolver | undefined;
  #hasBase = false;
  #examined = 0;
  #dropped = 0;

  /**
   * @param url - of the document
   * @param form - of the URLs that are collected
   * @param scriptBase - of the page that shows the document, if it is a script
   */
  constructor(url: string, maxLinks: number, form: UrlForm = 'canonical', scriptBase?: string) {
    this.#form = form;
    this.#resolver = referenceResolver(url, form);
    this.#speculative =
      scriptBase === undefined || !isEnumerable(scriptBase) ? undefined : referenceResolver(scriptBase, form);
    this.#maxLinks = maxLinks;
    this.#canLinkToFiles = url.startsWith('file:');
  }

  /** In the order in which they were found. */
  get links(): readonly Outlink[] {
    return Array.from(this.#links, ([url, hop]) => ({ url, hop }));
  }

  /** Number of references beyond the limit; a URL that repeats itself there counts each time. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Uses the first BASE with a URL. */
  readonly base = (reference: string): void => {
    const url = this.#hasBase ? undefined : this.#resolver.resolve(reference.trim());
    if (url === undefined || !isEnumerable(url)) return;
    this.#hasBase = true;
    this.#resolver = referenceResolver(url, this.#form);
    this.#resolved.clear();
  };

  readonly add = (reference: string, hop: OutlinkHop): void => {
    const written = reference.trim();
    if (written === '' || written.startsWith('#') || written.length > MAX_REFERENCE) return;
    // Most references of a hostile document may be no URLs, or the same.
    if (this.#examined >= this.#maxLinks * 4) {
      this.#dropped += 1;
      return;
    }
    const url = this.#resolve(written, hop);
    if (url === undefined || !isEnumerable(url)) return;
    if (url.startsWith('file:') && !this.#canLinkToFiles) return;
    const known = this.#links.get(url);
    if (known !== undefined) {
      if (RANK[hop] > RANK[known]) this.#links.set(url, hop);
    } else if (this.#links.size < this.#maxLinks) this.#links.set(url, hop);
    else this.#dropped += 1;
  };

  #resolve(reference: string, hop: OutlinkHop): string | undefined {
    if (hop === 'X' && this.#speculative !== undefined) {
      this.#examined += 1;
      return this.#speculative.resolve(reference);
    }
    if (this.#resolved.has(reference)) return this.#resolved.get(reference);
    this.#examined += 1;
    const url = this.#resolver.resolve(reference);
    this.#resolved.set(reference, url);
    return url;
  }
}
