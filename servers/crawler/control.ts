import type { Figures } from './figures.js';

/** CRAWL-20.1. In the state `empty` no URI is left and the crawl waits for more (pauseAtFinish). */
export const CRAWL_STATES = [
  'preparing',
  'running',
  'empty',
  'pausing',
  'paused',
  'stopping',
  'finished',
] as const;
export type CrawlState = (typeof CRAWL_STATES)[number];

/** CRAWL-20.2: why a crawl ended. */
export const END_REASONS = [
  'finished',
  'time limit',
  'data limit',
  'document limit',
  'disk limit',
  'ended by operator',
  'abnormal exit',
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** CRAWL-5.4: the states of a queue. */
export const QUEUE_STATES = ['exhausted', 'inactive', 'ready', 'in-process', 'snoozed', 'retired'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

/** Why a queue with pending URIs provides none now (CRAWL-22). */
export const WAIT_REASONS = [
  'politeness', // the pause after a contact (CRAWL-7.1)
  'crawl-delay', // a longer pause in robots.txt
  'bandwidth', // of its host
  'retry', // a contact failed, or robots.txt is unavailable
  'retry-after', // the server requested it (429, 503)
  'backlog', // inactive: enough other queues are ready
  'session-budget', // inactive: its session is over
  'total-budget', // retired
  'quota', // retired
  'operator', // retired
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** The report of one queue. */
export interface QueueReport {
  readonly classKey: string;
  readonly state: QueueState;
  /** Pending URIs. */
  readonly count: number;
  /** URIs that were ever queued. */
  readonly enqueued: number;
  /** Why it waits; absent if it does not. */
  readonly reason?: WaitReason;
  /** End of its sleep, milliseconds since 1970; 0 if it does not sleep. */
  readonly wakeTime: number;
  readonly precedence: number;
  readonly sessionBalance: number;
  readonly totalExpenditure: number;
  /** -1: no limit. */
  readonly totalBudget: number;
  readonly errors: number;
  readonly lastPeeked: string;
  readonly lastQueued: string;
}

/** A URI that waits for a retry beside its queue. */
export interface WaitingReport {
  readonly url: string;
  readonly classKey: string;
  /** CRAWL-8.1, of the last attempt. */
  readonly status: number;
  /** Attempts so far. */
  readonly attempts: number;
  /** When it returns to its queue, milliseconds since 1970. */
  readonly dueTime: number;
  readonly reason: string;
}

/** CRAWL-12.2, 16.6: the report of one host or server. */
export interface HostReport {
  /** `host` or `host:port`. */
  readonly server: string;
  readonly addresses: readonly string[];
  readonly robots: 'none' | 'rules' | 'allow-all' | 'unavailable' | 'pending';
  /** Seconds; absent if there is no Crawl-delay. */
  readonly crawlDelay?: number | undefined;
  readonly successes: number;
  readonly failures: number;
  readonly disregarded: number;
  readonly robotsDenials: number;
  readonly bytes: number;
  /** Failed contacts in a row. */
  readonly connectionErrors: number;
  /** When the last contact ended, milliseconds since 1970. */
  readonly lastContact: number;
}

/** The URI of a busy worker (CRAWL-20.3). */
export interface WorkerReport {
  readonly worker: number;
  readonly url: string;
  /** Name of the processor. */
  readonly step: string;
  readonly milliseconds: number;
}

/** A failed URI in the list of recent errors. */
export interface RecentError {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly url: string;
  readonly status: number;
  readonly reason: string;
}

/** The state and figures of the crawl at one moment. Taking a snapshot every second costs little. */
export interface CrawlSnapshot extends Figures {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly state: CrawlState;
  readonly end?: EndReason | undefined;
  /** Why the crawl paused by itself, as a sentence; absent otherwise. */
  readonly pauseReason?: string | undefined;
  /** Queues by state. */
  readonly queues: Readonly<Record<QueueState, number>>;
  /** Waiting queues in memory, by reason. */
  readonly reasons: Readonly<Partial<Record<WaitReason, number>>>;
  readonly seenFilter: { readonly kind: string; readonly count: number; readonly memoryBytes: number };
  /** Name of the newest checkpoint; empty before the first checkpoint. */
  readonly checkpoint: string;
}

/** A checkpoint that was taken and verified (CRAWL-17.3). */
export interface CheckpointInfo {
  readonly name: string;
  readonly directory: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly queued: number;
  readonly succeeded: number;
  readonly bytes: number;
}

/** Reports and actions of a running crawl, for the console, the terminal and the end reports. */
export interface CrawlControl {
  snapshot(): CrawlSnapshot;
  /** Queues in the order of their class keys, after the key `after`, whether in memory or on disk. */
  queues(options?: {
    readonly state?: QueueState | undefined;
    readonly after?: string;
    /** Default 100. */
    readonly limit?: number;
  }): Promise<QueueReport[]>;
  /** Hosts and servers, the most recently used first. Default limit 100. */
  hosts(options?: { readonly limit?: number; readonly match?: string }): HostReport[];
  /** The URIs that wait for a retry beside their queues, the first due first. Default limit 100. */
  retries(options?: { readonly limit?: number }): Promise<WaitingReport[]>;
  workers(): WorkerReport[];
  /** The newest first. */
  recentErrors(): readonly RecentError[];
  /** The processors by chain, with the number of URIs that each received. */
  chains(): readonly { readonly chain: string; readonly processor: string; readonly uris: number }[];
  pause(): void;
  resume(): void;
  /** Ends the crawl; pending URIs stay for the next run. */
  stop(): void;
  checkpoint(): Promise<CheckpointInfo>;
  /** CRAWL-5.4 T20: wakes snoozed queues. */
  forceWake(): void;
  /** CRAWL-5.4 T19: reactivates retired queues. Returns their number. */
  reconsiderRetired(): Promise<number>;
  /** CRAWL-5.6.6: deletes pending URIs that match the pattern, in RE2 syntax. Returns their number. */
  deleteUris(pattern: string, queuePattern?: string): Promise<number>;
  /** CRAWL-20.3: fails the worker's URI with -7000. Returns false if the worker is idle. */
  killWorker(worker: number): boolean;
}
