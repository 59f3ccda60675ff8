import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clampLifetime, type Query, type QueryFlags, type ResultItem } from '../../protocols/broker/index.js';
import {
  type BrokerConfig,
  type CollectionPoint,
  parseCollectionConf,
} from '../../protocols/config/index.js';
import { ConfigError, UsageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { type ApplyCounts, BrokerStore } from '../../storage/index.js';
import { type Indexer, openEmbeddedIndexer } from '../../storage/indexers/index.js';
import type { Logger } from '../host/index.js';
import {
  addCounts,
  type CollectLimits,
  collectPoint,
  isGathererType,
  type PointReport,
  publish,
} from './collector.js';
import { IndexKeeper, type IndexKeeperOptions } from './index-keeper.js';
import { brokerPath, httpOrigin, objectPath } from './object-path.js';
import { nextRun, RepeatingTask } from './schedule.js';
import { type SearchSummary, search } from './search.js';
import { type BrokerStatistics, StatisticsCache, type StatisticsOptions } from './statistics.js';

/** What {@link Broker.open} needs. */
export interface BrokerOptions {
  readonly config: BrokerConfig;
  readonly log: Logger;
  /** Collection points instead of those in `Collection-File`. */
  readonly points?: readonly CollectionPoint[];
  readonly limits?: CollectLimits & StatisticsOptions & Omit<IndexKeeperOptions, 'signal'>;
  /** The clock, for tests. */
  readonly now?: () => UnixSeconds;
}

/** BRK-6.2 to 6.4: what a broker does when it starts. */
export type StartMode = 'collect' | 'new' | 'nocol';

/** BRK-5.7: types of events in the log that `Log-Types` turns on. */
export type LogType = 'Query' | 'Collection' | 'Cleaned' | 'Admin';

/** What one collection gave. */
export interface CollectionReport {
  readonly points: readonly PointReport[];
  /** The counts of all points together. */
  readonly totals: ApplyCounts;
  readonly received: number;
  /** Objects deleted because their time to live had passed. */
  readonly expired: number;
  /** Points left out: their type is not supported. */
  readonly skipped: number;
  readonly milliseconds: number;
}

const NO_COUNTS: ApplyCounts = { added: 0, updated: 0, refreshed: 0, deleted: 0, duplicates: 0, rejected: 0 };

/** Longest wait of a timer, milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Seconds that a stalled reader may keep a query's place after the query's lifetime. */
const GRACE = 5;

/**
 * The Broker: a store of collected objects, the index over it, collections from Gatherers, and searches.
 *
 * It opens no port: {@link BrokerServer} and {@link WebServer} do.
 */
export class Broker implements AsyncDisposable {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  readonly config: BrokerConfig;
  readonly log: Logger;
  readonly #options: BrokerOptions;
  readonly #keeper: IndexKeeper;
  readonly #statistics: StatisticsCache;
  readonly #closing: AbortController;
  readonly #tasks: RepeatingTask[] = [];
  readonly #background = new Set<Promise<unknown>>();
  #collection: Promise<CollectionReport> | undefined;
  #queries = 0;
  readonly #waiting = new Set<() => void>();
  #started = false;
  #web: { readonly host: string; readonly port: number };
  #closed: Promise<void> | undefined;

  private constructor(
    options: BrokerOptions,
    parts: { store: BrokerStore; indexer: Indexer; keeper: IndexKeeper; closing: AbortController },
  ) {
    this.#options = options;
    this.config = options.config;
    this.log = options.log;
    this.store = parts.store;
    this.indexer = parts.indexer;
    this.#keeper = parts.keeper;
    this.#closing = parts.closing;
    this.#statistics = new StatisticsCache(parts.store, options.limits);
    this.#web = { host: options.config.httpHost, port: options.config.httpPort };
  }

  /**
   * Opens `<Broker-Directory>/store` and `<Broker-Directory>/index.sqlite`, brings the index up to the store and
   * deletes what has expired. Does not collect: see {@link start}.
   */
  static async open(options: BrokerOptions): Promise<Broker> {
    const directory = options.config.brokerDirectory;
    const storeDirectory = join(directory, 'store');
    const closing = new AbortController();
    await mkdir(directory, { recursive: true });
    const store = await BrokerStore.open(storeDirectory);
    let indexer: Indexer | undefined;
    try {
      indexer = await openEmbeddedIndexer({
        file: join(directory, 'index.sqlite'),
        storeDirectory,
        rebuildOnError: true,
      });
      const started = performance.now();
      const before = indexer.watermark;
      const keeper = await IndexKeeper.open(store, indexer, { ...options.limits, signal: closing.signal });
      const broker = new Broker(options, { store, indexer, keeper, closing });
      if (indexer.watermark !== before) {
        options.log.info(`Index brought up to date in ${Math.round(performance.now() - started)} ms`);
      }
      await broker.clean();
      return broker;
    } catch (error) {
      await indexer?.close();
      await store.close();
      throw error;
    }
  }

  /** Objects stored. */
  get count(): number {
    return this.store.count;
  }

  /** Queries running now. */
  get queries(): number {
    return this.#queries;
  }

  /** Changes that the index does not durably hold yet. */
  get indexLag(): number {
    return this.#keeper.lag;
  }

  /** Aborted when the broker is closing. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** True while a collection runs. */
  get collecting(): boolean {
    return this.#collection !== undefined;
  }

  /**
   * Tells the broker where the web server beside it is reached; the URLs in replies (`125`, `126`) point there.
   * Until then they point to `HTTP-Host` and `HTTP-Port`.
   */
  setWebAddress(host: string, port: number): void {
    this.#web = { host, port };
  }

  /** BRK-4.11: URL of the query page: `Home-Page`, or this broker's page on the web server beside it. */
  get homePage(): string {
    const { homePage, brokerName, httpHost, httpPort } = this.config;
    const pageOn = (host: string, port: number) => `${httpOrigin(host, port)}${brokerPath(brokerName)}`;
    // The configuration fills in the page on HTTP-Host; whatever else it says is somebody's wish.
    return homePage === pageOn(httpHost, httpPort) ? pageOn(this.#web.host, this.#web.port) : homePage;
  }

  /** BRK-3.2: what `#opaque` means here. */
  get opaqueMode(): 'suppress' | 'show' {
    return this.config.opaqueMode === 'show' ? 'show' : 'suppress';
  }

  /** BRK-5.7: whether events of this type are logged; failures are, in any case. */
  logs(type: LogType): boolean {
    return this.config.logTypes.some((name) => [type.toLowerCase(), 'all'].includes(name.toLowerCase()));
  }

  /** BRK-4.10: URL of an object's content summary. */
  objectUrl(oid: number): string {
    return `${httpOrigin(this.#web.host, this.#web.port)}${objectPath(this.config.brokerName, oid)}`;
  }

  /**
   * BRK-6.2 to 6.4: begins the daily collection and cleaning, and a first collection in the background unless
   * `nocol`. `new` drops every object before.
   */
  async start(mode: StartMode): Promise<void> {
    const { collectionTime, collectionInterval, cleanInterval } = this.config;
    if (this.#started) throw new UsageError('this broker has been started already');
    this.#started = true;
    if (mode === 'new') await this.drop();
    const repeat = (interval: number, next: (now: UnixSeconds) => UnixSeconds, run: () => Promise<void>) => {
      // An interval of 0 turns the event off.
      if (interval > 0) this.#tasks.push(new RepeatingTask(next, run));
    };
    repeat(
      collectionInterval,
      (now) => nextRun(now, collectionTime, collectionInterval),
      () => this.#unattended('Collection', () => this.collect()),
    );
    repeat(
      cleanInterval,
      (now) => now + cleanInterval,
      () => this.#unattended('Cleaning', () => this.clean()),
    );
    if (mode !== 'nocol') this.collectInBackground();
  }

  /** Starts a collection, or joins the running one, without waiting. Its failure is logged. */
  collectInBackground(): void {
    const work = this.#unattended('Collection', () => this.collect());
    this.#background.add(work);
    void work.finally(() => this.#background.delete(work));
  }

  /**
   * Collects from every point in file order, then deletes what has expired (BRK-7.12). Queries go on meanwhile
   * (BRK-7.13). A call during a collection joins it.
   *
   * @param signal stops the collection for everybody who waits for it.
   * @throws ConfigError when `Collection-File` cannot be read; StorageError when the store or index fails.
   */
  collect(signal?: AbortSignal): Promise<CollectionReport> {
    this.#closing.signal.throwIfAborted();
    const stop =
      signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    this.#collection ??= this.#collect(stop).finally(() => {
      this.#collection = undefined;
    });
    return this.#collection;
  }

  /** BRK-7.14: deletes the objects whose time to live has passed; returns their number. */
  async clean(): Promise<number> {
    const expired = await this.store.expire(this.#now());
    await this.#keeper.settle();
    if (expired > 0 && this.logs('Cleaned')) this.log.info(`Cleaned: ${expired} expired objects`);
    return expired;
  }

  /** BRK-6.3: drops every object and every point's `<last>`, so that the next collection is a full one. */
  async drop(): Promise<void> {
    await this.store.clear();
    await this.#keeper.rebuild();
    this.log.info('All objects dropped');
  }

  /** Waits until a query may begin, for at most so many milliseconds. Those who wait are let in in their order. */
  async turn(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#queries < this.config.maxQueries || signal.aborted || timeoutMs <= 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
    });
  }

  /**
   * Answers a query (see {@link search}).
   *
   * @returns undefined when as many queries run as `Max-Queries` allows.
   */
  search(
    query: Query,
    flags: QueryFlags,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly ResultItem[], SearchSummary, void> | undefined {
    const { maxQueries, maxResults, glimpseMaxLife } = this.config;
    if (this.#queries >= maxQueries) return undefined;
    this.#queries += 1;
    const late = new AbortController();
    let held = true;
    const release = () => {
      clearTimeout(timer);
      if (!held) return;
      held = false;
      this.#queries -= 1;
      const [next] = this.#waiting;
      next?.();
    };
    // A reader that takes a byte a second must not keep others out: past its lifetime a query gives up its place
    // and what it holds, wherever its reader is.
    const seconds = clampLifetime(flags.lifetime, glimpseMaxLife) + GRACE;
    const timer = setTimeout(
      () => {
        release();
        late.abort();
      },
      Math.min(seconds * 1000, LONGEST_TIMER),
    ).unref();
    const stop = AbortSignal.any([
      late.signal,
      this.#closing.signal,
      ...(signal === undefined ? [] : [signal]),
    ]);
    const context = {
      store: this.store,
      indexer: this.indexer,
      objectUrl: (oid: number) => this.objectUrl(oid),
      homePage: this.homePage,
      maxResults,
      maxLife: glimpseMaxLife,
      opaqueMode: this.opaqueMode,
    };
    return releasing(search(query, flags, context, stop), release);
  }

  /** The database in numbers (BRK-9.12); a few minutes old at most. */
  statistics(): Promise<BrokerStatistics> {
    return this.#statistics.get(this.#now());
  }

  /** Stops the collection and the queries, then closes index and store. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    for (const task of this.#tasks) task[Symbol.dispose]();
    this.#closing.abort();
    await this.#collection?.catch(() => undefined);
    await Promise.all(this.#background);
    await this.indexer.close();
    await this.store.close();
  }

  async #collect(signal: AbortSignal): Promise<CollectionReport> {
    const started = performance.now();
    const all = await this.#points();
    const points = all.filter((point) => isGathererType(point.type));
    for (const point of all) {
      if (!isGathererType(point.type)) {
        this.log.warn(
          `Collection: ${point.host}:${point.port}: type ${point.type} is not supported by this version`,
        );
      }
    }
    publish({ event: 'start', points: points.length });
    const reports: PointReport[] = [];
    for (const point of points) {
      const report = await collectPoint(point, {
        store: this.store,
        applied: () => this.#keeper.follow(),
        now: () => this.#now(),
        signal,
        ...(this.#options.limits === undefined ? {} : { limits: this.#options.limits }),
      });
      await this.#keeper.settle();
      reports.push(report);
      publish({ event: 'point', report });
      this.#logPoint(report);
    }
    const expired = await this.clean();
    const milliseconds = Math.round(performance.now() - started);
    const received = reports.reduce((sum, report) => sum + report.received, 0);
    publish({ event: 'end', received, milliseconds });
    if (this.logs('Collection')) {
      this.log.info(`Collection: ${received} objects received, ${this.count} in all, ${milliseconds} ms`);
    }
    return {
      points: reports,
      totals: reports.reduce<ApplyCounts>(addCounts, NO_COUNTS),
      received,
      expired,
      skipped: all.length - points.length,
      milliseconds,
    };
  }

  /** The points of `Collection-File` as it is now, so that an edit needs no restart. */
  async #points(): Promise<readonly CollectionPoint[]> {
    if (this.#options.points !== undefined) return this.#options.points;
    const { points, warnings } = await readCollectionFile(this.config.collectionFile);
    for (const warning of warnings) this.log.warn(warning.message);
    return points;
  }

  #logPoint(report: PointReport): void {
    const where = `Collection: ${report.host}:${report.port}`;
    const { added, updated, refreshed, deleted, duplicates, rejected, malformed } = report;
    const counts = Object.entries({ added, updated, refreshed, deleted, duplicates, rejected, malformed })
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name}`);
    const summary = counts.length === 0 ? 'nothing new' : counts.join(', ');
    for (const reason of report.reasons) this.log.warn(`${where}: ${reason}`);
    // BRK-7.12: the next point is tried all the same.
    if (report.error !== undefined) this.log.error(`${where}: incomplete: ${report.error} (${summary})`);
    else if (this.logs('Collection')) this.log.info(`${where}: ${summary} (since ${report.since})`);
  }

  async #unattended(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#closing.signal.aborted) this.log.error({ err: error }, `${what} failed`);
    }
  }

  #now(): UnixSeconds {
    return this.#options.now?.() ?? Math.floor(Date.now() / 1000);
  }
}

async function readCollectionFile(file: string): Promise<ReturnType<typeof parseCollectionConf>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, 0, '', error instanceof Error ? error.message : String(error));
  }
  return parseCollectionConf(text, file);
}

/** The generator, releasing when it ends in whatever way. */
async function* releasing<T, R>(
  inner: AsyncGenerator<T, R, void>,
  release: () => void,
): AsyncGenerator<T, R, void> {
  try {
    return yield* inner;
  } finally {
    release();
  }
}
