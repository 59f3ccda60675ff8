// The events of a crawl as a whole.
import { channel } from 'node:diagnostics_channel';

/** An event of the crawl as a whole: started, paused, checkpoint taken, limit reached ... (CRAWL-16.3). */
export interface CrawlEvent {
  readonly text: string;
  /** Whether it needs the attention of an operator. */
  readonly alert: boolean;
}

/** Channel `harvest:gatherer:crawl`, with a {@link CrawlEvent}. */
export const crawlChannel = channel('harvest:gatherer:crawl');

/** Publishes an event of the crawl. @param alert whether it needs the attention of an operator */
export function announce(text: string, alert = true): void {
  crawlChannel.publish({ text, alert });
}
