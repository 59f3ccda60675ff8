import type { QueueState, WaitReason } from '../control.js';
import type { Budgets } from './work-queue.js';

/** CRAWL-2.5: smaller is earlier. */
export const DIRECTIVE = { highest: 0, high: 1, medium: 2, normal: 3 } as const;

/** A URI that asks to be taken in (CRAWL-5.6.1). */
export interface Candidate {
  readonly url: string;
  /** The URI that led here; empty for a seed. */
  readonly via: string;
  readonly pathFromSeed: string;
  /** Index of the RootNode. */
  readonly root: number;
  readonly depth: number;
  readonly isLeaf: boolean;
  /** CRAWL-2.7: taken in although it was seen. */
  readonly forceFetch: boolean;
  /** CRAWL-2.9; empty: none. */
  readonly sourceTag: string;
  /** CRAWL-2.5; default normal. */
  readonly directive?: number;
  /** Asked once, when the URI turned out to be new: counts it against its RootNode's limits, or refuses it. */
  readonly admit?: () => boolean;
}

/** What the frontier must know of a URI: the work of CRAWL-11.4's FrontierPreparer. */
export interface Prepared {
  readonly classKey: string;
  /** The canonical string (CRAWL-4.1). */
  readonly seenKey: string;
  readonly directive: number;
  readonly cost: number;
  /** Of the URI (CRAWL-9.11). */
  readonly precedence: number;
  readonly budgets: Budgets;
}

/** What became of a URI (CRAWL-8.4). */
export type Outcome = 'success' | 'failed' | 'disregarded' | 'retry' | 'retire';

/** What shall become of a URI that a worker hands back. */
export interface Finish {
  readonly outcome: Outcome;
  /** Milliseconds that the queue sleeps, counted from now (CRAWL-7.1 step 5, 8.3). */
  readonly delayMs: number;
  /** Why it sleeps, or is retired. */
  readonly reason?: WaitReason | undefined;
  /** CRAWL-8.4: a deferral (-50) costs nothing. */
  readonly free?: boolean;
  /** CRAWL-8.4: what a failure costs more. */
  readonly penalty?: number;
  /** Bytes received. */
  readonly bytes?: number;
  /** CRAWL-4.2: it failed in a way that may pass: when it is found again it counts as new. */
  readonly forget?: boolean;
}

/** The counters of a crawl (CRAWL-16.5). */
export interface FrontierCounts {
  readonly queued: number;
  readonly discovered: number;
  readonly inProcess: number;
  /** Queues that hold something. */
  readonly queues: number;
  readonly snoozed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly disregarded: number;
  readonly bytes: number;
}

/** The frontier in figures (CRAWL-5.6.7). */
export interface FrontierFigures {
  readonly queues: Readonly<Record<QueueState, number>>;
  readonly reasons: Readonly<Partial<Record<WaitReason, number>>>;
  readonly congestion: number;
  readonly averageDepth: number;
  readonly deepestQueue: number;
}
