import { hasExpired } from '../../../protocols/soif/index.js';
import type { DocumentStore } from '../../../storage/index.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import { hasSameRules, type RulesDigest } from '../run-state.js';

export interface HistoryOptions {
  readonly documents: Pick<DocumentStore, 'get'>;
  /** False on the first run: there are no earlier records. */
  readonly hasRecords: boolean;
  /** Whether to fetch documents that are not due yet (`--force`). */
  readonly force: boolean;
  /** Seconds (G-100). */
  readonly timeToLive: number;
  /** Digest of everything other than the document that affects a summary (G-110). */
  readonly rulesDigest: RulesDigest;
  /** Seconds since 1970. */
  readonly now: () => number;
}

/**
 * Share of the Refresh-Rate by which a document is due early. A weekly job that starts a week after the last one meets each document
 * about a week after its Update-Time, often some minutes before: without a tolerance it would update every second week.
 */
const EARLY_SHARE = 0.1;

/** Returns when a document is due again (G-108), in seconds since 1970. */
export function dueTime({
  updateTime,
  refreshRate,
}: {
  readonly updateTime: number;
  readonly refreshRate: number;
}): number {
  return Math.floor(updateTime + refreshRate * (1 - EARLY_SHARE));
}

/**
 * Loads the document's record of earlier runs and applies the first line of G-108: until the document is due the object is kept
 * and the server is not contacted. Local files are always read, because G-9 requires changes to be seen immediately.
 */
export class History implements Processor {
  readonly name = 'History';

  constructor(readonly options: HistoryOptions) {}

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { documents, hasRecords, force, timeToLive, rulesDigest, now } = this.options;
    if (!hasRecords) return 'proceed';
    const stored = await documents.get(uri.redactedUrl);
    // The objects of the document have expired one by one, which its record does not show: it counts as a new document.
    const isExpired =
      stored !== undefined &&
      stored.objects.length > 0 &&
      hasExpired({ updateTime: stored.updateTime, timeToLive }, now());
    const document = isExpired ? undefined : stored;
    uri.document = document;
    if (document === undefined || force || uri.url.startsWith('file:')) return 'proceed';
    const isFresh = dueTime(document) > now();
    if (document.updateTime > 0 && isFresh && hasSameRules(document.rulesDigest, rulesDigest(document))) {
      uri.disposition = 'kept';
      uri.status = document.status;
      uri.useKnownLinks(document);
    }
    return 'proceed';
  }
}
