// The Broker without its ports: collections, timed events, commands, queries.
import { setMaxListeners } from 'node:events';
import { CloseStack } from '../../protocols/close-stack.js';
import type { BrokerConfig } from '../../protocols/config/index.js';
import { messageOf, StateError, type StorageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { BrokerStore } from '../../storage/index.js';
import type { Indexer } from '../../storage/indexers/index.js';
import type { Debug, Logger } from '../host/index.js';
import { PasswordThrottle } from '../web/password-throttle.js';
import { SetBackWatch } from './admin/clock-watch.js';
import type { CurrentConfig } from './admin/current-config.js';
import type { EventLog } from './admin/event-log.js';
import type { IndexKeeper } from './admin/index-keeper.js';
import { IndexRepair } from './admin/index-repair.js';
import { Jobs } from './admin/jobs.js';
import { Maintenance } from './admin/maintenance.js';
import type { BrokerParts } from './admin/parts.js';
import { RequestLog } from './admin/request-log.js';
import { type BrokerStatistics, computeStatistics } from './admin/statistics.js';
import type { StoreDamage } from './admin/store-damage.js';
import { addTimedEvents } from './admin/timed-events.js';
import type { Timetable } from './admin/timetable.js';
import { WalkCache } from './admin/walk-cache.js';
import { type BrokerOptions, openParts, processName } from './broker-parts.js';
import type { BrokerDescription } from './bulk/object-list.js';
import { BulkTransfers } from './bulk/transfer.js';
import { CollectionRunner, type StartMode } from './collect/collection-runner.js';
import { lastCollectionFile, writeLastCollections } from './collect/last-collection.js';
import { LocalCallers } from './query/local-callers.js';
import { PublishedUrls } from './query/published-urls.js';
import { QueryService } from './query/query-service.js';

/**
 * The Broker: a store of collected objects, the index over it, collections from Gatherers, timed events, and
 * searches. Its parts are its members.
 *
 * It opens no port; {@link BrokerServer} and {@link WebServer} serve it.
 */
export class Broker implements AsyncDisposable, BrokerParts {
  readonly store: BrokerStore;
  readonly indexer: Indexer;
  readonly keeper: IndexKeeper;
  readonly log: Logger;
  readonly debug: Debug;
  readonly now: () => UnixSeconds;
  readonly witness: (newest: UnixSeconds) => boolean;
  /** `admin/LOG`. */
  readonly events: EventLog;
  readonly settings: CurrentConfig;
  readonly timetable: Timetable;
  readonly closing: AbortSignal;
  /** Runs one collection at a time. */
  readonly collections: CollectionRunner;
  /** Cleaning, deleting, adding by hand, compressing. */
  readonly maintenance: Maintenance;
  /** The statistics of the stored objects (BRK-9.12); a few minutes old at most. */
  readonly statistics: WalkCache<BrokerStatistics>;
  /** Answers queries. */
  readonly queries: QueryService;
  /** What is known to be damaged of the store. */
  readonly damage: StoreDamage;
  /** Prepares bulk transfers. */
  readonly bulk: BulkTransfers;
  /** Work that continues after the reply to its command. */
  readonly jobs: Jobs;
  /** Counts the wrong passwords of each address, by the port and by the administration page. */
  readonly passwords = new PasswordThrottle();
  /** For whom the parts of this process query its port. */
  readonly callers = new LocalCallers();
  /** Logs queries and bulk transfers, within limits. */
  readonly requests: RequestLog;
  /** The URLs in replies. */
  readonly urls: PublishedUrls;
  /** Resolves on `#shutdown`. The owner of the ports closes them, and then the broker. */
  readonly shutdownRequested: Promise<void>;
  readonly #abort: () => void;
  #requestShutdown: () => void = () => undefined;
  #started = false;
  /** Everything that {@link close} closes. */
  #opened = new CloseStack();

  private constructor(options: BrokerOptions, parts: BrokerParts, abort: () => void) {
    const { events, keeper, log } = parts;
    this.store = parts.store;
    this.indexer = parts.indexer;
    this.keeper = keeper;
    this.log = log;
    this.debug = parts.debug;
    this.now = parts.now;
    this.witness = parts.witness;
    this.events = events;
    this.settings = parts.settings;
    this.timetable = parts.timetable;
    this.closing = parts.closing;
    this.#abort = abort;
    this.requests = new RequestLog(log, events);
    this.statistics = new WalkCache(parts.store, computeStatistics);
    this.urls = new PublishedUrls(() => this.config);
    this.jobs = new Jobs(log, (name, text) => events.write('Admin-Return', `${name}: ${text}`));
    const repair = new IndexRepair({ log, jobs: this.jobs, rebuild: () => keeper.rebuild() });
    this.damage = parts.damage;
    const onFailure = (error: StorageError): void => {
      this.damage.noteFailure(error);
      repair.report(error);
    };
    this.queries = new QueryService({ ...parts, urls: this.urls, onFailure });
    this.bulk = new BulkTransfers({ ...parts, onFailure });
    this.maintenance = new Maintenance(parts);
    const { limits, monotonicMs, points } = options;
    const setBackWatch = new SetBackWatch(monotonicMs);
    this.collections = new CollectionRunner({
      ...parts,
      maintenance: this.maintenance,
      setBackWatch,
      name: processName(),
      limits,
      points,
    });
    this.shutdownRequested = new Promise((resolve) => {
      this.#requestShutdown = resolve;
    });
    addTimedEvents(this);
  }

  /**
   * Opens `<Broker-Directory>/store`, the index by `Indexer-Type`, and `Log-File`; brings the index up to date
   * with the store and deletes expired objects. Does not collect: see {@link start}. A failure closes what was
   * opened.
   *
   * @throws StorageError when one of them cannot be opened, UsageError for an unknown Indexer-Type
   */
  static async open(options: BrokerOptions): Promise<Broker> {
    const closing = new AbortController();
    // Each query listens.
    setMaxListeners(0, closing.signal);
    await using opened = new CloseStack();
    const parts = await openParts(options, opened, closing.signal);
    const broker = new Broker(options, parts, () => closing.abort());
    opened.use(broker.bulk);
    opened.defer(() => broker.#stop());
    broker.debug(77, 1, () => `opened ${options.config.brokerDirectory}: ${broker.store.count} objects`);
    await broker.maintenance.cleanIfRoom();
    broker.#opened = opened.move();
    return broker;
  }

  /** The current configuration, which `#set` and `#restart` change (BRK-5.3). */
  get config(): BrokerConfig {
    return this.settings.value;
  }

  /** What {@link close} waits for, in words. */
  get activities(): string[] {
    const { inUse } = this.queries.slots;
    return [
      ...(this.collections.running ? ['a collection'] : []),
      ...this.jobs.names,
      ...(inUse === 0 ? [] : [`${inUse} queries`]),
      'store and index',
    ];
  }

  /**
   * BRK-6.2 to 6.4: starts the timed events, and a first collection in the background unless the mode is
   * `nocol`. `new` first drops every object.
   *
   * @throws StateError when the broker has already been started
   */
  async start(mode: StartMode): Promise<void> {
    if (this.#started) throw new StateError('this broker has already been started');
    this.#started = true;
    if (mode === 'new') await this.drop();
    await this.collections.begin(mode);
    this.timetable.start();
    this.debug(77, 1, `started, ${mode}`);
    // BRK-7.8: faults of the file are reported at the start, not only by the collection of the next night.
    if (mode === 'nocol')
      await this.collections.points().catch((error: unknown) => this.log.warn(messageOf(error)));
  }

  /** BRK-6.3: drops every object and every point's `<last>`, so that the next collection is a full one. */
  async drop(): Promise<void> {
    // BT-7: the file is written first, because an empty store would take over the times in it.
    await writeLastCollections(lastCollectionFile(this.config.brokerDirectory), []);
    await this.store.clear();
    await this.#rebuildOwn();
    this.log.info('All objects dropped');
  }

  /**
   * BRK-5.1 `#restart`, REG-31: reads the configuration again and so undoes `#set`, reopens the log, waits for
   * a running collection and indexes everything again.
   *
   * @returns names of the variables whose new values take effect at the next start of the program
   */
  async restart(): Promise<readonly string[]> {
    const waiting = await this.settings.reread();
    this.events.setTypes(this.config.logTypes);
    this.events.openFile();
    await this.collections.settled();
    await this.maintenance.clean();
    await this.#rebuildOwn();
    return waiting;
  }

  /** Indexes everything again, unless the index is one that another Broker writes. */
  async #rebuildOwn(): Promise<void> {
    if ((await this.keeper.writer()) === undefined) await this.keeper.rebuild();
  }

  /**
   * `#shutdown`: resolves {@link shutdownRequested}, on which the owner of the ports closes them; does not wait
   * for that.
   */
  requestShutdown(): void {
    this.#requestShutdown();
  }

  /** Returns the facts about this broker for the Header of the interface of 1995 (BP-12). */
  async description(): Promise<BrokerDescription> {
    const points = await this.collections.points().catch(() => []);
    return {
      homePage: this.urls.homePage,
      indexer: this.config.indexerType,
      points: points.map(({ host, port, type }) => `${host} ${port} ${type}`),
    };
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
    this.timetable[Symbol.dispose]();
    this.#abort();
    await this.collections.settled();
    await this.jobs.settled();
    this.requests[Symbol.dispose]();
  }
}
