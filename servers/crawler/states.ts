// The states of a crawl and of its queues; loads nothing, because the command line shows the lists in its help.
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
