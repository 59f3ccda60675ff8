import type { FetchResult } from '../../clients/fetch/index.js';
import { userInfoOf, withoutUserInfo } from '../../protocols/urls/index.js';
import type { GathererBatch } from '../../storage/gatherer/batch.js';
import type { QueueEntry } from '../../storage/gatherer/queues.js';
import type { DocumentRecord } from '../../storage/records/records.js';
import type { EssenceOutput } from '../essence/model.js';
import { DISPOSITIONS, type Disposition } from './dispositions.js';
import type { RecordedEvent } from './events.js';
import type { Candidate } from './frontier/contract.js';
import type { CrawlSettings } from './order/settings.js';
import type { WaitReason } from './states.js';

export { DISPOSITIONS, type Disposition };

/**
 * Fetch status of a URI (CRAWL-8.1). Positive numbers are the protocol's status; the others are those of
 * Heritrix, so that its users can read our logs.
 */
export const FETCH_STATUS = {
  /** Not attempted. */
  untried: 0,
  /** The host name does not resolve; retried. */
  unresolvable: -1,
  /** The host cannot be reached; retried. */
  connectFailed: -2,
  /** The connection was lost; retried. */
  connectLost: -3,
  /** A processor failed unexpectedly. */
  runtimeError: -5,
  /** The host name did not resolve in any attempt. */
  unresolvedHost: -6,
  /** The access method or the URL cannot be fetched. */
  unfetchable: -7,
  /** The prerequisite robots.txt was fetched instead; the URI is given out again. */
  deferred: -50,
  /** robots.txt is unavailable: the host is skipped in this run (G-63). */
  robotsUnavailable: -61,
  /** The name shows a type of the stop list (E-28), or the operator blocks the URI. */
  stoppedByName: -5001,
  stoppedByMapper: -5002,
  /** CRAWL-11.3: a quota is reached. */
  quotaReached: -5003,
  /** CRAWL-11.3. */
  runtimeLimit: -5004,
  /** CRAWL-5.6.6: deleted by the operator. */
  deleted: -6000,
  /** CRAWL-20.3: its worker was killed. */
  killed: -7000,
  /** robots.txt forbids it. */
  robotsForbidden: -9998,
} as const;

/** HTTP statuses of documents that do not exist, or no longer. */
export const GONE_STATUSES: ReadonlySet<number> = new Set([404, 410]);

/** An extracted link: absolute and canonical. */
export interface OutLink {
  readonly url: string;
  /** CRAWL-2.2: `L` link, `E` embed, `X` speculative, `R` redirect, `M` listing (G-172). */
  readonly hop: 'L' | 'E' | 'X' | 'R' | 'M';
  /** CRAWL-22.5: it is fetched although it was fetched before: its request has other cookies now. */
  readonly again?: boolean;
}

/** A document as the scripts of its page made it. */
export interface RenderedDocument {
  /** HTML in UTF-8. Its buffer is not shared and may be transferred. */
  readonly body: Uint8Array;
  /** URLs to which scripts of the page wanted to go, absolute and canonical. */
  readonly links: readonly OutLink[];
}

/**
 * A URI that was fetched as a part of another one: its line in the logs, and what the frontier counts as seen.
 */
export interface FetchedPart {
  readonly event: RecordedEvent;
  /** Undefined if it was not fetched. */
  readonly candidate: Candidate | undefined;
}

/**
 * A URI in the chains (CRAWL section 2): the frontier's entry and the results of the processors. It lives from
 * `next()` to `finished()`.
 */
export class CrawlUri {
  /** CRAWL-8.1; see {@link FETCH_STATUS}. */
  status: number = FETCH_STATUS.untried;
  disposition: Disposition = 'failed';
  /** Sentence for the log: why it failed or was rejected. */
  reason = '';
  /** Its record from earlier runs. */
  document: DocumentRecord | undefined;
  fetched: FetchResult | undefined;
  /** Bytes of the fetched body; the body itself may have been transferred to a worker thread. */
  size = 0;
  essence: EssenceOutput | undefined;
  /** Update-Time of the object in `essence`, seconds since 1970. */
  updateTime = 0;
  #outLinks: readonly OutLink[] = [];
  /** Number of logins that were removed from links (G-81). */
  plantedLogins = 0;
  /** Number of links that the extraction left out, because there were too many (G-173). */
  droppedLinks = 0;
  /** Some of its links could not be read (CRAWL-22.13). */
  hasUnreadLinks = false;
  /** Retry-After of a 429 or 503, milliseconds. */
  retryAfterMs = 0;
  /** Milliseconds since 1970; 0 if nothing was fetched, so that no politeness wait follows (CRAWL-7.1). */
  contactEnd = 0;

  /** Milliseconds since 1970; 0 if nothing was fetched. */
  fetchBegin = 0;
  /** Digest of the body, `sha1:` and base32; empty if unknown (CRAWL-16.1 field 10). */
  digest = '';
  /** CRAWL-16.2. */
  readonly annotations: string[] = [];
  /** Links that are not URIs (CRAWL-16.4). */
  uriErrors: readonly { readonly url: string; readonly message: string }[] = [];
  /** The header Cookie of its request; empty without one. */
  sentCookie = '';
  /** User-Agent to send instead of the crawler's (CRAWL-13.5); empty for the crawler's. */
  fetchAs = '';
  /** CRAWL-8.4: why the queue is retired, with this URI in it; undefined if it is not retired. */
  retire: WaitReason | undefined;
  /**
   * Its prerequisite was fetched for the first time in this process: a restart does not use up attempts
   * (CRAWL-8.3).
   */
  firstPrerequisite = false;
  /** The host name had no address when robots.txt was requested. */
  unresolved = false;
  /** Name of the current processor (CRAWL-20.3). */
  step = '';

  /** The document after its scripts have run in a browser; extraction reads it instead of the fetched body. */
  rendered: RenderedDocument | undefined;
  /** The URIs that the browser fetched for it. */
  parts: readonly FetchedPart[] = [];
  /** Further headers of its request, by names in lower case. */
  requestHeaders: Readonly<Record<string, string>> = {};

  /** Links in scope; the frontier queues the new ones when the URI is finished. */
  candidates: readonly Candidate[] = [];

  /** Called once, when its batch is written or dropped. */
  onSettled: (() => void) | undefined;

  constructor(
    readonly entry: QueueEntry,
    /** All records of this URI; written in one batch when it is finished. */
    readonly batch: GathererBatch,
    readonly signal: AbortSignal,
    /** The settings of this URI (CRAWL-19.5). */
    readonly settings: CrawlSettings,
    /** Number of the worker, from 1. */
    readonly worker = 1,
  ) {}

  /** The links of the document. */
  get outLinks(): readonly OutLink[] {
    return this.#outLinks;
  }

  /**
   * G-81: a login in a link is content, and only the configuration has logins. It is removed here, whatever found the
   * link, so that the URL without it is the only name of a document.
   */
  set outLinks(links: readonly OutLink[]) {
    this.#outLinks = links;
    // What a processor of an operator's sets may be anything, and is checked later.
    if (!Array.isArray(links)) return;
    const isPlanted = (link: OutLink | null | undefined): boolean =>
      typeof link?.url === 'string' && userInfoOf(link.url) !== undefined;
    const planted = links.filter(isPlanted).length;
    if (planted === 0) return;
    this.plantedLogins += planted;
    this.#outLinks = links.map((link) =>
      isPlanted(link) ? { ...link, url: withoutUserInfo(link.url) } : link,
    );
  }

  /** Sets the links that were found when the document was last read. Earlier versions stored logins with them. */
  useKnownLinks(document: DocumentRecord): void {
    this.outLinks = document.links.map(({ url, hop }) => ({
      url: withoutUserInfo(url),
      hop: hop === 'E' || hop === 'R' || hop === 'X' ? hop : 'L',
    }));
  }

  /**
   * CRAWL-7.3: a request that began at this time (milliseconds since 1970) ends now without a response; the
   * usual pause follows (G-38).
   */
  contacted(begin: number): void {
    this.fetchBegin = begin;
    this.contactEnd = Date.now();
  }

  /** Its batch is written or dropped. */
  settle(): void {
    const { onSettled } = this;
    this.onSettled = undefined;
    onSettled?.();
  }

  get url(): string {
    return this.entry.uri.url;
  }

  /**
   * G-81: the URL without a login, for objects, records and reports. {@link url} is for fetching and for
   * queues.
   */
  get redactedUrl(): string {
    return withoutUserInfo(this.entry.uri.url);
  }

  /** CRAWL-2.9; empty if it has none. */
  get sourceTag(): string {
    return this.entry.uri.sourceTag;
  }

  /** CRAWL-8.2. */
  get succeeded(): boolean {
    return this.status > 0;
  }
}
