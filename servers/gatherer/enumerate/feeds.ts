import {
  type ElementReader,
  type ListedElement,
  type ListedReference,
  parseListedDate,
} from './listing-model.js';

/** Elements with an entry's time of change: RSS 2.0; RSS 1.0 by Dublin Core; Atom. */
const DATES: ReadonlySet<string> = new Set(['pubdate', 'date', 'updated', 'modified', 'published']);
/** Elements that contain entries; `rel=next` in them is the feed's next page. */
const CHANNELS: ReadonlySet<string> = new Set(['channel', 'feed']);

/**
 * Reads the entries of RSS 0.9x, 1.0 (RDF) and 2.0 and of Atom (G-172): the page of each entry. In RSS it is
 * `link`, else a `guid` that is a permalink, else `rdf:about`; in Atom the first `link` with the relation
 * `alternate`. `rel=next` of the feed itself is its next page (RFC 5005).
 */
export class FeedEntries implements ElementReader {
  readonly #onReference: (reference: ListedReference) => void;
  #inEntry = false;
  #link: { reference: string; base: string } | undefined;
  #fallback = '';
  #lastModified = 0;

  constructor(
    readonly kind: 'rss' | 'atom',
    onReference: (reference: ListedReference) => void,
  ) {
    this.#onReference = onReference;
  }

  open(element: ListedElement): void {
    const { name, parent, attributes, base } = element;
    if (isEntry(name)) {
      this.#inEntry = true;
      this.#link = undefined;
      this.#fallback = attributes['rdf:about'] ?? '';
      this.#lastModified = 0;
    } else if (name === 'link' && attributes.href !== undefined) {
      const { href: reference, rel = 'alternate' } = attributes;
      const relation = rel.toLowerCase();
      if (relation === 'next' && CHANNELS.has(parent)) {
        this.#onReference({ reference, base, lastModified: 0, kind: 'listing' });
      } else if (this.kind === 'atom' && relation === 'alternate' && isEntry(parent)) {
        this.#link ??= { reference, base };
      }
    }
  }

  close({ name, parent, attributes, base }: ListedElement, text: string): void {
    if (!this.#inEntry) return;
    if (isEntry(name)) {
      this.#inEntry = false;
      const { reference, base: linkBase } = this.#link ?? { reference: this.#fallback, base };
      if (reference !== '')
        this.#onReference({ reference, base: linkBase, lastModified: this.#lastModified, kind: 'document' });
    } else if (!isEntry(parent) || text === '') {
      // Elements nested in elements of an entry, e.g. in its author, do not describe the entry.
    } else if (name === 'link') {
      this.#link ??= { reference: text, base };
    } else if (name === 'guid') {
      if (attributes.isPermaLink !== 'false' && /^https?:\/\//.test(text)) this.#fallback = text;
    } else if (DATES.has(name)) {
      this.#lastModified = Math.max(this.#lastModified, parseListedDate(text));
    }
  }
}

function isEntry(name: string): boolean {
  return name === 'item' || name === 'entry';
}
