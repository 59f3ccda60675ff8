// The logs, figures and journal of a run, completed after a kill.

import { join } from 'node:path';
import type { CloseStack } from '../../../protocols/close-stack.js';
import { messageOf } from '../../../protocols/errors.js';
import { createDirectory } from '../../../storage/files/make-directory.js';
import type { GathererStore, QueueEntry } from '../../../storage/index.js';
import { pendingEvent } from '../../crawler/completions.js';
import { type ComponentState, componentStateSchema, takeComponents } from '../../crawler/component-state.js';
import type { CrawlController } from '../../crawler/controller.js';
import { FETCH_STATUS } from '../../crawler/crawl-uri.js';
import { announce, type CrawlEvent, crawlChannel } from '../../crawler/events.js';
import { JOURNAL_FILE, JournalWriter } from '../../crawler/journal/journal-writer.js';
import { CrawlLogs } from '../../crawler/logs/crawl-logs.js';
import { CrawlStatistics } from '../../crawler/logs/statistics.js';
import {
  noSizes,
  recoverEvents,
  StoredEvents,
  type StoredEventsOptions,
  savedFigures,
} from '../../crawler/logs/stored-events.js';
import type { CrawlOrderConfig } from '../../crawler/order/order.js';
import type { TotalBandwidth } from '../../crawler/servers/politeness.js';
import type { ServerCache } from '../../crawler/servers/server-cache.js';

export interface CrawlRecordsOptions {
  readonly store: GathererStore;
  /** The directory of the crawl's files; the logs are in `logs/` below it. */
  readonly directory: string;
  readonly order: Pick<CrawlOrderConfig, 'logs' | 'progressSeconds' | 'recoveryJournal'>;
  /**
   * Whether the configuration names the order: otherwise the run has no logs and shows no figures of its crawl.
   */
  readonly ordered: boolean;
  /** Whether the run continues an interrupted one, and its figures. */
  readonly resumed: boolean;
  /** Whether other processes have a part of the run: then the store has no events, and a kill loses lines of the logs. */
  readonly isShared?: boolean;
  readonly servers: ServerCache;
  readonly bandwidth: TotalBandwidth;
}

export interface CrawlRecords {
  /** Undefined if the order has no logs. */
  readonly logs: CrawlLogs | undefined;
  /** Undefined if the order has no recovery journal. */
  readonly journal: JournalWriter | undefined;
  readonly statistics: CrawlStatistics;
  readonly events: StoredEvents;
}

/**
 * Opens the records of a run. The rows of an interrupted run in the store are taken over first: the logs get
 * the lines that they lack, and the figures of servers and statistics count its events if the run is continued.
 * @throws StorageError
 */
export async function openCrawlRecords(
  options: CrawlRecordsOptions,
  resources: CloseStack,
): Promise<CrawlRecords> {
  const { store, directory, order, ordered, resumed, servers } = options;
  const statistics = await restoreFigures(options);
  const stored: StoredEventsOptions = {
    store,
    isStored: (ordered || order.logs) && options.isShared !== true,
    count: (event) => {
      // A pending URI that is only written to the log.
      if (event.status === FETCH_STATUS.untried) return;
      servers.countEvent(event);
      statistics.document(event);
    },
    figures: () => ({ servers: servers.snapshot(), statistics: statistics.toJSON() }),
    onFailure: (error) => announce(`the lines of the logs stay in the store: ${messageOf(error)}`),
  };
  const logDirectory = order.logs ? join(directory, 'logs') : undefined;
  const sizes =
    options.isShared === true
      ? noSizes()
      : await recoverEvents(resumed ? stored : { ...stored, count: () => undefined }, logDirectory);
  const logs =
    logDirectory === undefined
      ? undefined
      : resources.adopt(
          await CrawlLogs.open(logDirectory, { progressMs: Math.round(order.progressSeconds * 1000) }),
          (opened) => opened.close(),
        );
  const journal = order.recoveryJournal ? await openJournal(directory, resources) : undefined;
  const events = resources.adopt(new StoredEvents(stored, logs, sizes), (opened) => opened.close());
  return { logs, journal, statistics, events };
}

/** CRAWL-16.3: writes the progress of the crawl and its events to the logs. */
export function followProgress(logs: CrawlLogs, controller: CrawlController, resources: CloseStack): void {
  const onEvent = (event: unknown): void => logs.crawl(event as CrawlEvent);
  crawlChannel.subscribe(onEvent);
  logs.trackProgress(() => controller.snapshot());
  resources.defer(() => {
    // The last figures, which a short crawl would lack.
    logs.progress(controller.snapshot());
    crawlChannel.unsubscribe(onEvent);
  });
}

/** CRAWL-17.3.1: a restored checkpoint and an interrupted run continue with their servers and statistics. */
async function restoreFigures(options: CrawlRecordsOptions): Promise<CrawlStatistics> {
  const { store, directory, resumed, servers, bandwidth } = options;
  const sources = [
    () => takeComponents(directory),
    // The newer ones: they count every event that is no longer in the store.
    async (): Promise<ComponentState | undefined> => {
      const saved = resumed && options.isShared !== true ? await savedFigures(store) : undefined;
      return saved === undefined ? undefined : componentStateSchema.parse(saved);
    },
  ];
  let statistics = new CrawlStatistics();
  for (const read of sources) {
    try {
      const saved = await read();
      if (!resumed || saved === undefined) continue;
      if (saved.servers !== undefined) servers.restore(saved.servers);
      if (saved.bandwidth !== undefined) bandwidth.restore(saved.bandwidth);
      if (saved.statistics !== undefined) statistics = CrawlStatistics.restore(saved.statistics);
    } catch (error) {
      // Figures only: the crawl is complete without them.
      announce(messageOf(error));
    }
  }
  return statistics;
}

async function openJournal(directory: string, resources: CloseStack): Promise<JournalWriter> {
  await createDirectory(join(directory, 'logs'));
  const file = join(directory, 'logs', JOURNAL_FILE);
  const journal = resources.adopt(await JournalWriter.open(file), (opened) => opened.close());
  if (journal.cutBytes > 0) {
    const kept = journal.damagedCopy === undefined ? '' : `; the file as it was is ${journal.damagedCopy}`;
    announce(`${file}: its last ${journal.cutBytes} bytes could not be read and are cut off${kept}`);
  }
  return journal;
}

/**
 * Adds a line with status 0 to crawl.log for every URI that is queued or waits for a retry; they stay for the
 * next run. Memory is bounded by a page of the store. @throws StorageError; the signal's reason
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
  announce(`${count} pending URIs are in crawl.log with status 0`, false);
}
