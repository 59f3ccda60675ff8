// `BrokerStore`: the objects and the Registry of a Broker in one LevelDB directory, with their change log and
// the state of the collection points.
import { createHash, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { defined } from '../../protocols/defined.js';
import { isUnwritable, StateError, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { isPlausiblePresent, MAX_AHEAD, MONTH, type UnixSeconds } from '../../protocols/time.js';
import { adviceFor } from '../files/advice.js';
import type { LevelOptions } from '../level/level.js';
import { openRows } from '../place/open-rows.js';
import type { BrokerCounters, RegistryEntry, Removal } from '../records/records.js';
import type { RowReader, Rows, RowTransaction } from '../rows/contract.js';
import { isDatabaseUrl } from '../rows/database-url.js';
import {
  keyOid,
  keyOrder,
  oidKey,
  orderedKey,
  prefixRange,
  requireInteger,
  TABLE,
  tableRange,
} from '../rows/keys.js';
import { countRows } from '../rows/pages.js';
import { Table } from '../rows/table.js';
import { seenByAll } from './followers.js';
import { deleteOrphans, isInParts, openObject, StoredParts, writeParts } from './large-objects.js';
import { type LargePart, readObjects } from './object-reader.js';
import {
  type ApplyObserver,
  type ApplyOptions,
  type ApplyResult,
  applyChanges,
  type CollectedChange,
  removeAndRecord,
} from './registry-apply.js';
import {
  type ChangedSinceOptions,
  copiesSince,
  type EntriesOptions,
  entriesInOrder,
  removalsSince,
  storedInOrder,
  type ValidOptions,
  validInOrder,
} from './registry-changes.js';
import { expiredRange } from './registry-entry.js';
import { identityOfKey } from './registry-removals.js';
import { RegistryRows } from './registry-rows.js';
import { doubtTimes, type RepairedTimes, repairTimes, resetPoints } from './repair-times.js';
import { SharedCollections } from './shared-collections.js';
import {
  BROKER_COUNTERS,
  CHANGES,
  ENTRIES,
  POINTS,
  type PointState,
  type StoreChange,
  URLS,
} from './tables.js';

export interface BrokerStoreOptions extends Omit<LevelOptions, 'kind' | 'multithreading'> {
  /**
   * Flush each batch to the disk. Default false: a killed process loses nothing, a power failure may lose the
   * last batches.
   */
  readonly sync?: boolean;
  /** The Broker's clock, which dates changes (BT-4). Default: the system's. */
  readonly now?: () => UnixSeconds;
}

/** The state of a collection point (GATHERD-13.6). */
export interface CollectionPointState {
  /** The Broker's name for the point, e.g. `host:port`. */
  readonly key: string;
  /**
   * Largest Update-Time received, or the moment that a Broker named for the next request (BT-7); 0 collects
   * everything.
   */
  readonly last: UnixSeconds;
  /** The last change of a Gatherer's database that was received (GATHERD-6.13). */
  readonly mark?: { readonly origin: string; readonly sequence: number } | undefined;
}

/** Objects or removals that are deleted in one batch. */
const DELETE_BATCH = 1000;

/**
 * The directories of the open stores of this process. With `multithreading`, which the readers in worker
 * threads need, LevelDB's own lock does not refuse a second owner in the same process.
 */
const openDirectories = new Set<string>();

/**
 * The Broker's store: objects as received, their Registry entries, the indexes that find them, and a change log
 * that an indexer follows. Each {@link apply} is one atomic batch.
 */
export class BrokerStore implements AsyncDisposable {
  readonly #database: Rows;
  /** The state of each collection point (GATHERD-13.6), by {@link CollectionPointState.key}. */
  readonly points: Table<string, PointState>;
  /** The Registry's entries, by OID. */
  readonly entries: Table<number, RegistryEntry>;
  /** The collections of the Brokers that share the store; undefined if it is not shared. */
  readonly collections: SharedCollections | undefined;
  readonly #sync: boolean;
  readonly #now: () => UnixSeconds;
  #counters: BrokerCounters;
  /** Whether a failed change has left parts of large objects. */
  #hasOrphans = false;
  readonly #mutex = new Mutex();
  #closed = false;

  private constructor(database: Rows, counters: BrokerCounters, options: BrokerStoreOptions) {
    this.#database = database;
    this.entries = new Table(database, ENTRIES);
    this.points = new Table(database, POINTS);
    this.collections = database.isShared ? new SharedCollections(database) : undefined;
    this.#counters = counters;
    this.#sync = options.sync ?? false;
    this.#now = options.now ?? (() => Math.floor(Date.now() / 1000));
  }

  /**
   * @param place the store's directory, or the URL of a PostgreSQL database that several Brokers may share
   * @throws StorageError if the directory is in use, damaged, another kind of store, or of another schema; or if the
   *   database cannot be reached.
   */
  static async open(place: string, options: BrokerStoreOptions = {}): Promise<BrokerStore> {
    const path = isDatabaseUrl(place) ? undefined : resolve(place);
    if (path !== undefined) {
      if (openDirectories.has(path))
        throw new StorageError(`the store in ${path} is in use by this process already`);
      openDirectories.add(path);
    }
    let database: Rows | undefined;
    try {
      const { create = true, cacheBytes, writeBufferBytes, upgrade = false } = options;
      database = await openRows(path ?? place, {
        ...{ kind: 'broker', create, upgrade },
        level: { ...defined({ cacheBytes, writeBufferBytes }), multithreading: true },
      });
      const counters = await BROKER_COUNTERS.read(database);
      if (!database.isShared) await deleteOrphans(database, counters.sequence);
      return new BrokerStore(database, counters, options);
    } catch (error) {
      // Otherwise the store stays locked, and cannot be opened again when e.g. the disk has space.
      await database?.close();
      if (path !== undefined) openDirectories.delete(path);
      throw error;
    }
  }

  /** Whether other Brokers may write the same store. */
  get isShared(): boolean {
    return this.#database.isShared;
  }

  /** A random name of the store, if other Brokers may share it. A copy of its rows has another one. */
  async sharedName(): Promise<string | undefined> {
    if (!this.isShared) return undefined;
    const secret = await this.#database.secret?.(randomBytes(32));
    return secret && createHash('sha256').update(secret).digest('hex');
  }

  /** Whether a write that failed because the disk is full may succeed now. */
  hasRoom(): Promise<boolean> {
    return this.#database.hasRoom();
  }

  /** Number of objects; exact after a crash too. */
  get count(): number {
    return this.#counters.objects;
  }

  /** Number of removals (BT-5). */
  get removals(): number {
    return this.#counters.removals;
  }

  /** Sequence of the last change, 0 before the first. */
  get lastSequence(): number {
    return this.#counters.sequence;
  }

  /**
   * Changes up to this sequence are no longer in the log: a follower that has seen fewer must read everything
   * again.
   */
  get trimmedSequence(): number {
    return this.#counters.trimmed;
  }

  /**
   * Applies collected changes and, if given, the point's state: all or none. Calls run one at a time. The bytes
   * of the changes must not change until the call has resolved.
   */
  apply(
    changes: readonly CollectedChange[],
    point?: CollectionPointState,
    observe?: ApplyObserver,
    options: ApplyOptions = {},
  ): Promise<ApplyResult> {
    const { allow } = options;
    return this.#change(async (rows) => {
      const result = await applyChanges(rows, changes, observe, options);
      if (point !== undefined) {
        const last = requireInteger(point.last, 'last');
        const { origin = '', sequence = 0 } = point.mark ?? {};
        rows.change(POINTS.put(point.key, { last, origin, sequence }));
      }
      return result;
    }, allow);
  }

  /**
   * The present time by the store's clock. Everything that changed before it is written; later changes are
   * dated at it or later, even if the system's clock runs backwards (BT-4).
   */
  async moment(): Promise<UnixSeconds> {
    try {
      return await this.#change(async (rows) => {
        rows.touch();
        return rows.now;
      });
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      // Without space nothing changes; this process remembers the time for the first change after that.
      const now = Math.max(this.#now(), this.#counters.lastChange);
      this.#counters = { ...this.#counters, lastChange: now };
      return now;
    }
  }

  /**
   * Removes the expired objects (SOIF-6.8, BRK-7.14) and returns their number. It leaves no removals,
   * since the objects expire at every Broker. Also deletes the removals that no Broker needs any more.
   */
  async expire(now: UnixSeconds): Promise<number> {
    const range = expiredRange(now);
    let removed = 0;
    for (;;) {
      const count = await this.#change(async (rows) => {
        const keys = await rows.before.pageOfKeys(range, { limit: DELETE_BATCH });
        return removeAll(rows, keys.map(keyOid), false);
      });
      if (count === 0) break;
      removed += count;
    }
    await this.#deleteRemovals(orderedKey(TABLE.removalExpiries, now));
    return removed;
  }

  /**
   * Gives objects, removals and collection points with a time more than a day in the future the present one:
   * they are those of a wrong clock, and would win over every change until then. Does nothing if the clock
   * cannot be right.
   */
  async repairFutureTimes(now: UnixSeconds): Promise<RepairedTimes> {
    if (!isPlausiblePresent(now)) return { objects: 0, removals: 0, points: 0 };
    if (this.#counters.lastChange > now + MAX_AHEAD) {
      // The store's clock, which dates the rows that follow.
      const lastChange = now;
      await this.#change(async (rows) => rows.setClock(lastChange));
    }
    return repairTimes((work) => this.#change(work), now);
  }

  /**
   * The clock was set back since `lastRight`: the times after it decide nothing, and the next collection requests
   * everything from points without numbers (GATHERD-6.13).
   */
  doubtTimes(lastRight: UnixSeconds): Promise<RepairedTimes> {
    return doubtTimes((work) => this.#change(work), lastRight);
  }

  /** Number of objects that {@link expire} would remove. */
  countExpired(now: UnixSeconds): Promise<number> {
    return countRows(this.#database, expiredRange(now));
  }

  /**
   * The time after which changes must be sent to a peer that has those up to `since` (BT-4). One that the clock said
   * before it was set back comes again: the changes in between have earlier times than those that the peer has.
   *
   * @param moment see {@link moment}
   */
  sentSince(since: UnixSeconds, moment: UnixSeconds): UnixSeconds {
    const { setBackTo, setBackFrom } = this.#counters;
    if (since <= setBackTo || since > setBackFrom) return since;
    // Long after that, and as long as the times of then are in the future, the peer has got `since` after it.
    const isRecent = moment < setBackTo + MONTH;
    return isRecent || moment > setBackFrom || since > moment ? setBackTo - 1 : since;
  }

  /** Time of the last change by the store's clock; 0 before the first. */
  get lastChange(): UnixSeconds {
    return this.#counters.lastChange;
  }

  /** Lets the next collection request everything from every point. */
  async resetPoints(): Promise<void> {
    await this.#change((rows) => resetPoints(rows, -1));
  }

  async #deleteRemovals(before: Uint8Array): Promise<void> {
    const range = { ...tableRange(TABLE.removalExpiries), lt: before };
    for (;;) {
      const count = await this.#change(async (rows) => {
        const keys = await rows.before.pageOfKeys(range, { limit: DELETE_BATCH });
        const identities = keys.map(identityOfKey);
        await rows.loadRemovals(identities);
        for (const identity of identities) rows.deleteRemoval(identity);
        return keys.length;
      });
      if (count === 0) return;
    }
  }

  /**
   * Removes objects and records their removals, a thousand in each batch. Returns the number of objects that
   * existed.
   */
  async remove(oids: readonly number[]): Promise<number> {
    const unique = [...new Set(oids)];
    let removed = 0;
    for (let i = 0; i < unique.length; i += DELETE_BATCH) {
      removed += await this.#change((rows) => removeAll(rows, unique.slice(i, i + DELETE_BATCH), true));
    }
    return removed;
  }

  /** Rewrites the files without deleted and replaced rows (REG-26). Readers and writers continue meanwhile. */
  compress(): Promise<void> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    return this.#database.compact();
  }

  /**
   * Removes all objects, all removals and the state of all collection points. Other Brokers do not learn of it.
   * OIDs, sequences and the clock continue to rise.
   */
  async clear(): Promise<void> {
    await this.#removeEverything();
    await this.#deleteRemovals(tableRange(TABLE.removalExpiries).lt);
    await this.#change(async (rows) => {
      for await (const keys of new Table(rows.before, POINTS).keyPages())
        for (const key of keys) rows.change(POINTS.delete(key));
    });
  }

  async #removeEverything(): Promise<void> {
    for (;;) {
      const count = await this.#change(async (rows) => {
        const keys = await rows.before.pageOfKeys(tableRange(TABLE.entries), { limit: DELETE_BATCH });
        return removeAll(rows, keys.map(keyOid), false);
      });
      if (count === 0) return;
    }
  }

  // ---- reading ----

  /**
   * Reads the stored bytes of objects in one call to the thread pool; the results are in the order of the OIDs.
   *
   * @param largePart the part that is returned of an object that is stored in parts; default: all of it
   */
  objects(oids: readonly number[], largePart?: LargePart): Promise<(Uint8Array | undefined)[]> {
    return readObjects(this.#database, oids, largePart);
  }

  /**
   * Opens an object that is stored in parts, as it is now; undefined if it is not, or was removed. Close it:
   * the store keeps the replaced rows until then.
   *
   * @throws StorageError if the object is damaged; so do its reads
   */
  async large(oid: number): Promise<StoredParts | undefined> {
    const row = await this.#database.get(oidKey(TABLE.objects, oid));
    if (row === undefined || !isInParts(row)) return undefined;
    const object = await openObject(this.#database, oid, row);
    return object instanceof StoredParts ? object : undefined;
  }

  /** The entries that describe a URL: at most one for each Gatherer. */
  async byUrl(url: string): Promise<RegistryEntry[]> {
    const oids = await new Table(this.#database, URLS).get(url);
    const entries = await this.entries.getMany(oids ?? []);
    return entries.filter((entry) => entry !== undefined);
  }

  /**
   * The OIDs of objects whose URLs begin as another one does, at most `limit`: those after it in the order of
   * their bytes, then the first ones. Its own are left out.
   *
   * @param length characters of the URL with which the others must begin
   */
  async beside(url: string, length: number, limit: number): Promise<number[]> {
    const urls = new Table(this.#database, URLS);
    const range = prefixRange(URLS.keys, url.slice(0, length));
    const own = await urls.get(url);
    const found = new Set<number>();
    for (const after of [url, undefined]) {
      for (const oids of await urls.page({ range, after, limit: limit + 1 })) {
        for (const oid of oids) if (found.size < limit && !own?.includes(oid)) found.add(oid);
      }
    }
    return [...found];
  }

  /** All entries in OID order, in pages. Not a snapshot: changes after the current position are seen. */
  all(options: EntriesOptions = {}): AsyncGenerator<RegistryEntry[], void, undefined> {
    return entriesInOrder(this.#database, options);
  }

  /**
   * The entries of copies that changed after a time, or whose Update-Time is after it, in pages (BT-4, BT-5).
   * The time that it takes depends on the number of changes. Changes during the walk may be missed: they have a
   * later time.
   */
  copiesSince(options: ChangedSinceOptions): AsyncGenerator<RegistryEntry[], void, undefined> {
    return copiesSince(this.#database, options);
  }

  /** The removals after a time, in their order, in pages (BT-5). */
  removalsSince(options: ChangedSinceOptions): AsyncGenerator<Removal[], void, undefined> {
    return removalsSince(this.#database, options);
  }

  /**
   * All objects in OID order with their entries, read by ranges of about a megabyte. Not a snapshot, see
   * {@link all}.
   */
  stored(options: { readonly signal?: AbortSignal | undefined } = {}): ReturnType<typeof storedInOrder> {
    return storedInOrder(this.#database, options.signal);
  }

  /**
   * The bytes of every object that has not expired at `now` (REG-48), in OID order, a few megabytes at a time
   * unless the options say less. Reads no other rows of the objects, so it is the fastest way to read them all.
   * Not a snapshot.
   *
   * @throws StorageError at the end if nothing changed meanwhile and the objects are not as many as the store
   *   counts
   */
  async *valid(now: UnixSeconds, options: ValidOptions = {}): AsyncGenerator<Uint8Array[], void, undefined> {
    for await (const page of this.validParts(now, options))
      yield page instanceof StoredParts ? [await page.read()] : page;
  }

  /**
   * Like {@link valid}; an object in parts is yielded alone, and may be read until the next one is requested.
   */
  async *validParts(
    now: UnixSeconds,
    options: ValidOptions = {},
  ): AsyncGenerator<Uint8Array[] | StoredParts, void, undefined> {
    await this.refresh();
    const { objects, sequence } = this.#counters;
    const found = yield* validInOrder(this.#database, now, options);
    await this.refresh();
    if (found === objects || this.lastSequence !== sequence) return;
    const { place } = this.#database;
    throw new StorageError(
      `the store in ${place} is damaged: it has ${found} objects instead of ${objects}; ${adviceFor(place)}`,
    );
  }

  /**
   * The second at which the next object expires after those that have expired at `now`; infinity if none will.
   */
  async nextExpiry(now: UnixSeconds): Promise<UnixSeconds> {
    const [key] = await this.#database.pageOfKeys(
      { ...tableRange(TABLE.expiries), gte: expiredRange(now).lt },
      { limit: 1 },
    );
    return key === undefined ? Number.POSITIVE_INFINITY : keyOrder(key) + 1;
  }

  // ---- the change log ----

  /** The next changes after `sequence`, oldest first, at most `limit`. */
  async changesAfter(sequence: number, limit: number): Promise<StoreChange[]> {
    const log = new Table(this.#database, CHANGES);
    const changes: StoreChange[] = [];
    while (changes.length < limit) {
      const after = changes.at(-1)?.sequence ?? sequence;
      const page = await log.page({ limit: limit - changes.length, after });
      if (page.length === 0) break;
      for (const change of page) changes.push(change);
    }
    return changes;
  }

  /**
   * Deletes the changes up to and including `upTo`, which the follower has seen. A store that several Brokers share keeps
   * those that another follower has not seen, unless that has been silent for a week: it must read everything again.
   *
   * @param follower a name that it has to itself
   */
  async trimChanges(upTo: number, follower = ''): Promise<void> {
    await this.refresh();
    const seen = Math.min(requireInteger(upTo, 'upTo'), this.lastSequence);
    // A shared store notes each follower, so that it keeps the log for it.
    if (seen <= this.trimmedSequence && !this.isShared) return;
    // The counter is written first: rows at or below it that a crash leaves are never read.
    const sequence = await this.#change(async (rows) => {
      const trimmed = this.#database.isShared ? await seenByAll(rows, seen, follower) : seen;
      if (trimmed > rows.counters.trimmed) rows.setTrimmed(trimmed);
      return trimmed;
    });
    await this.#database.clear({ ...tableRange(TABLE.changes), lt: orderedKey(TABLE.changes, sequence + 1) });
  }

  /** Makes every change so far durable: a power failure loses nothing of it. */
  flush(): Promise<void> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    return this.#database.flush();
  }

  // ---- closing ----

  /** Waits for the changes in progress, then closes the files. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#mutex.runExclusive(() => this.#database.close());
    openDirectories.delete(this.#database.place);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Reads again how many objects and changes there are, if other Brokers write the same store: this one learns of their
   * changes by its next change, or by this.
   */
  async refresh(): Promise<void> {
    if (this.#database.isShared) await this.#readCounters(this.#database);
  }

  async #readCounters(database: RowReader): Promise<void> {
    const { lastChange } = this.#counters;
    const counters = await BROKER_COUNTERS.read(database);
    // Two reads may end in the other order.
    if (this.#database.isShared && counters.sequence < this.#counters.sequence) return;
    this.#counters = { ...counters, lastChange: Math.max(lastChange, counters.lastChange) };
  }

  /** Runs one change at a time: it reads what it needs, then writes one batch. */
  #change<T>(work: (rows: RegistryRows) => Promise<T>, allow?: ApplyOptions['allow']): Promise<T> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    return this.#mutex.runExclusive(async () => {
      // After a failed write: whether it took effect shows in the counters, which are written with it.
      await this.#database.recover(() => this.#readCounters(this.#database));
      const { result, counters } = await this.#database.exclusive(async (database) => {
        await allow?.(database);
        return this.#writeChange(database, work);
      });
      this.#counters = counters;
      this.#hasOrphans = false;
      return result;
    });
  }

  async #writeChange<T>(
    database: RowTransaction,
    work: (rows: RegistryRows) => Promise<T>,
  ): Promise<{ result: T; counters: BrokerCounters }> {
    if (this.#database.isShared) await this.#readCounters(database);
    else if (this.#hasOrphans) await deleteOrphans(database, this.#counters.sequence);
    await using rows = new RegistryRows(database, this.#counters, this.#now());
    const result = await work(rows);
    const batch = rows.rows(this.#counters);
    for (const large of rows.large) {
      this.#hasOrphans = true;
      await writeParts(database, large);
    }
    if (batch.length > 0) await database.write(batch, this.#sync);
    return { result, counters: rows.counters };
  }
}

/** Removes the objects that exist and returns their number. */
async function removeAll(
  rows: RegistryRows,
  oids: readonly number[],
  recordRemoval: boolean,
): Promise<number> {
  if (oids.length === 0) return 0;
  const entries = await rows.loadEntries(oids);
  for (const entry of entries) {
    if (recordRemoval) removeAndRecord(rows, entry);
    else rows.remove(entry);
  }
  return entries.length;
}
