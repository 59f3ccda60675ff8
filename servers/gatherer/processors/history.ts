import { LRUCache } from 'lru-cache';
import { hasExpired, lastValidSecond } from '../../../protocols/soif/index.js';
import type { DocumentRecord, DocumentStore } from '../../../storage/index.js';
import type { SummaryStore } from '../../../storage/summaries/summary-store.js';
import type { Processor, ProcessResult } from '../../crawler/chains.js';
import type { CrawlUri } from '../../crawler/crawl-uri.js';
import { hasSameRules, hasSameValues, type RulesDigest } from '../configuration/rules-digest.js';

export interface HistoryOptions {
  readonly documents: Pick<DocumentStore, 'get'>;
  readonly summaries: Pick<SummaryStore, 'get'>;
  /** False on the first run: there are no earlier records. */
  readonly hasRecords: boolean;
  /**
   * When the run began, seconds since 1970, if several RootNodes may lead to the same document (G-68);
   * undefined if each URL is processed once.
   */
  readonly repeatedSince: number | undefined;
  /** Whether to fetch documents that are not due yet (`--force`). */
  readonly force: boolean;
  /** Seconds (G-100). */
  readonly refreshRate: number;
  readonly timeToLive: number;
  /** The shortest time to live of any object, in seconds; 0 if unknown. */
  readonly minTimeToLive: () => number;
  /** Seconds until the next run is expected. */
  readonly runInterval: number;
  /** Digest of everything other than the document that affects a summary (G-110). */
  readonly rulesDigest: RulesDigest;
  /** Seconds since 1970. */
  readonly now: () => number;
}

/**
 * Share of the Refresh-Rate by which a document is due early. A weekly job that starts a week after the last
 * one meets each document about a week after its Update-Time, often some minutes before: without a tolerance it
 * would update every second week.
 */
const EARLY_SHARE = 0.1;

/** Documents whose first visit is remembered. */
const MAX_VISITS = 65_536;

/** The annotation of a URI whose document was gathered before in the same run, for another RootNode. */
export const REPEATED = 'repeated';

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
 * Loads the document's record of earlier runs and applies the first line of G-108: until the document is due
 * the object is kept and the server is not contacted. Local files are always read, because G-9 requires changes
 * to be seen immediately.
 */
export class History implements Processor {
  readonly #options: HistoryOptions;
  readonly name = 'History';

  /** The latest documents, and the ordinals of their first queued URIs. */
  readonly #visits = new LRUCache<string, number>({ max: MAX_VISITS });

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  async process(uri: CrawlUri): Promise<ProcessResult> {
    const { documents, hasRecords, repeatedSince, force, rulesDigest, now } = this.#options;
    if (!hasRecords && repeatedSince === undefined) return 'proceed';
    const isRepeated = this.#isRepeated(uri);
    const stored = await documents.get(uri.redactedUrl);
    // The objects of the document have expired one by one, which its record does not show: it counts as a new
    // document.
    const isExpired =
      stored !== undefined &&
      stored.objects.length > 0 &&
      hasExpired({ updateTime: stored.updateTime, timeToLive: this.#shortestLife() }, now());
    const document = isExpired ? undefined : stored;
    uri.document = document;
    if (document !== undefined && (isRepeated ?? this.#wasFetchedSince(document, repeatedSince!))) {
      uri.annotations.push(REPEATED);
      keep(uri, document);
      return 'proceed';
    }
    if (document === undefined || force || uri.url.startsWith('file:')) return 'proceed';
    const current = rulesDigest(document);
    if (
      document.updateTime > 0 &&
      hasSameRules(document.rulesDigest, current) &&
      !this.#isDue(document, current) &&
      (await this.#outlivesNextRun(document))
    ) {
      keep(uri, document);
    }
    return 'proceed';
  }

  /**
   * G-68: whether another RootNode has led to the document in this run. A retried URI is the same visit.
   * @returns undefined if that is not known: after a restart, or if the visit is forgotten, the time of its
   *   request decides
   */
  #isRepeated({ url, entry }: CrawlUri): boolean | undefined {
    if (this.#options.repeatedSince === undefined || entry.uri.forceFetch) return false;
    const visit = this.#visits.get(url);
    if (visit !== undefined) return visit !== entry.ordinal;
    this.#visits.set(url, entry.ordinal);
    return undefined;
  }

  /** A time in the future is that of a run with a wrong clock, not of this one. */
  #wasFetchedSince({ fetchTime }: DocumentRecord, since: number): boolean {
    return fetchTime > since && fetchTime <= this.#options.now();
  }

  /**
   * A document with a time in the future is due: a run with the clock ahead would otherwise freeze it until
   * then.
   */
  #isDue(document: DocumentRecord, currentDigest: string): boolean {
    const now = this.#options.now();
    return (
      document.updateTime > now || document.fetchTime > now || this.#dueTime(document, currentDigest) <= now
    );
  }

  /**
   * G-103 beside G-108: whether the object is still valid when the next run, which may be late, can refresh it.
   * A kept object that expires before is missing until then.
   */
  async #outlivesNextRun({ url, updateTime, objects }: DocumentRecord): Promise<boolean> {
    const { summaries, runInterval, now } = this.#options;
    const needed = now() + runInterval * (1 + EARLY_SHARE);
    if (lastValidSecond({ updateTime, timeToLive: this.#shortestLife() }) >= needed) return true;
    // The objects of an archive are not looked up one by one: the shortest life counts for them.
    if (objects.length > 0) return false;
    const summary = await summaries.get(url, updateTime);
    return summary !== undefined && lastValidSecond(summary) >= needed;
  }

  /** Seconds that every object of the store lives at least; 0 if none of them expires. */
  #shortestLife(): number {
    const { timeToLive, minTimeToLive } = this.#options;
    const known = minTimeToLive();
    return timeToLive === 0 || known === 0 ? Math.max(timeToLive, known) : Math.min(timeToLive, known);
  }

  /** With other rates in the configuration, the new one counts from the time of the last request. */
  #dueTime(document: DocumentRecord, currentDigest: string): number {
    if (hasSameValues(document.rulesDigest, currentDigest)) return dueTime(document);
    return dueTime({ updateTime: document.fetchTime, refreshRate: this.#options.refreshRate });
  }
}

/** Keeps the object, and follows the links that the document had. */
function keep(uri: CrawlUri, document: DocumentRecord): void {
  uri.disposition = 'kept';
  uri.status = document.status;
  uri.useKnownLinks(document);
}
