// The Broker without its ports: collections, timed events, commands, queries.
import { setMaxListeners } from 'node:events';
import type { Query, QueryFlags } from '../../protocols/broker/index.js';
import type { DigestReport } from '../../protocols/bulk/index.js';
import { CloseStack } from '../../protocols/close-stack.js';
import type { BrokerConfig, CollectionPoint } from '../../protocols/config/index.js';
import { isDiskFull, messageOf, StateError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { BrokerStore } from '../../storage/index.js';
import type { Indexer } from '../../storage/indexers/index.js';
import { createDebug, type Debug, DebugFlags, type Logger } from '../host/index.js';
import { PasswordThrottle } from '../web/password-throttle.js';
import { CurrentConfig } from './admin/current-config.js';
import type { EventLog, LogType } from './admin/event-log.js';
import type { IndexKeeper } from './admin/index-keeper.js';
import { IndexRepair } from './admin/index-repair.js';
import { Jobs } from './admin/jobs.js';
import { Maintenance } from './admin/maintenance.js';
import { markForRefresh, type RefreshMarks } from './admin/refresh-marks.js';
import { RequestLog } from './admin/request-log.js';
import { type BrokerStatistics, StatisticsCache } from './admin/statistics.js';
import { addTimedEvents } from './admin/timed-events.js';
import { Timetable, type TimetableRow } from './admin/timetable.js';
import {
  type BrokerOptions,
  type BrokerParts,
  indexerSection,
  openParts,
  systemClock,
} from './broker-parts.js';
import type { BrokerDescription } from './bulk/object-list.js';
import type { BulkCaller, BulkRefusal, BulkTransfer } from './bulk/transfer.js';
import { type CollectionReport, changeObserver, readCollectionFile } from './collect/collection.js';
import { CollectionRunner } from './collect/collection-runner.js';
import { lastCollectionFile, writeLastCollections } from './collect/last-collection.js';
import type { SearchCaller } from './query/limited-search.js';
import { LocalCallers } from './query/local-callers.js';
import type { PageItem } from './query/page-items.js';
import { PublishedUrls } from './query/published-urls.js';
import { QueryService } from './query/query-service.js';
import type { QuerySlot, SlotRequest } from './query/query-slots.js';
import type { ReplyOwner, ReplyShare } from './query/reply-memory.js';
import type { SearchSummary } from './query/search.js';

/** Milliseconds between two looks for space on a full disk. */
const RETRY_MS = 5000;

/** BRK-6.2 to 6.4: what a broker does when it starts. */
export type StartMode = 'collect' | 'new' | 'nocol';

/**
 * The Broker: a store of collected objects, the index over it, collections from Gatherers, timed events, and searches.
 *
 * It opens no port; {@link BrokerServer} and {@link WebServer} serve it.
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
  /** Work that continues after the reply to its command. */
  readonly jobs: Jobs;
  /** Counts the wrong passwords of each address, by the port and by the administration page. */
  readonly passwords = new PasswordThrottle();
  /** For whom the parts of this process query its port. */
  readonly callers = new LocalCallers();
  /** Logs queries and bulk transfers, within limits. */
  readonly requests: RequestLog;
  /** Resolves on `#shutdown`. The owner of the ports closes them, and then the broker. */
  readonly shutdownRequested: Promise<void>;
  readonly #options: BrokerOptions;
  readonly #keeper: IndexKeeper;
  readonly #statistics: StatisticsCache;
  readonly #closing: AbortController;
  readonly #queries: QueryService;
  readonly #timetable: Timetable;
  readonly #collections: CollectionRunner;
  readonly #urls = new PublishedUrls(() => this.config);
  readonly #config: CurrentConfig;
  #requestShutdown: () => void = () => undefined;
  #refreshMarks: RefreshMarks | undefined;
  #started = false;
  /** Everything that {@link close} closes. */
  #opened = new CloseStack();

  private constructor(options: BrokerOptions, parts: BrokerParts, closing: AbortController) {
    const { config, log } = options;
    this.#options = options;
    this.#config = new CurrentConfig({
      initial: config,
      reread: options.reread,
      onChange: ({ logTypes }, previous) => {
        if (logTypes !== previous.logTypes) this.events.setTypes(logTypes);
        this.#timetable.reschedule();
      },
    });
    this.log = log;
    this.debug = options.debug ?? createDebug(DebugFlags.parse([]), log);
    this.store = parts.store;
    this.indexer = parts.indexer;
    this.events = parts.events;
    this.requests = new RequestLog(log, parts.events);
    this.#keeper = parts.keeper;
    this.#closing = closing;
    this.#statistics = new StatisticsCache(parts.store, options.limits);
    const repair = new IndexRepair({ log, jobs: () => this.jobs, rebuild: () => this.#keeper.rebuild() });
    this.#queries = new QueryService({
      ...parts,
      onFailure: (error) => repair.report(error),
      config: () => this.config,
      urls: this.#urls,
      debug: this.debug,
      now: () => this.#now(),
      closing: closing.signal,
    });
    this.shutdownRequested = new Promise((resolve) => {
      this.#requestShutdown = resolve;
    });
    this.jobs = new Jobs(log, (name, text) => this.events.write('Admin-Return', `${name}: ${text}`));
    this.maintenance = new Maintenance({
      ...parts,
      signal: closing.signal,
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
        if (!closing.signal.aborted) log.error({ err: error }, `${event.name} failed`);
      },
    );
    this.#collections = new CollectionRunner({
      ...parts,
      timetable: this.#timetable,
      points: () => this.#points(),
      lastCollections: lastCollectionFile(config.brokerDirectory),
      spoolDirectory: config.brokerDirectory,
      clean: () => this.clean(),
      now: () => this.#now(),
      log,
      debug: this.debug,
      closing: closing.signal,
      collected: (report) => this.#collected(report),
      limits: () => ({
        maxReceivedBytes: this.config.collectionMaxSize * 2 ** 20,
        maxDurationMs: this.config.collectionMaxTime * 1000,
        ...options.limits,
      }),
    });
    addTimedEvents(this.#timetable, this);
  }

  /**
   * Opens `<Broker-Directory>/store`, the index by `Indexer-Type`, and `Log-File`; brings the index up to date with the store and
   * deletes expired objects. Does not collect: see {@link start}. A failure closes what was opened.
   *
   * @throws StorageError when one of them cannot be opened, UsageError for an unknown Indexer-Type
   */
  static async open(options: BrokerOptions): Promise<Broker> {
    const closing = new AbortController();
    // Each query listens.
    setMaxListeners(0, closing.signal);
    await using opened = new CloseStack();
    const parts = await openParts(options, opened, closing.signal);
    const broker = new Broker(options, parts, closing);
    opened.use(broker.#queries);
    opened.defer(() => broker.#stop());
    broker.debug(77, 1, () => `opened ${options.config.brokerDirectory}: ${broker.count} objects`);
    await broker.#cleanIfRoom();
    broker.#opened = opened.move();
    return broker;
  }

  /** The current configuration, which `#set` and `#restart` change (BRK-5.3). */
  get config(): BrokerConfig {
    return this.#config.value;
  }

  /** Number of stored objects. */
  get count(): number {
    return this.store.count;
  }

  /** Number of queries that compute a page. */
  get queries(): number {
    return this.#queries.slots.inUse;
  }

  /** Work in progress for clients: slots in use, requests for a slot, and replies that are being sent. */
  get load(): { readonly running: number; readonly waiting: number; readonly replies: number } {
    const { slots, memory } = this.#queries;
    return { running: slots.inUse, waiting: slots.waiting, replies: memory.replies };
  }

  /** Number of changes of the store that are not yet durable in the index. */
  get indexLag(): number {
    return this.#keeper.lag;
  }

  /** Why the last update of the index failed; undefined after one that succeeded. */
  get indexFailure(): string | undefined {
    return this.#keeper.failure;
  }

  /** Aborted when the broker is closing. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** True while a collection runs. */
  get collecting(): boolean {
    return this.#collections.running;
  }

  /** What {@link close} waits for, in words. */
  get activities(): string[] {
    return [
      ...(this.collecting ? ['a collection'] : []),
      ...this.jobs.names,
      ...(this.queries === 0 ? [] : [`${this.queries} queries`]),
      'store and index',
    ];
  }

  /** BRK-7.10: the timed events, each with its next run and the outcome of its last one. */
  timetable(): readonly TimetableRow[] {
    return this.#timetable.rows();
  }

  /** BRK-7.14: the objects due for refresh at the last check; undefined before the first. */
  get refreshMarks(): RefreshMarks | undefined {
    return this.#refreshMarks;
  }

  /**
   * Sets the address of the web server of this process; the URLs in replies (`125`, `126`) point there. Until then they point to
   * `HTTP-Host` and `HTTP-Port`.
   */
  setWebAddress(host: string, port: number): void {
    this.#urls.setWebAddress(host, port);
  }

  /** BRK-4.11: URL of the query page: `Home-Page`, or this broker's page on the web server of this process. */
  get homePage(): string {
    return this.#urls.homePage;
  }

  /** What precedes the paths of its pages in links: the path of `Public-URL`, without a final slash. */
  get pagesBase(): string {
    return this.#urls.base;
  }

  /** BRK-3.2: what `#opaque` means to this broker. */
  get opaqueMode(): 'suppress' | 'show' {
    return this.#queries.opaqueMode;
  }

  /** BRK-5.7: whether events of this type are logged. Failures always are. */
  logs(type: LogType): boolean {
    return this.events.isEnabled(type);
  }

  /** BRK-4.10: URL of an object's content summary. */
  objectUrl(oid: number): string {
    return this.#urls.objectUrl(oid);
  }

  /**
   * BRK-6.2 to 6.4: starts the timed events, and a first collection in the background unless the mode is `nocol`. `new` first
   * drops every object.
   *
   * @throws StateError when the broker has already been started
   */
  async start(mode: StartMode): Promise<void> {
    if (this.#started) throw new StateError('this broker has already been started');
    this.#started = true;
    if (mode === 'new') await this.drop();
    this.#timetable.start();
    this.debug(77, 1, `started, ${mode}`);
    if (mode !== 'nocol') this.collectInBackground();
    // BRK-7.8: faults of the file are told at the start, not only by the collection of the next night.
    else await this.#points().catch((error: unknown) => this.log.warn(messageOf(error)));
  }

  /** Starts a collection, or joins the running one, without waiting for it. Its failure is logged. */
  collectInBackground(): void {
    this.#collections.runInBackground();
  }

  /**
   * Collects from every point in file order, then deletes expired objects (BRK-7.12). Queries are answered in the meantime
   * (BRK-7.13). A call during a collection joins it.
   *
   * @param signal stops the collection for every caller that waits for it
   * @throws ConfigError when `Collection-File` cannot be read; StorageError when the store or index fails
   */
  collect(signal?: AbortSignal): Promise<CollectionReport> {
    return this.#collections.run(signal);
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

  /** On a full disk expired objects stay until there is space; what is stored is served. */
  async #cleanIfRoom(): Promise<void> {
    try {
      await this.clean();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.log.error(`Cleaning failed: ${messageOf(error)}; it is tried again when there is space`);
      const retry = async (): Promise<void> => {
        await this.#cleanIfRoom().catch((cause: unknown) =>
          this.log.error({ err: cause }, 'Cleaning failed'),
        );
      };
      retryWhenRoom(this.store, this.#closing.signal, retry, this.#options.limits);
    }
  }

  /** BRK-5.1 `#compress-registry`: rewrites the store's files; returns the number of deleted records that this removed. */
  compress(): Promise<number> {
    return this.#timetable.observe(
      'Registry compression',
      () => this.maintenance.compress(),
      (records) => `compressed, ${records} deleted records removed`,
    );
  }

  /** BRK-7.14: counts the objects that are due for refresh. */
  async markForRefresh(): Promise<RefreshMarks> {
    this.#refreshMarks = await this.#timetable.observe(
      'Refresh marks',
      () => markForRefresh(this.store, this.#now(), this.#closing.signal),
      ({ due }) => `${due} objects are due for refresh`,
    );
    return this.#refreshMarks;
  }

  /** BRK-5.1 `#full-index`: indexes every object again; returns their number. */
  async reindexAll(): Promise<number> {
    this.debug(indexerSection(this.config), 1, 'reindexing everything');
    await this.#keeper.rebuild();
    return this.count;
  }

  /** BRK-5.1 `#incremental-index`: indexes the changes that the index lacks; returns their number. */
  async reindexChanges(): Promise<number> {
    const { lag } = this.#keeper;
    await this.#keeper.settle();
    return lag;
  }

  /** BRK-6.3: drops every object and every point's `<last>`, so that the next collection is a full one. */
  async drop(): Promise<void> {
    // BT-7: the file is written first, because an empty store would take over the times in it.
    await writeLastCollections(lastCollectionFile(this.config.brokerDirectory), []);
    await this.store.clear();
    await this.#keeper.rebuild();
    this.log.info('All objects dropped');
  }

  /** BRK-5.1 `#set`: changes a variable for this run and returns its name (see {@link CurrentConfig.set}). */
  set(name: string, value: string): string {
    return this.#config.set(name, value);
  }

  /**
   * BRK-5.1 `#restart`, REG-31: reads the configuration again and so undoes `#set`, reopens the log, waits for a running
   * collection and indexes everything again.
   *
   * @returns names of the variables whose new values take effect at the next start of the program
   */
  async restart(): Promise<readonly string[]> {
    const waiting = await this.#config.reread();
    this.events.setTypes(this.config.logTypes);
    this.events.openFile();
    await this.#collections.settled();
    await this.clean();
    await this.#keeper.rebuild();
    return waiting;
  }

  /** `#shutdown`: resolves {@link shutdownRequested}, on which the owner of the ports closes them; does not wait for that. */
  requestShutdown(): void {
    this.#requestShutdown();
  }

  /** Waits for a slot of `Max-Queries`; the holder disposes of it. Returns undefined if none becomes free in time. */
  acquireSlot(request: SlotRequest): Promise<QuerySlot | undefined> {
    return this.#queries.slots.acquire(request);
  }

  /** Begins a reply, which shares the memory for pages with the other replies. */
  beginReply(owner?: ReplyOwner): ReplyShare {
    return this.#queries.memory.enter(owner);
  }

  /**
   * Answers a query (see {@link search}). It holds a slot of `Max-Queries` only while a page is computed. A query that got none in time
   * yields nothing and ends with reason `busy`.
   */
  search(
    query: Query,
    flags: QueryFlags,
    caller?: SearchCaller,
  ): AsyncGenerator<readonly PageItem[], SearchSummary, void> {
    return this.#queries.search(query, flags, caller);
  }

  /**
   * Prepares a bulk transfer (BT-4 to BT-6), or returns why it is refused. A query takes one of the slots of `Max-Queries` until
   * its objects are found.
   */
  bulkTransfer(query: Query, flags: QueryFlags, caller: BulkCaller): Promise<BulkTransfer | BulkRefusal> {
    return this.#queries.bulkTransfer(query, flags, caller);
  }

  /** The digest of the stored objects below a prefix of hex digits, by which two Brokers compare themselves. */
  bulkDigest(prefix: string, signal: AbortSignal): Promise<DigestReport> {
    return this.#queries.digest(prefix, signal);
  }

  /** Returns the facts about this broker for the Header of the interface of 1995 (BP-12). */
  async description(): Promise<BrokerDescription> {
    const points = await this.#points().catch(() => []);
    return {
      homePage: this.homePage,
      indexer: this.config.indexerType,
      points: points.map(({ host, port, type }) => `${host} ${port} ${type}`),
    };
  }

  /** The statistics of the stored objects (BRK-9.12); a few minutes old at most. */
  statistics(): Promise<BrokerStatistics> {
    return this.#statistics.get(this.#now());
  }

  /** Stops the timed events, the collection, the jobs and the queries, then closes index, store and log. */
  close(): Promise<void> {
    return this.#opened[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stop(): Promise<void> {
    this.debug(77, 1, 'closing');
    this.#timetable[Symbol.dispose]();
    this.#closing.abort();
    await this.#collections.settled();
    await this.jobs.settled();
    this.requests[Symbol.dispose]();
  }

  async #collected({ totals: { updated, refreshed, deleted } }: CollectionReport): Promise<void> {
    this.maintenance.countReplaced(updated + refreshed + deleted);
    // REG-27: after a collection, and after a cleaning.
    if (this.maintenance.compressible) await this.compress();
  }

  async #points(): Promise<readonly CollectionPoint[]> {
    return this.#options.points ?? (await readCollectionFile(this.config.collectionFile, this.log));
  }

  #now(): UnixSeconds {
    return (this.#options.now ?? systemClock)();
  }
}

/**
 * Looks for space on the disk of a store every `diskRetryMs`, and then runs `work`, once. Its failures are its own to report.
 *
 * @param signal ends the waiting
 */
function retryWhenRoom(
  store: BrokerStore,
  signal: AbortSignal,
  work: () => Promise<void>,
  { diskRetryMs = RETRY_MS }: { readonly diskRetryMs?: number } = {},
): void {
  const look = async (): Promise<void> => {
    if (signal.aborted) return;
    if (await store.hasRoom()) await work();
    else wait();
  };
  const wait = (): void => {
    setTimeout(() => void look(), diskRetryMs).unref();
  };
  wait();
}
