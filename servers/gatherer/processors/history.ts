import type { DocumentStore } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import type { RulesDigest } from '../run-state.js';

export interface HistoryOptions {
  readonly documents: Pick<DocumentStore, 'get'>;
  /** False on the first run, which has nothing to look up. */
  readonly known: boolean;
  /** Fetch documents that are not due yet (`--force`). */
  readonly force: boolean;
  /** Seconds (G-100). */
  readonly timeToLive: number;
  /** Digest of what a summary depends on besides the document (G-110). */
  readonly rulesDigest: RulesDigest;
  /** Seconds since 1970. */
  readonly now: () => number;
}

/**
 * Loads the document's record of earlier runs and applies the first line of G-108: before Update-Time + Refresh-Rate the object is kept
 * and the server is not contacted. Local files are always read, because G-9 requires changes to be seen immediately.
 */
export class History implements Processor {
  readonly name = 'History';

  constructor(readonly options: HistoryOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { documents, known, force, timeToLive, rulesDigest, now } = this.options;
    if (!known) return 'proceed';
    const stored = await documents.get(uri.shownUrl);
    // Its objects have expired one by one, which its record does not know: it is a new document.
    const expired =
      stored !== undefined && stored.objects.length > 0 && stored.updateTime + timeToLive < now();
    const document = expired ? undefined : stored;
    uri.document = document;
    if (document === undefined || force || uri.url.startsWith('file:')) return 'proceed';
    const fresh = document.updateTime + document.refreshRate > now();
    if (document.updateTime > 0 && fresh && document.rulesDigest === rulesDigest(document)) {
      uri.disposition = 'kept';
      uri.status = document.status;
      uri.useKnownLinks(document);
    }
    return 'proceed';
  }
}
