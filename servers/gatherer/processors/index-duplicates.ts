// Finds the page of a directory under several names.
import { LRUCache } from 'lru-cache';
import type { UnixSeconds } from '../../../protocols/time.js';
import type { DocumentRecord } from '../../../storage/records/records.js';

export interface IndexDuplicatesOptions {
  /** Looks up the record of a document. */
  readonly record: (url: string) => Promise<DocumentRecord | undefined>;
  /** When the run began that is continued, seconds since 1970; undefined for a new run. */
  readonly resumedSince: UnixSeconds | undefined;
}

/** Directory pages that are remembered; a site rarely links to one under two names far from each other. */
const MAX_PAGES = 100_000;
/** Names that servers send for a directory. */
const INDEX_NAME = /^(?:index|default|welcome)\.(?:[sx]?html?|php|aspx?|jsp)$/i;
/** The names that are looked up when a run is continued. */
const USUAL_NAMES = ['', 'index.html', 'index.htm'];

/**
 * Servers send the page of a directory for `/` as for `/index.html`. Under both names with equal content it is
 * one document: the one that the run reaches first.
 */
export class IndexDuplicates {
  readonly #options: IndexDuplicatesOptions;
  /** The first URL, by directory and MD5. */
  readonly #pages = new LRUCache<string, string>({ max: MAX_PAGES });

  constructor(options: IndexDuplicatesOptions) {
    this.#options = options;
  }

  /**
   * Returns the other URL of the page; undefined if this is its first, or it is not the page of a directory.
   *
   * @param md5 of the content
   */
  async firstOf(url: string, md5: string): Promise<string | undefined> {
    const directory = directoryOf(url);
    if (directory === undefined || md5 === '') return undefined;
    const page = `${directory} ${md5}`;
    let first = this.#pages.get(page);
    if (first === undefined) {
      first = await this.#stored(directory, md5, url);
      // Another URI may have come first meanwhile.
      first = this.#pages.get(page) ?? first ?? url;
      this.#pages.set(page, first);
    }
    return first === url ? undefined : first;
  }

  /** The URL that the run had stored before it was interrupted. */
  async #stored(directory: string, md5: string, url: string): Promise<string | undefined> {
    const { record, resumedSince } = this.#options;
    if (resumedSince === undefined) return undefined;
    for (const name of USUAL_NAMES) {
      const other = directory + name;
      const known = other === url ? undefined : await record(other);
      if (known?.md5 === md5 && known.updateTime > 0 && known.fetchTime >= resumedSince) return other;
    }
    return undefined;
  }
}

/** The URL of the directory whose page this may be; undefined for other URLs. */
function directoryOf(url: string): string | undefined {
  const [, directory, name = ''] = /^(https?:\/\/[^?#]*\/)([^/?#]*)$/.exec(url) ?? [];
  return name === '' || INDEX_NAME.test(name) ? directory : undefined;
}
