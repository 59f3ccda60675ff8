/** Result of the processing of a URI; counted and logged (G-108, G-148). */
export const DISPOSITIONS = [
  'summarized', // fetched, with a new summary
  'unchanged', // refreshed: the server or the digest shows that it did not change
  'kept', // within its Refresh-Rate: not fetched
  'listed', // a directory: source of links only
  'redirected',
  'rejected', // stop list, robots META, robots.txt, scope, the operator
  'failed',
  'retry',
] as const;

export type Disposition = (typeof DISPOSITIONS)[number];

/** The outcome of a returned URI (CRAWL-8.4). */
export type Outcome = 'succeeded' | 'failed' | 'disregarded' | 'retry';

/** CRAWL-8.1: statuses of URIs that were excluded rather than failed. */
const DISREGARDED: ReadonlySet<number> = new Set([-4001, -4002, -5000, -5001, -5002, -6000, -9998]);

/**
 * CRAWL-8.2, 8.4: returns the outcome. Every positive status is a success, including 404 and 500. URIs that an
 * operator, the scope or robots.txt excludes are disregarded; all others failed.
 */
export function outcomeOf({
  disposition,
  status,
}: {
  readonly disposition: Disposition;
  readonly status: number;
}): Outcome {
  if (disposition === 'retry') return 'retry';
  // Within its Refresh-Rate it needs no fetch (G-108).
  if (status > 0 || disposition === 'kept') return 'succeeded';
  return DISREGARDED.has(status) ? 'disregarded' : 'failed';
}
