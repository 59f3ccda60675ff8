// Writes what a crawl leaves to its log (CRAWL-5.6.6).
import type { GathererStore, QueueEntry } from '../../storage/index.js';
import { pendingEvent } from '../crawler/completions.js';
import { crawlChannel } from '../crawler/events.js';
import type { CrawlRecords } from './crawl-records.js';

/**
 * Adds a line with status 0 to crawl.log for every URI that is queued or waits for a retry; they stay for the next run. Memory is bounded by a
 * page of the store. @throws StorageError; the signal's reason
 */
export async function dumpPending(
  store: GathererStore,
  { events, logs }: Pick<CrawlRecords, 'events' | 'logs'>,
  signal: AbortSignal,
): Promise<void> {
  let count = 0;
  const dump = async (entries: readonly QueueEntry[]): Promise<void> => {
    signal.throwIfAborted();
    const batch = store.batch();
    const written = entries.map((entry) => events.put(pendingEvent(entry), batch));
    await batch.commit();
    for (const done of written) done();
    count += entries.length;
    if (logs?.full === true) await logs.waitForRoom(signal);
  };
  for await (const entries of store.queues.pages()) await dump(entries);
  for await (const waiting of store.waiting.pages()) await dump(waiting.map(({ entry }) => entry));
  crawlChannel.publish({ text: `${count} pending URIs are in crawl.log with status 0`, alert: false });
}
