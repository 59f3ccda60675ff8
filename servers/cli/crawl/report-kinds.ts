/** The reports of `harvest crawl report`, in the order of `all`. */
export const KINDS = [
  'queues',
  'retries',
  'hosts',
  'robots',
  'seen',
  'chain',
  'frontier',
  'workers',
  'errors',
] as const;

export type Kind = (typeof KINDS)[number];
