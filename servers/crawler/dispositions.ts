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
