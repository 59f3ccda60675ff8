import type { Disposition } from '../crawler/crawl-uri.js';
import type { DocumentEvent } from '../crawler/events.js';

/** Counts the URIs of one run by disposition, and their bytes. */
export class Tally {
  readonly counts: Record<Disposition, number> = {
    summarized: 0,
    unchanged: 0,
    kept: 0,
    listed: 0,
    redirected: 0,
    rejected: 0,
    failed: 0,
    retry: 0,
  };
  bytes = 0;

  add({ disposition, bytes }: DocumentEvent): void {
    this.counts[disposition]++;
    this.bytes += bytes;
  }
}
