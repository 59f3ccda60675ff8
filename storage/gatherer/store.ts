import { defined } from '../../protocols/defined.js';
import { StateError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { cloneDatabase } from '../generations/clone-database.js';
import { LoginSeal } from '../generations/login-seal.js';
import { type PublishOptions, publishGeneration } from '../generations/publish.js';
import { type Lease, Leases, type LeasesOptions, StaleLeaseError } from '../leases/leases.js';
import type { LevelOptions } from '../level/level.js';
import { openRows } from '../place/open-rows.js';
import { placeOf } from '../place/store-url.js';
import type { FrontierState, GathererCounters, QueueRecord } from '../records/records.js';
import type { PublishedReferences, ReferencesBuilderOptions } from '../references/index.js';
import type { RowChange, Rows, RowWriter } from '../rows/contract.js';
import { isDatabaseUrl } from '../rows/database-url.js';
import { prefixRange, TABLE, tableRange } from '../rows/keys.js';
import { pagesOf } from '../rows/pages.js';
import { Table } from '../rows/table.js';
import { LevelFilter, SEEN_COUNT_KEY } from '../seen/level-filter.js';
import { dropOldEpochs, newEpoch } from '../summaries/epochs.js';
import { summaryRows } from '../summaries/summary-changes.js';
import { SummaryStore } from '../summaries/summary-store.js';
import { EPOCHS, GATHERER_COUNTERS } from '../summaries/tables.js';
import { TombstoneStore } from '../summaries/tombstones.js';
import { type BatchContent, type CommitOptions, GathererBatch } from './batch.js';
import { copyStore, generationOf, restoreStore } from './copies.js';
import { DocumentStore } from './documents.js';
import { LinkTables } from './link-tables.js';
import { Ownership } from './ownership.js';
import { inboxRange, isFrontierState, PARTITION_STATES, PartitionStore, partitionKey } from './partitions.js';
import { publishReferences } from './publish-references.js';
import { WorkQueueStore } from './queues.js';
import { renameDocuments, renameReferences } from './rename-urls.js';
import {
  FRONTIER_STATE,
  type GathererFormats,
  gathererFormats,
  type InactivePosition,
  type InboxPlace,
  type InboxRow,
  LINK_COUNTERS,
  type MetaValue,
  type StoredEvent,
  type WaitingPosition,
  type WaitingUri,
} from './tables.js';

export interface GathererStoreOptions
  extends PublishOptions,
    Omit<LevelOptions, 'kind' | 'multithreading' | 'upgrade'> {
  /** Reads a store in a database beside its owner. Default false: becomes the owner. */
  readonly reader?: boolean;
  /** Shares a store in a database with other processes, by leases. */
  readonly shared?: LeasesOptions;
}

/** A change of small values in progress. Reads do not see what it puts. */
export interface MetaChange {
  get(name: string): Promise<MetaValue | undefined>;
  put(name: string, value: MetaValue): void;
  /** Milliseconds by the clock of the database. */
  time(): Promise<number>;
}

interface PendingBatch {
  readonly content: BatchContent;
  readonly rows: number;
  readonly sync: boolean;
  readonly lazy: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The number of the rule by which URLs are canonical (G-57, R-41). Raise it when a version gives a URL another form: 1
 * names files of this machine `file://localhost/` and escapes `^`.
 */
const URL_RULE = 1;
const URL_RULE_META = 'urls.rule';
/** A crawl writes rows of a page in six tables: with a smaller buffer LevelDB rewrites them more often. */
const WRITE_BUFFER_BYTES = 16 << 20;
/** Pending batches are written together, up to this many rows. */
const GROUP_ROWS = 4096;
/**
 * Milliseconds that lazy batches wait for others: a write is one call to the thread pool, whatever its size.
 */
const LINGER_MS = 5;
/** Number of pending batches at which a write starts. */
const LINGER_BATCHES = 8;

/**
 * The Gatherer's working store: summaries, documents, queues, the seen keys and small values in one LevelDB or
 * PostgreSQL database with one owner process. All changes are written through {@link batch}; {@link publish} gives readers a
 * snapshot.
 */
export class GathererStore implements AsyncDisposable {
  readonly summaries: SummaryStore;
  readonly tombstones: TombstoneStore;
  readonly documents: DocumentStore;
  readonly queues: WorkQueueStore;
  /** URIs that wait for a retry beside their queues, the first due first. */
  readonly waiting: Table<WaitingPosition, WaitingUri>;
  /** States of the queues, by class key (CRAWL-5.3). */
  readonly queueRecords: Table<string, QueueRecord>;
  /** The inactive queues in the order in which they become active. */
  readonly inactiveQueues: Table<Omit<InactivePosition, 'classKey'>, InactivePosition>;
  /** Events of a crawl that its logs and saved figures may lack, in the order of their batches. */
  readonly events: Table<number, StoredEvent>;
  /** Earlier fetches of a URI, by history key (CRAWL-18.4). */
  readonly histories: Table<string, Uint8Array>;
  /** Cookies of the crawl in progress, by site in lower case. What a row contains is the crawler's concern. */
  readonly cookies: Table<string, Uint8Array>;
  /** Small named values: digest of the job, state of the run, counters. */
  readonly meta: Table<string, MetaValue>;
  readonly links: LinkTables;
  /** Of the processes that share the store; undefined if it has one owner. */
  readonly leases: Leases | undefined;
  /** URIs that other processes have found. */
  readonly inbox: Table<InboxPlace, InboxRow>;
  readonly #database: Rows;
  readonly #seal: LoginSeal;
  readonly #ownership: Ownership;
  readonly #formats: GathererFormats;
  readonly #options: GathererStoreOptions;
  readonly #pending: PendingBatch[] = [];
  #writing: Promise<void> | undefined;
  /** Ends the wait of lazy batches. */
  #stopLingering: (() => void) | undefined;
  #lazyRows = 0;
  readonly #publications = new Mutex();
  #counters: GathererCounters;
  readonly #epoch = newEpoch();
  #closed = false;

  private constructor(
    database: Rows,
    ownership: Ownership,
    counters: GathererCounters,
    links: LinkTables,
    seal: LoginSeal,
    options: GathererStoreOptions,
  ) {
    this.#database = database;
    this.#ownership = ownership;
    this.#seal = seal;
    const formats = gathererFormats(seal);
    this.#formats = formats;
    this.#counters = counters;
    this.#options = options;
    this.summaries = new SummaryStore(database, () => this.#counters.summaries);
    this.tombstones = new TombstoneStore(database, () => this.#counters.tombstones);
    this.documents = new DocumentStore(database, formats.documents);
    this.queues = new WorkQueueStore(database, formats.queues);
    this.waiting = new Table(database, formats.waiting);
    this.queueRecords = new Table(database, formats.queueRecords);
    this.inactiveQueues = new Table(database, formats.inactiveQueues);
    this.events = new Table(database, formats.events);
    this.histories = new Table(database, formats.histories);
    this.cookies = new Table(database, formats.cookies);
    this.meta = new Table(database, formats.meta);
    this.links = links;
    this.leases = options.shared && new Leases(database, options.shared);
    this.inbox = new Table(database, formats.inbox);
  }

  /**
   * Opens a store, and creates it if the options say so. A database gets this process as its owner: what the former
   * owner writes from now on is refused.
   *
   * @param directory the store's directory, which may name a database in place of its files, or the URL of a PostgreSQL
   *   database
   * @throws StorageError if the directory is in use, damaged, another kind of store, or of another schema; or if the
   *   database cannot be reached
   */
  static async open(directory: string, options: GathererStoreOptions = {}): Promise<GathererStore> {
    const place = isDatabaseUrl(directory) ? directory : await placeOf(directory);
    const known = isDatabaseUrl(place) ? undefined : await LoginSeal.read(place);
    const { create = true, cacheBytes, writeBufferBytes = WRITE_BUFFER_BYTES } = options;
    const database = await openRows(place, {
      ...{ kind: 'gatherer', create, upgrade: true },
      level: defined({ cacheBytes, writeBufferBytes }),
    });
    try {
      const seal = known ?? (await createSeal(database, place));
      const ownership = await openOwnership(database, options);
      if (options.reader !== true) await dropOldEpochs(database);
      return new GathererStore(
        database,
        ownership,
        await GATHERER_COUNTERS.read(database),
        await LinkTables.open(database),
        seal,
        options,
      );
    } catch (error) {
      // Otherwise the store stays locked, and cannot be opened again when e.g. the disk has space.
      await database.close();
      throw error;
    }
  }

  /** Deletes the tombstones of objects that no Broker can still have. */
  async purgeTombstones(now: UnixSeconds): Promise<void> {
    for await (const page of this.tombstones.since(0)) {
      const batch = this.batch();
      for (const { url, deletionTime, expires } of page) {
        if (expires < now) batch.deleteTombstone(url, deletionTime);
      }
      if (batch.size > 0) await batch.commit();
    }
  }

  /**
   * Gives the URLs of a store that an earlier version wrote their present form, once for each {@link URL_RULE}, before a
   * crawl continues or begins.
   *
   * @param form returns that of a URL; undefined for one that keeps its own
   * @returns the number of documents that have other URLs now
   */
  async renameUrls(form: (url: string) => string | undefined, now: UnixSeconds): Promise<number> {
    if (Number((await this.meta.get(URL_RULE_META)) ?? 0) >= URL_RULE) return 0;
    const renamed = await renameDocuments(this, form, now);
    await this.#writing;
    if (await renameReferences(this.#database)) await this.links.reload();
    await this.batch().putMeta(URL_RULE_META, URL_RULE).commit();
    return renamed;
  }

  /** The queues of a partition, for the process that holds its lease. */
  partition(partition: number, lease: Lease): PartitionStore {
    return new PartitionStore(this.#database, this, partition, lease);
  }

  /** The first URIs that other processes have left to a partition. */
  inboxOf(partition: number, limit: number): Promise<InboxRow[]> {
    return this.inbox.page({ range: inboxRange(partition), limit });
  }

  /** How the rows are written. */
  get formats(): GathererFormats {
    return this.#formats;
  }

  /** Milliseconds by the clock of the database. */
  time(): Promise<number> {
    return this.#database.time();
  }

  /** Whether a crawl in partitions has no URI left that is to be fetched, in queues, in waits or on its way. */
  isCrawled(partitions: number): Promise<boolean> {
    return this.#database.exclusive(
      async (rows) => {
        for (const table of [TABLE.inbox, TABLE.waiting])
          if ((await rows.pageOfKeys(tableRange(table), { limit: 1 })).length > 0) return false;
        const keys = Array.from({ length: partitions }, (_, i) => partitionKey(i, FRONTIER_STATE.key));
        const states = await rows.getMany(keys);
        return states.every((state) => (FRONTIER_STATE.of(state)?.pending ?? 0) === 0);
      },
      { mayRepeat: true },
    );
  }

  /** What is finished in all partitions, as the rows of each say. */
  async partitionTotals(): Promise<{ readonly succeeded: number; readonly bytes: number }> {
    const total = { succeeded: 0, bytes: 0 };
    for await (const page of pagesOf(this.#database, PARTITION_STATES)) {
      for (const [key, value] of page) {
        if (!isFrontierState(key)) continue;
        const state = FRONTIER_STATE.of(value);
        total.succeeded += state?.succeeded ?? 0;
        total.bytes += state?.bytes ?? 0;
      }
    }
    return total;
  }

  /** The small values whose names begin with a text. */
  async *metaOf(prefix: string): AsyncGenerator<readonly [name: string, value: MetaValue], void, undefined> {
    const range = prefixRange(this.#formats.meta.keys, prefix);
    for await (const page of this.meta.entryPages({ range })) yield* page;
  }

  /**
   * Changes small values by what they were. Of two changes, of whatever processes, one comes after the other.
   *
   * @param change may run again, when the connection is lost and it is not known whether its values were written
   */
  changeMeta<T>(change: (meta: MetaChange) => Promise<T>): Promise<T> {
    const { meta } = this.#formats;
    return this.#database.exclusive(
      async (rows) => {
        if (this.#database.isShared) this.#ownership.require(await rows.get(this.#ownership.key));
        const table = new Table(rows, meta);
        const changes: RowChange[] = [];
        const result = await change({
          get: (name) => table.get(name),
          put: (name, value) => void changes.push(meta.put(name, value)),
          time: () => rows.time(),
        });
        if (changes.length > 0) await rows.write(changes);
        return result;
      },
      { mayRepeat: true },
    );
  }

  /** The crawl's counters; undefined if no crawl has begun. */
  frontierState(): Promise<FrontierState | undefined> {
    return FRONTIER_STATE.read(this.#database);
  }

  batch(): GathererBatch {
    return new GathererBatch((content, options) => this.#commit(content, options), this.#formats);
  }

  /**
   * Deletes all queues, seen keys and cookies, so that another crawl can begin. Not atomic: after a crash part
   * of them may be left, so the owner clears its record of a run in progress before the call, and sets it
   * after.
   */
  async clearFrontier(): Promise<void> {
    await this.#writing;
    const { queues, waiting, queueRecords, inactiveQueues, seen, cookies, inbox } = TABLE;
    await this.#change(async (rows) => {
      await rows.write([{ key: SEEN_COUNT_KEY }, { key: FRONTIER_STATE.key }]);
      for (const table of [queues, waiting, queueRecords, inactiveQueues, seen, cookies, inbox])
        await rows.clear(tableRange(table));
      await rows.clear(PARTITION_STATES);
    });
  }

  /**
   * Opens the seen filter whose keys are rows of this store (CRAWL-4.6), to be written in the batch that queues
   * the URIs. The caller closes it before the store.
   */
  openSeenFilter(): Promise<LevelFilter> {
    return LevelFilter.open(this.#database, {}, (rows) => this.#change((writer) => writer.write(rows)));
  }

  /**
   * Copies everything that is committed to a directory that does not exist yet (CRAWL-17.3.1). Table files of a
   * LevelDB are linked, the other, small files are copied, while batches and reads wait; the rows of a database are read
   * as they are at one moment. The copy is an independent LevelDB store.
   */
  async clone(directory: string): Promise<void> {
    if (this.#closed) throw new StateError('the store is closed');
    await this.flush();
    await copyStore(this.#database, directory, this.#seal);
  }

  /**
   * Fills a store in a database with a copy, e.g. the result of {@link clone}, in place of what it has. It cannot be
   * opened until it is complete; after a crash the restoration is repeated.
   *
   * @param source the directory of a store that is not open
   * @throws StorageError if the source cannot be read or the database cannot be written to
   */
  static async restore(source: string, url: string): Promise<void> {
    await restoreStore(source, url);
  }

  /**
   * Publishes everything that is committed as a generation that readers can open (DESIGN 4). Batches and reads
   * wait while the files are linked. On failure nothing is published, and the store continues to work. Writers
   * may continue during a publication if `atRest` keeps the order of their times (GATHERD-13.6).
   *
   * @returns the generation's number, higher than any before
   */
  publish(generationsDirectory: string, options: PublishOptions = {}): Promise<number> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    const { atRest = (work) => work() } = options;
    const flushed = (work: () => Promise<void>): Promise<void> =>
      atRest(async () => {
        await this.flush();
        return work();
      });
    return this.#publications.runExclusive(() =>
      publishGeneration(generationOf(this.#database, flushed), generationsDirectory, {
        ...this.#options,
        ...options,
      }),
    );
  }

  /**
   * Publishes the documents and links as a generation of references in `DATA/references`, if
   * anything changed since the last time. On failure the former generation stays.
   *
   * @param data the data directory
   * @returns undefined if nothing changed
   */
  publishReferences(
    data: string,
    options: ReferencesBuilderOptions = {},
  ): Promise<PublishedReferences | undefined> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    return this.#publications.runExclusive(async () => {
      await this.#writing;
      return publishReferences(this, this.links.changes, data, options);
    });
  }

  /** Copies a store that is not open, e.g. the result of {@link clone}, to an empty directory. */
  static async cloneClosed(source: string, target: string): Promise<void> {
    await cloneDatabase(source, target);
    await LoginSeal.copy(source, target);
  }

  /** Waits for batches and publications in progress, then closes the files. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopLingering?.();
    await this.#publications.runExclusive(async () => {
      await this.#writing;
      await this.#database.close();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Resolves when all earlier commits, lazy or not, are written. */
  flush(): Promise<void> {
    return this.#pending.length === 0 && this.#writing === undefined
      ? Promise.resolve()
      : this.batch().commit();
  }

  /** Whether a write that failed because the disk is full may succeed now. */
  hasRoom(): Promise<boolean> {
    return this.#database.hasRoom();
  }

  /** After a failed write: whether it took effect shows in the counters, which are written with it. */
  #recover(): Promise<void> {
    return this.#database.recover(async () => {
      this.#counters = await GATHERER_COUNTERS.read(this.#database);
      await this.links.reload();
    });
  }

  #commit(content: BatchContent, { sync, lazy }: Required<CommitOptions>): Promise<void> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    return new Promise((resolve, reject) => {
      const rows = rowsOf(content);
      this.#pending.push({ content, rows, sync, lazy, resolve, reject });
      this.#lazyRows += rows;
      if (!lazy || this.#lazyRows > GROUP_ROWS / 2 || this.#pending.length >= LINGER_BATCHES)
        this.#stopLingering?.();
      this.#writing ??= this.#drain();
    });
  }

  /**
   * Writes one group after the other: the batches that arrive during a write form the next group. A single
   * writer also keeps the counters' row consistent with the rows that it counts.
   */
  async #drain(): Promise<void> {
    while (this.#pending.length > 0) {
      if (this.#canWait()) await this.#linger();
      const group = this.#takeGroup();
      try {
        await this.#writeGroup(group);
        for (const batch of group) batch.resolve();
      } catch (error) {
        this.#fail(group, error);
      }
    }
    this.#writing = undefined;
  }

  /** Rejects a group. Of batches under several leases only those fail whose leases are lost. */
  #fail(group: readonly PendingBatch[], error: unknown): void {
    const lost = error instanceof StaleLeaseError ? new Set(error.names) : undefined;
    const others: PendingBatch[] = [];
    for (const batch of group) {
      const { lease } = batch.content;
      if (lost === undefined || (lease !== undefined && lost.has(lease.name))) batch.reject(error);
      else others.push(batch);
    }
    this.#pending.unshift(...others);
  }

  #takeGroup(): PendingBatch[] {
    let rows = 0;
    let taken = 0;
    for (const batch of this.#pending) {
      rows += batch.rows;
      if (taken > 0 && rows > GROUP_ROWS) break;
      taken++;
    }
    const group = this.#pending.splice(0, taken);
    this.#lazyRows = this.#pending.reduce((sum, batch) => sum + batch.rows, 0);
    return group;
  }

  #canWait(): boolean {
    const few = this.#lazyRows <= GROUP_ROWS / 2 && this.#pending.length < LINGER_BATCHES;
    return few && !this.#closed && this.#pending.every(({ lazy }) => lazy);
  }

  async #linger(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#stopLingering = resolve;
      timer = setTimeout(resolve, LINGER_MS);
    });
    clearTimeout(timer);
    this.#stopLingering = undefined;
  }

  async #writeGroup(group: readonly PendingBatch[]): Promise<void> {
    await this.#recover();
    const { counters, linked } = await this.#change((rows) => this.#writeTo(rows, group), leasesOf(group));
    linked.written();
    this.#counters = counters;
  }

  async #writeTo(database: RowWriter, group: readonly PendingBatch[]) {
    const summaries = group.flatMap(({ content }) => content.summaries);
    const references = group.flatMap(({ content }) => content.references);
    const changed = await summaryRows(database, summaries, this.#counters);
    const linked = await this.links.rows(references, database);
    const { rows } = changed;
    const counters = this.#inEpoch(changed.counters, rows);
    for (const row of linked.rows) rows.push(row);
    for (const { content } of group) for (const row of content.rows) rows.push(row);
    if (
      counters.sequence !== this.#counters.sequence ||
      counters.summaries !== this.#counters.summaries ||
      counters.tombstones !== this.#counters.tombstones
    ) {
      rows.push(GATHERER_COUNTERS.put(counters));
    }
    await database.write(
      rows,
      group.some((batch) => batch.sync),
    );
    return { counters, linked };
  }

  /**
   * One change of the rows. Of a shared database it begins by reading what it depends on, and is repeated when the
   * connection is lost: written twice, the rows of a group are the same.
   */
  #change<T>(work: (rows: RowWriter) => Promise<T>, leases: readonly Lease[] = []): Promise<T> {
    if (!this.#database.isShared) return this.#database.exclusive(work);
    return this.#database.exclusive(
      async (rows) => {
        const [owner, counters, links] = await rows.getMany([
          this.#ownership.key,
          GATHERER_COUNTERS.key,
          LINK_COUNTERS.key,
        ]);
        this.#ownership.require(owner);
        await this.leases?.require(rows, leases);
        this.#counters = GATHERER_COUNTERS.of(counters);
        this.links.adopt(LINK_COUNTERS.of(links));
        return work(rows);
      },
      { mayRepeat: true },
    );
  }

  /** The first change of this opening begins an epoch: a copy of the store has the numbers before it. */
  #inEpoch(counters: GathererCounters, rows: RowChange[]): GathererCounters {
    const { sequence, origin } = this.#counters;
    if (counters.sequence === sequence || origin === this.#epoch) return counters;
    rows.push(EPOCHS.put(this.#epoch, sequence + 1));
    return { ...counters, origin: this.#epoch };
  }
}

/** The leases of a group, each once. */
function leasesOf(group: readonly PendingBatch[]): Lease[] {
  return [...new Set(group.flatMap(({ content: { lease } }) => lease ?? []))];
}

function openOwnership(database: Rows, { reader, shared }: GathererStoreOptions): Promise<Ownership> {
  if (reader === true) return Ownership.ofReader(database);
  return shared === undefined ? Ownership.take(database) : Ownership.share(database);
}

/** Makes the key of a store that has no key yet: in its directory, or beside the rows of a database. */
async function createSeal(database: Rows, place: string): Promise<LoginSeal> {
  return database.secret === undefined
    ? LoginSeal.create(place)
    : LoginSeal.of(await database.secret(LoginSeal.newKey()));
}

/** Estimates how many rows a batch changes. */
function rowsOf({ rows, summaries, references }: BatchContent): number {
  let count = rows.length + 2 * summaries.length;
  for (const change of references) count += change.kind === 'put' ? change.document.links.length : 1;
  return count;
}
