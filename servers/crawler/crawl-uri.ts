import type { FetchResult } from '../../clients/fetch/index.js';
import { withoutUserInfo } from '../../protocols/urls/index.js';
import type { DocumentRecord, GathererBatch, QueueEntry } from '../../storage/index.js';
import type { EssenceOutput } from '../essence/index.js';
import type { WaitReason } from './control.js';
import type { Candidate } from './frontier/index.js';
import type { CrawlSettings } from './order/settings.js';

/**
 * What became of a URI (CRAWL-8.1): positive numbers are the protocol's own status, the rest is ours.
 * The numbers are those of the engine we follow, so that its users can read our logs.
 */
export const FETCH_STATUS = {
  /** Never tried. */
  untried: 0,
  /** The host's name is not known: tried again after a while. */
  unresolvable: -1,
  /** The host cannot be reached: tried again after a while. */
  connectFailed: -2,
  /** The connection broke off: tried again after a while. */
  connectLost: -3,
  /** A processor failed unexpectedly. */
  runtimeError: -5,
  /** The access method or the URL cannot be fetched. */
  unfetchable: -7,
  /** A prerequisite (robots.txt) was fetched instead; the URI's turn comes again. */
  deferred: -50,
  /** robots.txt could not be had: the host is skipped in this run (G-63). */
  robotsUnavailable: -61,
  /** The type is on the stop list by its name alone, so it is not fetched (E-28); or the operator blocks it. */
  stoppedByName: -5001,
  /** CRAWL-11.3: a quota is used up. */
  quotaReached: -5003,
  /** CRAWL-11.3. */
  runtimeLimit: -5004,
  /** CRAWL-20.3: its worker was killed. */
  killed: -7000,
  /** robots.txt forbids it. */
  robotsForbidden: -9998,
} as const;

/** How the URI's summary came about; counted and logged (G-108, G-148). */
export type Disposition =
  | 'summarized' // fetched and summarized anew
  | 'unchanged' // the server or the digest says that it did not change: refreshed
  | 'kept' // its Refresh-Rate is not over: the server was not asked
  | 'listed' // a directory: source of links only
  | 'redirected'
  | 'rejected' // stop list, robots META, robots.txt, scope
  | 'failed'
  | 'retry';

/** A link as the extractors give it: absolute, canonical. */
export interface OutLink {
  readonly url: string;
  /** CRAWL-2.2: `L` link, `E` embed, `R` redirect, `M` listing (G-172). */
  readonly hop: 'L' | 'E' | 'R' | 'M';
}

/**
 * One URI on its way through the chains (CRAWL section 2): what the frontier handed out, and what the processors
 * found. It lives from `next()` to `finished()`.
 */
export class CrawlUri {
  /** CRAWL-8.1; see {@link FETCH_STATUS}. */
  status: number = FETCH_STATUS.untried;
  disposition: Disposition = 'failed';
  /** One sentence for the log: why it failed or was rejected. */
  reason = '';
  /** What the store knows of it from earlier runs. */
  document: DocumentRecord | undefined;
  fetched: FetchResult | undefined;
  /** Bytes of the fetched body; the body itself may have been handed to a worker thread. */
  size = 0;
  essence: EssenceOutput | undefined;
  /** Of the object that `essence` holds. */
  updateTime = 0;
  outLinks: readonly OutLink[] = [];
  /** Milliseconds that the server asks us to stay away (429, 503 with Retry-After). */
  retryAfterMs = 0;
  /** Milliseconds since the epoch; 0 when nothing was fetched, and then no politeness wait follows (CRAWL-7.1). */
  contactEnd = 0;

  /** Milliseconds since the epoch; 0 when nothing was fetched. */
  fetchBegin = 0;
  /** Of the body, `sha1:` and base32; empty: not known (CRAWL-16.1 field 10). */
  digest = '';
  /** CRAWL-16.2. */
  readonly annotations: string[] = [];
  /** What to send as User-Agent in place of ours (CRAWL-13.5); empty: ours. */
  fetchAs = '';
  /** CRAWL-8.4: the queue is to be retired, and the URI stays in it. */
  retire: WaitReason | undefined;
  /** The processor that has it (CRAWL-20.3). */
  step = '';

  /** Links in scope: the frontier takes in those that are new when the URI is finished. */
  candidates: readonly Candidate[] = [];

  constructor(
    readonly entry: QueueEntry,
    /** Everything that is to be stored of this URI: written as one when it is finished. */
    readonly batch: GathererBatch,
    readonly signal: AbortSignal,
    /** What holds for this URI (CRAWL-19.5). */
    readonly settings: CrawlSettings,
    /** From 1. */
    readonly worker = 1,
  ) {}

  /** The links found when the document was last walked, for one that is not walked again. */
  useKnownLinks(document: DocumentRecord): void {
    this.outLinks = document.links.map(({ url, hop }) => ({
      url,
      hop: hop === 'E' || hop === 'R' ? hop : 'L',
    }));
  }

  get url(): string {
    return this.entry.uri.url;
  }

  /** G-81: the URL without a login: what is stored, summarized and shown goes by it. {@link url} is for fetching and for queues. */
  get shownUrl(): string {
    return withoutUserInfo(this.entry.uri.url);
  }

  /** CRAWL-2.9; empty: none. */
  get sourceTag(): string {
    return this.entry.uri.sourceTag;
  }

  /** CRAWL-8.2, 11.7: links are followed from successes only. */
  get succeeded(): boolean {
    return this.status > 0;
  }
}
