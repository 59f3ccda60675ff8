import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Query, QueryFlags, ResultItem } from '../../protocols/broker/index.js';
import type { DigestReport } from '../../protocols/bulk/index.js';
import {
  type BrokerConfig,
  type CollectionPoint,
  rereadBrokerConfig,
  setBrokerVariable,
} from '../../protocols/config/index.js';
import { UsageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { BrokerStore } from '../../storage/index.js';
import { type Indexer, openIndexer } from '../../storage/indexers/index.js';
import { createDebug, type Debug, DebugFlags, type Logger } from '../host/index.js';
import { DigestCache } from './bulk-digest.js';
import type { BrokerDescription } from './bulk-list.js';
import { type BulkRefusal, type BulkTransfer, prepareTransfer } from './bulk-transfer.js';
import { type CollectionReport, changeObserver, collectAll, readCollectionFile } from './collection.js';
import type { CollectLimits } from './collector.js';
import { EventLog, type LogType, logTypesNamed } from './event-log.js';
import { IndexKeeper, type IndexKeeperOptions } from './index-keeper.js';
import { Jobs } from './jobs.js';
import { lastCollectionFile, writeLastCollections } from './last-collection.js';
import { Maintenance } from './maintenance.js';
import { placedSearch } from './placed-search.js';
import { PublishedUrls } from './published-urls.js';
import { QuerySlots } from './query-slots.js';
import { markForRefresh, type RefreshMarks } from './refresh-marks.js';
import type { SearchSummary } from './search.js';
import { type BrokerStatistics, StatisticsCache, type StatisticsOptions } from './statistics.js';
import { addTimedEvents } from './timed-events.js';
import { Timetable, type TimetableRow } from './timetable.js';

/** What {@link Broker.open} needs. */
export interface BrokerOptions {
  readonly config: BrokerConfig;
  /** `broker.out` (BRK-5.8). */
  readonly log: Logger;
  /** BRK-6.5: sections 70 to 79 and 101 to 103. Default: none is shown. */
  readonly debug?: Debug;
  /** Collection points instead of those in `Collection-File`. */
  readonly points?: readonly CollectionPoint[];
  /** Reads the configuration again, for `#restart`. Default: it stays as it was at the start. */
  readonly reread?: () => Promise<BrokerConfig>;
  readonly limits?: CollectLimits & StatisticsOptions & Omit<IndexKeeperOptions, 'signal'>;
  /** The clock, for tests. */
  readonly now?: () => UnixSeconds;
}

/** BRK-6.2 to 6.4: what a broker does when it starts. */
export type StartMode = 'collect' | 'new' | 'nocol';

/**
 * The Broker: a store of collected objects, the index over it, collections from Gatherers, timed events, and searches.
 *
 * It opens no port: {@link BrokerServer} and {@link WebServer} do.
 */
export class Broker implements AsyncDisposable {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  readonly log: Logger;
  readonly debug: Debug;
  /** `admin/LOG`. */
  readonly events: EventLog;
  /** Cleaning, deleting, adding by hand, compressing. */
  readonly maintenance: Maintenance;
  /** What goes on behind answered commands. */
  readonly jobs: Jobs;
  /** Resolves when `#shutdown` was asked for. Who owns the ports closes them, and the broker. */
  readonly shutdownRequested: Promise<void>;
  readonly #options: BrokerOptions;
  readonly #keeper: IndexKeeper;
  readonly #statistics: StatisticsCache;
  readonly #digests: DigestCache;
  readonly #closing: AbortController;
  readonly #places = new QuerySlots(() => this.config.maxQueries);
  readonly #timetable: Timetable;
  readonly #background = new Set<Promise<unknown>>();
  #config: BrokerConfig;
  #requestShutdown: () => void = () => undefined;
  #collection: Promise<CollectionReport> | undefined;
  #refreshMarks: RefreshMarks | undefined;
  #started = false;
  readonly #urls = new PublishedUrls(() => this.config);
  #closed: Promise<void> | undefined;

  private constructor(
    options: BrokerOptions,
    parts: {
      store: BrokerStore;
      indexer: Indexer;
      keeper: IndexKeeper;
      closing: AbortController;
      events: EventLog;
    },
  ) {
    const { config, log } = options;
    this.#options = options;
    this.#config = config;
    this.log = log;
    this.debug = options.debug ?? createDebug(DebugFlags.parse([]), log);
    this.store = parts.store;
    this.indexer = parts.indexer;
    this.events = parts.events;
    this.#keeper = parts.keeper;
    this.#closing = parts.closing;
    this.#statistics = new StatisticsCache(parts.store, options.limits);
    this.#digests = new DigestCache(parts.store, () => this.#now());
    this.shutdownRequested = new Promise((resolve) => {
      this.#requestShutdown = resolve;
    });
    this.jobs = new Jobs(log, (name, text) => this.events.write('Admin-Return', `${name}: ${text}`));
    this.maintenance = new Maintenance({
      ...parts,
      signal: parts.closing.signal,
      debug: this.debug,
      observe: changeObserver(parts.events, this.debug),
      now: () => this.#now(),
      directory: config.brokerDirectory,
      compressPercent: () => this.config.compressPercent,
      maxLife: () => this.config.glimpseMaxLife,
    });
    this.#timetable = new Timetable(
      () => this.#now(),
      (event, error) => {
        if (!this.#closing.signal.aborted) log.error({ err: error }, `${event.name} failed`);
      },
    );
    addTimedEvents(this.#timetable, this);
  }

  /**
   * Opens `<Broker-Directory>/store`, the index by `Indexer-Type`, and `Log-File`; brings the index up to the store and
   * deletes what has expired. Does not collect: see {@link start}.
   *
   * @throws StorageError when one of them cannot be opened, UsageError when there is no such Indexer-Type
   */
  static async open(options: BrokerOptions): Promise<Broker> {
    const { config, log, now = systemClock } = options;
    const directory = config.brokerDirectory;
    const storeDirectory = join(directory, 'store');
    const closing = new AbortController();
    await mkdir(directory, { recursive: true });
    const store = await BrokerStore.open(storeDirectory, { now });
    let indexer: Indexer | undefined;
    let events: EventLog | undefined;
    try {
      events = EventLog.open({ file: config.logFile, directory, types: config.logTypes, now });
      for (const name of config.logTypes) {
        if (logTypesNamed(name) === undefined) log.warn(`Log-Types: ${name} is not a type of event`);
      }
      indexer = await openIndexer({
        type: config.indexerType,
        brokerDirectory: directory,
        storeDirectory,
        glimpseIndexOption: config.glimpseIndexOption,
        glimpseServerHost: config.glimpseServerHost,
        glimpseServerPort: config.glimpseServerPort,
        onWarning: (sentence) => log.warn(`${config.indexerType}: ${sentence}`),
      });
      const started = performance.now();
      const before = indexer.watermark;
      const keeper = await IndexKeeper.open(store, indexer, { ...options.limits, signal: closing.signal });
      const broker = new Broker(options, { store, indexer, keeper, closing, events });
      if (indexer.watermark !== before) {
        log.info(`Index brought up to date in ${Math.round(performance.now() - started)} ms`);
      }
      broker.debug(77, 1, () => `opened ${directory}: ${store.count} objects`);
      await broker.clean();
      return broker;
    } catch (error) {
      events?.close();
      await indexer?.close();
      await store.close();
      throw error;
    }
  }

  /** The configuration as it is now: `#set` and `#restart` change it (BRK-5.3). */
  get config(): BrokerConfig {
    return this.#config;
  }

  /** Objects stored. */
  get count(): number {
    return this.store.count;
  }

  /** Queries running now. */
  get queries(): number {
    return this.#places.taken;
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

  /** BRK-7.10: the timed events, when they are due, and what they came to the last time. */
  timetable(): readonly TimetableRow[] {
    return this.#timetable.rows();
  }

  /** BRK-7.14: what was due for refresh when it was last looked at; undefined before the first time. */
  get refreshMarks(): RefreshMarks | undefined {
    return this.#refreshMarks;
  }

  /**
   * Tells the broker where the web server beside it is reached; the URLs in replies (`125`, `126`) point there.
   * Until then they point to `HTTP-Host` and `HTTP-Port`.
   */
  setWebAddress(host: string, port: number): void {
    this.#urls.setWebAddress(host, port);
  }

  /** BRK-4.11: URL of the query page: `Home-Page`, or this broker's page on the web server beside it. */
  get homePage(): string {
    return this.#urls.homePage;
  }

  /** BRK-3.2: what `#opaque` means here. */
  get opaqueMode(): 'suppress' | 'show' {
    return this.config.opaqueMode === 'show' ? 'show' : 'suppress';
  }

  /** BRK-5.7: whether events of this type are logged; failures are, in any case. */
  logs(type: LogType): boolean {
    return this.events.wants(type);
  }

  /** BRK-4.10: URL of an object's content summary. */
  objectUrl(oid: number): string {
    return this.#urls.objectUrl(oid);
  }

  /**
   * BRK-6.2 to 6.4: begins the timed events, and a first collection in the background unless `nocol`. `new` drops every
   * object before.
   */
  async start(mode: StartMode): Promise<void> {
    if (this.#started) throw new UsageError('this broker has been started already');
    this.#started = true;
    if (mode === 'new') await this.drop();
    this.#timetable.start();
    this.debug(77, 1, `started, ${mode}`);
    if (mode !== 'nocol') this.collectInBackground();
  }

  /** Starts a collection, or joins the running one, without waiting. Its failure is logged. */
  collectInBackground(): void {
    const work = this.collect()
      .then(() => undefined)
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.log.error({ err: error }, 'Collection failed');
      });
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
    this.#collection ??= this.#timetable
      .observe(
        'Collection',
        () => this.#collect(stop),
        ({ received, points }) => {
          const failed = points.filter((point) => !point.complete).length;
          return `${received} objects received${failed === 0 ? '' : `, ${failed} points incomplete`}`;
        },
      )
      .finally(() => {
        this.#collection = undefined;
      });
    return this.#collection;
  }

  /** BRK-7.14: deletes the objects whose time to live has passed; returns their number. */
  async clean(): Promise<number> {
    const expired = await this.#timetable.observe(
      'Cleaning',
      () => this.maintenance.clean(),
      (count) => `${count} expired objects deleted`,
    );
    if (expired > 0 && this.logs('Cleaned')) this.log.info(`Cleaned: ${expired} expired objects`);
    return expired;
  }

  /** BRK-5.1 `#compress-registry`: rewrites the store's files; returns how many deleted records there were. */
  compress(): Promise<number> {
    return this.#timetable.observe(
      'Registry compression',
      () => this.maintenance.compress(),
      (records) => `compressed, ${records} deleted records gone`,
    );
  }

  /** BRK-7.14: looks which objects are due for refresh. */
  async markForRefresh(): Promise<RefreshMarks> {
    this.#refreshMarks = await this.#timetable.observe(
      'Refresh marks',
      () => markForRefresh(this.store, this.#now(), this.#closing.signal),
      ({ due }) => `${due} objects are due for refresh`,
    );
    return this.#refreshMarks;
  }

  /** BRK-5.1 `#full-index`: reindexes everything; returns the number of objects. */
  async reindexAll(): Promise<number> {
    this.debug(indexerSection(this.config), 1, 'reindexing everything');
    await this.#keeper.rebuild();
    return this.count;
  }

  /** BRK-5.1 `#incremental-index`: indexes what changed since; returns the number of changes. */
  async reindexChanges(): Promise<number> {
    const { lag } = this.#keeper;
    await this.#keeper.settle();
    return lag;
  }

  /** BRK-6.3: drops every object and every point's `<last>`, so that the next collection is a full one. */
  async drop(): Promise<void> {
    // BT-7: before the store, which would otherwise learn from it what it is to forget.
    await writeLastCollections(lastCollectionFile(this.config.brokerDirectory), []);
    await this.store.clear();
    await this.#keeper.rebuild();
    this.log.info('All objects dropped');
  }

  /**
   * BRK-5.1 `#set`: changes a variable for this run (BRK-5.3); returns its name as the table has it.
   *
   * @throws UsageError when there is none of that name, it holds until the program ends, or the value cannot be used
   */
  set(name: string, value: string): string {
    const { config, variable } = setBrokerVariable(this.#config, name, value);
    this.#configure(config);
    return variable;
  }

  /**
   * BRK-5.1 `#restart`, REG-31: reads the configuration again, forgetting what `#set` changed, opens the log anew, waits for
   * a running collection and reindexes everything.
   *
   * @returns names of the variables whose new values wait for a new start of the program
   */
  async restart(): Promise<readonly string[]> {
    const read = (await this.#options.reread?.()) ?? this.#options.config;
    const { config, waiting } = rereadBrokerConfig(this.#config, read);
    this.#configure(config);
    this.events.setTypes(config.logTypes);
    this.events.openFile();
    await this.#collection?.catch(() => undefined);
    await this.clean();
    await this.#keeper.rebuild();
    return waiting;
  }

  /** `#shutdown`: asks whoever owns the ports for a clean end; does not wait for it. */
  requestShutdown(): void {
    this.#requestShutdown();
  }

  /** Waits until a query may begin, for at most so many milliseconds. Those who wait are let in in their order. */
  turn(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return this.#places.turn(timeoutMs, signal);
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
    const { maxResults, glimpseMaxLife } = this.config;
    const context = {
      store: this.store,
      indexer: this.indexer,
      objectUrl: (oid: number) => this.objectUrl(oid),
      homePage: this.homePage,
      maxResults,
      maxLife: glimpseMaxLife,
      opaqueMode: this.opaqueMode,
      places: this.#places,
      debug: this.debug,
      closing: this.#closing.signal,
    };
    return placedSearch(query, flags, context, signal);
  }

  /**
   * Makes a bulk transfer ready (BT-4 to BT-6), or says why it cannot be made. With a query it takes one of the places of
   * `Max-Queries` until what matches has been found.
   */
  bulkTransfer(query: Query, flags: QueryFlags, signal: AbortSignal): Promise<BulkTransfer | BulkRefusal> {
    return prepareTransfer(query, flags, {
      store: this.store,
      indexer: this.indexer,
      settle: () => this.#keeper.settle(),
      takePlace: () => this.#places.take(),
      maxLife: this.config.glimpseMaxLife,
      now: () => this.#now(),
      signal: AbortSignal.any([signal, this.#closing.signal]),
    });
  }

  /** What the store holds below a prefix of hex digits, so that two Brokers can be compared. */
  bulkDigest(prefix: string, signal: AbortSignal): Promise<DigestReport> {
    return this.#digests.report(prefix, AbortSignal.any([signal, this.#closing.signal]));
  }

  /** What the Header of the interface of 1995 says of this broker (BP-12). */
  async description(): Promise<BrokerDescription> {
    const points = await this.#points().catch(() => []);
    return {
      homePage: this.homePage,
      indexer: this.config.indexerType,
      points: points.map(({ host, port, type }) => `${host} ${port} ${type}`),
    };
  }

  /** The database in numbers (BRK-9.12); a few minutes old at most. */
  statistics(): Promise<BrokerStatistics> {
    return this.#statistics.get(this.#now());
  }

  /** Stops the timed events, the collection, the jobs and the queries, then closes index, store and log. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.debug(77, 1, 'closing');
    this.#timetable[Symbol.dispose]();
    this.#closing.abort();
    await this.#collection?.catch(() => undefined);
    await Promise.all(this.#background);
    await this.jobs.settled();
    await this.indexer.close();
    await this.store.close();
    this.events.close();
  }

  async #collect(signal: AbortSignal): Promise<CollectionReport> {
    const { limits } = this.#options;
    const report = await collectAll(
      {
        store: this.store,
        keeper: this.#keeper,
        points: () => this.#points(),
        lastCollections: lastCollectionFile(this.config.brokerDirectory),
        clean: () => this.clean(),
        now: () => this.#now(),
        log: this.log,
        events: this.events,
        debug: this.debug,
        ...(limits === undefined ? {} : { limits }),
      },
      signal,
    );
    const { updated, refreshed, deleted } = report.totals;
    this.maintenance.replaced(updated + refreshed + deleted);
    // REG-27: after a collection, and after a cleaning.
    if (this.maintenance.compressible) await this.compress();
    return report;
  }

  async #points(): Promise<readonly CollectionPoint[]> {
    return this.#options.points ?? (await readCollectionFile(this.config.collectionFile, this.log));
  }

  #configure(config: BrokerConfig): void {
    const before = this.#config;
    this.#config = config;
    if (before.logTypes !== config.logTypes) this.events.setTypes(config.logTypes);
    this.#timetable.reschedule();
  }

  #now(): UnixSeconds {
    return (this.#options.now ?? systemClock)();
  }
}

function systemClock(): UnixSeconds {
  return Math.floor(Date.now() / 1000);
}

/** BRK-6.5: the indexer's debug section; ours, which the table does not have, takes that of the first one in it. */
function indexerSection({ indexerType }: BrokerConfig): number {
  return { glimpse: 102, swish: 103 }[indexerType.toLowerCase()] ?? 101;
}
