import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import { type CrawlUri, GONE_STATUSES } from '../../crawler/crawl-uri.js';
import { UNCHANGED } from '../../crawler/processors/content-digest.js';
import type { CommitGate } from '../run/commit-gate.js';
import { type Documents, dropObjects } from './preselector.js';

export interface ReferencesWriterOptions {
  /**
   * Whether the objects of a document are deleted with its links when it is gone; otherwise they expire
   * (G-108). Default false.
   */
  readonly deletesGone?: boolean;
  /** Returns the time of the deletions by a URI. */
  readonly documents: Documents;
  readonly gate: Pick<CommitGate, 'enter'>;
  /** Seconds since 1970. */
  readonly now: () => number;
}

/**
 * Adds the document's links to the URI's batch, so that the link databases change together with
 * the object and the document's record. It must run before the LinksScoper, which removes known links.
 *
 * - The links of every document that was fetched and read are stored, even without an object (E-25). A document
 *   that did not change keeps its links.
 * - A redirect is a document with one link to its target, so that links through it can be followed.
 * - A document that is gone has no links, although its object stays until it expires (G-103), unless the
 *   configuration wants it deleted. Other failures change nothing.
 * - A directory is not a document, and its entries are not links.
 */
export class ReferencesWriter implements Processor {
  readonly #options: ReferencesWriterOptions;
  readonly name = 'ReferencesWriter';

  constructor(options: ReferencesWriterOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    switch (uri.disposition) {
      case 'summarized':
      case 'unchanged':
      case 'rejected':
        this.#putFetched(uri);
        break;
      case 'redirected':
        this.#put(uri, 0, 0);
        break;
      case 'kept':
        this.#putKept(uri);
        break;
      case 'failed':
        if (GONE_STATUSES.has(uri.status)) await this.#dropGone(uri);
        break;
      case 'listed':
      case 'retry':
        break;
    }
    return 'proceed';
  }

  async #dropGone(uri: CrawlUri): Promise<void> {
    const { batch, redactedUrl, document } = uri;
    batch.dropReferences(redactedUrl);
    if (this.#options.deletesGone !== true || document === undefined) return;
    await dropObjects(document, this.#options.documents, batch, await this.#options.gate.enter(uri));
    batch.deleteDocument(document.url);
  }

  #putFetched(uri: CrawlUri): void {
    const { fetched, document } = uri;
    // The document was rejected by robots.txt or by its name, so it was not read.
    if (fetched === undefined) return;
    // The ChangeEvaluator has removed the links from the URI; those of the document have not changed.
    if (uri.annotations.includes(UNCHANGED)) return;
    if (uri.disposition === 'unchanged' && document?.referenced === true) {
      const { lastModificationTime, size } = document;
      const time = fetched.lastModified || lastModificationTime;
      const checked = {
        url: uri.redactedUrl,
        time,
        checkTime: this.#options.now(),
        length: uri.size || size,
      };
      const { outLinks } = uri;
      uri.batch.checkReferences(checked, () => linksOf({ outLinks }));
    } else {
      const known = uri.disposition === 'unchanged' ? document : undefined;
      const time = fetched.lastModified || (known?.lastModificationTime ?? 0);
      this.#put(uri, time, uri.size || (known?.size ?? 0));
    }
  }

  /** Stores the links of a document that an older version stored without them. */
  #putKept(uri: CrawlUri): void {
    const known = uri.document;
    if (known === undefined || known.referenced) return;
    const { lastModificationTime, fetchTime, size } = known;
    this.#put(uri, lastModificationTime, size, fetchTime);
    uri.batch.putDocument({ ...known, referenced: true });
  }

  #put(uri: CrawlUri, time: number, length: number, checkTime = this.#options.now()): void {
    uri.batch.putReferences({ url: uri.redactedUrl, time, checkTime, length, links: linksOf(uri) });
  }
}

/** G-81: links are published, so they contain no logins. A guess is no link. */
function linksOf({ outLinks }: Pick<CrawlUri, 'outLinks'>): string[] {
  const written = outLinks.filter(({ hop }) => hop !== 'X');
  return [...new Set(written.map(({ url }) => withoutUserInfo(url)))];
}
