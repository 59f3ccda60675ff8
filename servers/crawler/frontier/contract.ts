import type { QueueEntry } from '../../../storage/index.js';
import type { CrawlSnapshot, QueueReport, QueueSelection, WaitingReport } from '../control.js';
import type { WaitReason } from '../states.js';

/** CRAWL-2.5: a smaller directive is served earlier. */
export const DIRECTIVE = { highest: 0, high: 1, medium: 2, normal: 3 } as const;

/** A URI that may be scheduled (CRAWL-5.6.1). */
export interface Candidate {
  readonly url: string;
  /** The URI on which it was found; empty for a seed. */
  readonly via: string;
  readonly pathFromSeed: string;
  /** Index of the RootNode. */
  readonly root: number;
  readonly depth: number;
  readonly isLeaf: boolean;
  /** CRAWL-2.7: scheduled even if it was seen. */
  readonly forceFetch: boolean;
  /** CRAWL-2.9; empty if it has none. */
  readonly sourceTag: string;
  /** G-174: the addresses that its request may reach, one of `NETWORK`; default unknown. */
  readonly network?: number;
  /** CRAWL-2.5; default normal. */
  readonly directive?: number;
  /** It was fetched with the page on which it was found: it counts as seen and is not queued. Default false. */
  readonly fetched?: boolean;
  /**
   * Called once if the URI is new; counts it against the limits of its RootNode, or returns false to refuse it.
   */
  readonly admit?: () => boolean | Promise<boolean>;
}

/** The part of a candidate from which its {@link Prepared} is computed. */
export type PreparedOf = Pick<Candidate, 'url' | 'via' | 'pathFromSeed' | 'directive'>;

/**
 * The RootNodes whose links are followed one independently of the other: a URL that one of them has reached is
 * new for another, whose limits may allow what it links to.
 */
export interface Enumerations {
  /**
   * The name of a RootNode's enumeration, without spaces; the same for RootNodes that share what they have
   * seen.
   */
  of(root: number): string;
  readonly all: readonly string[];
}

/** All RootNodes share what they have seen. */
export const ONE_ENUMERATION: Enumerations = { of: () => '', all: [''] };

/** A URL or canonical string as one enumeration has seen it. */
export function seenIn(enumeration: string, url: string): string {
  return enumeration === '' ? url : `${enumeration} ${url}`;
}

/** Budgets of a queue, from the settings of its newest URI (CRAWL-6.1). */
export interface Budgets {
  /** Balance at the start of a session. */
  readonly replenish: number;
  /** -1: no limit. */
  readonly totalBudget: number;
  /**
   * CRAWL-9.11: with `success-counts` a queue with many successes comes later; with `highest-uri` a queue whose
   * best URI has a larger precedence.
   */
  readonly precedence?: 'base' | 'success-counts' | 'highest-uri';
}

/** The frontier's view of a URI, computed by the FrontierPreparer (CRAWL-11.4). */
export interface Prepared {
  readonly classKey: string;
  /** The canonical string (CRAWL-4.1). */
  readonly seenKey: string;
  readonly directive: number;
  readonly cost: number;
  /** Precedence of the URI in its queue (CRAWL-9.11). */
  readonly precedence: number;
  readonly budgets: Budgets;
}

/** Outcome of a URI (CRAWL-8.4). */
export type Outcome = 'success' | 'failed' | 'disregarded' | 'retry' | 'retire';

/** A retry that waits beside its queue, which continues meanwhile. */
export interface Aside {
  /** Milliseconds from now until the URI returns to its place in the queue. */
  readonly delayMs: number;
  /** CRAWL-8.1, of the failed attempt. */
  readonly status: number;
  /** Why it failed. */
  readonly reason: string;
}

/** The result that a worker returns with a URI: its outcome, and how long its queue sleeps. */
export interface Finish {
  readonly outcome: Outcome;
  /** Milliseconds from now for which the queue sleeps (CRAWL-7.1 step 5, 8.3). */
  readonly delayMs: number;
  /** Why it sleeps, or is retired. */
  readonly reason?: WaitReason | undefined;
  /**
   * Of a retry: the URI waits beside its queue; without it the URI stays at the head and the queue waits with
   * it (CRAWL-8.5).
   */
  readonly aside?: Aside;
  /** CRAWL-8.4: a deferral (-50) costs nothing. */
  readonly free?: boolean;
  /** With `retry`: nothing was attempted, so that the attempts of the URI are not counted (CRAWL-8.3). */
  readonly untried?: boolean;
  /** CRAWL-8.4: the extra cost of a failure. */
  readonly penalty?: number;
  /** Bytes received. */
  readonly bytes?: number;
  /** CRAWL-4.2: the failure may be temporary; the URI counts as new when it is found again. */
  readonly forget?: boolean;
}

/** The counters of a crawl (CRAWL-16.5). */
export interface FrontierCounts {
  readonly queued: number;
  readonly discovered: number;
  readonly inProcess: number;
  /** Queues with pending URIs. */
  readonly queues: number;
  readonly snoozed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly disregarded: number;
  readonly bytes: number;
}

/** The frontier in figures (CRAWL-5.6.7). */
export type FrontierFigures = Pick<
  CrawlSnapshot,
  'queues' | 'reasons' | 'congestion' | 'averageDepth' | 'deepestQueue'
>;

/** Resolves when a batch is on disk. An object, because an async function would await the promise itself. */
export interface Written {
  readonly written: Promise<void>;
}

/**
 * The contract of a frontier: which URIs are scheduled, which are done, and which is next (CRAWL-1.2).
 * `conformance/` tests it. `Batch` is the atomic write of its store.
 */
export interface CrawlFrontier<Batch> {
  readonly counts: FrontierCounts;
  /** CRAWL-5.6.7. */
  readonly figures: FrontierFigures;
  /** True if no URI is queued outside retired queues and none is in process: the crawl is over (CRAWL-4.9). */
  readonly empty: boolean;

  /**
   * CRAWL-5.6.1: schedules URIs that were not found on a finished one: seeds, and URIs of a journal or an
   * operator. `admitted` is called after the candidates were admitted and before the batch is written.
   * @returns how many were new
   */
  schedule(candidates: readonly Candidate[], batch?: Batch, admitted?: () => void): Promise<number>;
  /**
   * Announces that URIs will be scheduled: the frontier is not empty until the returned function is called, so
   * that the crawl does not end meanwhile.
   * @returns undefined if the frontier is closed
   */
  announce(): (() => void) | undefined;
  /** CRAWL-4.3 note: marks these URLs as seen, for every RootNode, without fetching them. */
  note(urls: readonly string[]): Promise<void>;
  /**
   * CRAWL-5.6.2: waits until a queue provides a URI and returns it; undefined when the frontier is empty or
   * closed, or when `signal` is aborted. The queue is locked until the URI is returned (CRAWL-5.6.4).
   */
  next(signal: AbortSignal): Promise<QueueEntry | undefined>;
  /**
   * Returns the next URI if a queue provides one now, else undefined. It waits for reads and writes, not for
   * time or a worker.
   */
  poll(): Promise<QueueEntry | undefined>;
  /**
   * CRAWL-5.6.3: a worker returns a URI. One atomic write stores the batch, removes the URI from its queue and
   * queues the candidates. The worker may take another URI before the write is on disk; the queue provides none
   * until then.
   */
  finished(
    entry: QueueEntry,
    finish: Finish,
    batch: Batch,
    candidates?: readonly Candidate[],
    admitted?: () => void,
  ): Promise<Written>;
  /**
   * Returns the URI of a worker that was stopped: it stays the head of its queue as if it had not been given
   * out.
   */
  abandoned(entry: QueueEntry): void;

  /**
   * Ends the work on a URI in process that belongs to another process now; undefined if the frontier has no other one.
   */
  signalOf?(entry: QueueEntry): AbortSignal | undefined;

  /**
   * True if the URL is known to the RootNode; false if it is not, or if the frontier would have to look it up.
   */
  isKnownWithoutLookup(url: string, root: number): boolean;
  /** CRAWL-16.6, 11.3: the traffic of a queue in memory. */
  traffic(classKey: string): QueueTraffic;

  /** CRAWL-5.6.5: makes `next` wait until {@link release}. */
  hold(): void;
  release(): void;
  /** CRAWL-5.4 T20: wakes every snoozed queue. */
  forceWake(): void;
  /** CRAWL-5.4 T19: retired queues become inactive; those still over budget retire again. @returns how many */
  reconsiderRetired(budgets?: (classKey: string) => number): Promise<number>;
  /** CRAWL-5.6.6, T21: deletes pending URIs; those in process stay. @returns how many */
  deleteUris(matches: (url: string, classKey: string) => boolean): Promise<number>;
  /** Reports of queues in the order of their class keys. */
  reports(selection?: QueueSelection): Promise<QueueReport[]>;

  /** The URIs that wait for a retry beside their queues, the first due first. Default limit 100. */
  waiting(limit?: number): Promise<WaitingReport[]>;

  /** Waits for the writes in flight. */
  settled(): Promise<void>;
  /** CRAWL-17.3.1: runs `work` while nothing is scheduled or returned, after all earlier writes are on disk. */
  atRest<T>(work: () => Promise<T>): Promise<T>;
  /** Ends every {@link next}. The store stays open. */
  close(): void;
}

/** Counts of one queue, or of a server or host (CRAWL-16.6). */
export interface QueueTraffic {
  /** Fetches whose status is positive (CRAWL-8.2). */
  readonly successes: number;
  /** Bytes of the successes. */
  readonly successBytes: number;
  /** Responses, successful or not. */
  readonly responses: number;
  /** Bytes received. */
  readonly totalBytes: number;
}
