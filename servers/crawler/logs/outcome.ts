import type { DocumentEvent } from '../events.js';

/** How a hand-back counts (CRAWL-8.4). */
export type Outcome = 'succeeded' | 'failed' | 'disregarded' | 'retry';

/** CRAWL-8.1: left out on purpose rather than failed. */
const DISREGARDED: ReadonlySet<number> = new Set([-4001, -4002, -5000, -5001, -5002, -6000, -9998]);

/** CRAWL-8.1: a prerequisite comes first; the URI is handed out again at once and free of charge. */
export const DEFERRED = -50;
/** CRAWL-8.1: an exception in a processor. */
export const RUNTIME_ERROR = -5;

/**
 * CRAWL-8.2, 8.4: a retry is what the frontier tries again; of the rest every positive status is a success, 404 and 500
 * too; what an operator, the scope or robots.txt keeps out is disregarded; all else failed.
 */
export function outcomeOf({ disposition, status }: Pick<DocumentEvent, 'disposition' | 'status'>): Outcome {
  if (disposition === 'retry') return 'retry';
  if (status > 0) return 'succeeded';
  return DISREGARDED.has(status) ? 'disregarded' : 'failed';
}
