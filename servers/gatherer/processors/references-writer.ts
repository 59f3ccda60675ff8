import { withoutUserInfo } from '../../../protocols/urls/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import { UNCHANGED } from '../../crawler/processors/change-evaluator.js';

export interface ReferencesWriterOptions {
  /** Seconds since 1970. */
  readonly now: () => number;
}

/** The server says that there is no such document (any more). */
const GONE: ReadonlySet<number> = new Set([404, 410]);

/**
 * Puts what the document links to into the URI's batch, so that the link databases change together with the
 * object and the document's record. It has to stand before the LinksScoper, which takes known links away.
 *
 * - Every document that was fetched and read has its links there, also one of which no object is kept (E-25): its links were
 *   found. One that did not change keeps them.
 * - A redirection is a document whose one link leads to its target: so links through it can be followed.
 * - What is gone links to nothing, although its object may stay until it expires (G-103). A failure of another kind says nothing.
 * - A directory is no document, its entries are no links.
 */
export class ReferencesWriter implements Processor {
  readonly name = 'ReferencesWriter';

  constructor(readonly options: ReferencesWriterOptions) {}

  process(uri: CrawlUri): ProcessResult {
    switch (uri.disposition) {
      case 'summarized':
      case 'unchanged':
      case 'rejected':
        this.#fetched(uri);
        break;
      case 'redirected':
        this.#put(uri, 0, 0);
        break;
      case 'kept':
        this.#kept(uri);
        break;
      case 'failed':
        if (GONE.has(uri.status)) uri.batch.dropReferences(uri.shownUrl);
        break;
      case 'listed':
      case 'retry':
        break;
    }
    return 'proceed';
  }

  #fetched(uri: CrawlUri): void {
    const { fetched, document } = uri;
    // Rejected by robots.txt or by its name: nobody has looked at it.
    if (fetched === undefined) return;
    // The ChangeEvaluator has removed its links, which are still those of the document.
    if (uri.annotations.includes(UNCHANGED)) return;
    const known = uri.disposition === 'unchanged' ? document : undefined;
    this.#put(
      uri,
      fetched.lastModified || (known?.lastModificationTime ?? 0),
      uri.size || (known?.size ?? 0),
    );
  }

  /** Nothing changed since it was stored; but an older program stored no links. */
  #kept(uri: CrawlUri): void {
    const known = uri.document;
    if (known === undefined || known.referenced) return;
    const { lastModificationTime, fetchTime, size } = known;
    this.#put(uri, lastModificationTime, size, fetchTime);
    uri.batch.putDocument({ ...known, referenced: true });
  }

  #put(uri: CrawlUri, time: number, length: number, checkTime = this.options.now()): void {
    // G-81: who links to whom is published.
    const links = [...new Set(uri.outLinks.map(({ url }) => withoutUserInfo(url)))];
    uri.batch.putReferences({ url: uri.shownUrl, time, checkTime, length, links });
  }
}
