import { join } from 'node:path';
import { exists } from '../../storage/files/exists.js';
import { GathererStore, hasStore } from '../../storage/index.js';
import { openSeenFilter, SEEN_KINDS } from '../../storage/seen/index.js';
import { listCheckpoints } from './checkpoint.js';
import type { CrawlSnapshot, QueueReport, WaitingReport } from './control.js';
import { waitingReport } from './frontier/waiting-uris.js';
import { WorkQueue } from './frontier/work-queue.js';
import { redactQueue, redactWaiting } from './redaction.js';
import type { QueueState, WaitReason } from './states.js';

/** The stored figures of a crawl that is not running; the names are those of {@link CrawlSnapshot}. */
export interface OfflineSnapshot
  extends Pick<
    CrawlSnapshot,
    | 'time'
    | 'discovered'
    | 'queued'
    | 'inProcess'
    | 'succeeded'
    | 'failed'
    | 'disregarded'
    | 'bytes'
    | 'queues'
    | 'reasons'
    | 'congestion'
    | 'deepestQueue'
    | 'averageDepth'
    | 'checkpoint'
  > {
  /**
   * `interrupted`: the next run continues it. `done`: the next run starts a new crawl. `none`: there was no
   * run.
   */
  readonly run: 'interrupted' | 'done' | 'none';
  readonly seenFilter: { readonly kind: string; readonly count: number };
  /** Number of objects in the database. */
  readonly objects: number;
}

/**
 * The crawl of a Gatherer that is not running, read from its store (CRAWL-17.2.2): queues, counters, seen
 * filter. It changes nothing. No other process can open the store while it is open.
 */
export class OfflineCrawl implements AsyncDisposable {
  readonly #directory: string;
  readonly #store: GathererStore;

  private constructor(directory: string, store: GathererStore) {
    this.#directory = directory;
    this.#store = store;
  }

  /**
   * @param directory the Gatherer's data directory
   * @returns undefined if there is no store
   * @throws StorageError when the store is in use, e.g. by a crawl without a console, or damaged
   */
  static async open(directory: string): Promise<OfflineCrawl | undefined> {
    const working = join(directory, 'working');
    if (!(await hasStore(working))) return undefined;
    return new OfflineCrawl(directory, await GathererStore.open(working, { create: false, reader: true }));
  }

  /** Reads the records of all queues once. */
  async snapshot(): Promise<OfflineSnapshot> {
    const store = this.#store;
    const time = Date.now();
    const queues = { exhausted: 0, inactive: 0, ready: 0, 'in-process': 0, snoozed: 0, retired: 0 };
    const reasons: Partial<Record<WaitReason, number>> = {};
    let queued = 0;
    let deepestQueue = 0;
    for await (const page of this.#pages(time)) {
      for (const { state, count, reason } of page) {
        queues[state]++;
        deepestQueue = Math.max(deepestQueue, count);
        // CRAWL-5.4: the URIs of a retired queue are not counted as queued.
        if (state !== 'retired') queued += count;
        if (reason !== undefined) reasons[reason] = (reasons[reason] ?? 0) + 1;
      }
    }
    queued += await store.waiting.count();
    const state = await store.frontierState();
    const seenFilter = await this.#readSeenFilter();
    const waiting = queues.ready + queues.snoozed + queues.inactive;
    const running = await store.meta.get('run.state');
    return {
      time,
      run: running === 'running' ? 'interrupted' : running === undefined ? 'none' : 'done',
      discovered: seenFilter.count,
      queued,
      inProcess: 0,
      succeeded: state?.succeeded ?? 0,
      failed: state?.failed ?? 0,
      disregarded: state?.disregarded ?? 0,
      bytes: state?.bytes ?? 0,
      queues,
      reasons,
      // CRAWL-5.6.7, computed as in the frontier.
      congestion: queues.snoozed === 0 ? 0 : waiting / queues.snoozed,
      averageDepth: waiting === 0 ? 0 : queued / waiting,
      deepestQueue,
      checkpoint: (await listCheckpoints(join(this.#directory, 'crawl', 'checkpoints'))).at(-1) ?? '',
      seenFilter,
      objects: store.summaries.count,
    };
  }

  /**
   * Pages of queues in the order of their class keys, without logins: those in a state, by default those with
   * pending URIs.
   */
  async *queues(
    options: { readonly state?: QueueState | undefined } = {},
  ): AsyncGenerator<readonly QueueReport[]> {
    for await (const page of this.#pages(Date.now()))
      yield page
        .filter(({ state, count }) => (options.state === undefined ? count > 0 : state === options.state))
        .map(redactQueue);
  }

  /**
   * The URIs that wait for a retry beside their queues, without logins, the first due first. Default limit
   * 1000.
   */
  async retries(limit = 1000): Promise<WaitingReport[]> {
    return (await this.#store.waiting.page({ limit })).map(waitingReport).map(redactWaiting);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async *#pages(now: number): AsyncGenerator<readonly QueueReport[]> {
    for await (const records of this.#store.queueRecords.pages())
      yield records.map((record) => {
        const queue = WorkQueue.restored(record);
        if (queue.state === 'exhausted') {
          if (queue.wakeTime > now) queue.state = 'snoozed';
          else if (queue.count > 0) queue.state = 'ready';
        }
        return queue.report();
      });
  }

  /** Reads kind and count of the seen filter, which is in the store or has its own files. */
  async #readSeenFilter(): Promise<OfflineSnapshot['seenFilter']> {
    await using inStore = await this.#store.openSeenFilter();
    if (inStore.count > 0) return { kind: inStore.kind, count: inStore.count };
    for (const kind of SEEN_KINDS) {
      const directory = join(this.#directory, 'seen', kind);
      if (!(await exists(directory))) continue;
      await using own = await openSeenFilter({ kind, directory });
      return { kind, count: own.count };
    }
    return { kind: inStore.kind, count: 0 };
  }
}
