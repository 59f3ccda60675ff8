import { resolve } from 'node:path';
import { StateError, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import type { UnixSeconds } from '../../protocols/time.js';
import {
  keyOid,
  keyOrder,
  oidKey,
  orderedKey,
  requireInteger,
  TABLE,
  tableRange,
  textKey,
} from '../level/keys.js';
import { Level, type LevelOptions } from '../level/level.js';
import {
  type BrokerCounters,
  brokerCountersCodec,
  changeCodec,
  collectionPointCodec,
  type RegistryEntry,
  type Removal,
  registryEntryCodec,
  urlObjectsCodec,
} from '../records/records.js';
import {
  type ApplyObserver,
  type ApplyOptions,
  type ApplyResult,
  applyChanges,
  type CollectedChange,
  removeForGood,
} from './registry-apply.js';
import {
  type ChangedSinceOptions,
  type CopiesSinceOptions,
  copiesSince,
  removalsSince,
  storedInOrder,
  validInOrder,
} from './registry-changes.js';
import { identityOfKey } from './registry-removals.js';
import { BROKER_COUNTERS_KEY, RegistryRows } from './registry-rows.js';

export interface BrokerStoreOptions extends Omit<LevelOptions, 'kind' | 'multithreading'> {
  /** Flush each batch to the disk. Default false: a killed process loses nothing, a power failure may lose the last batches. */
  readonly sync?: boolean;
  /** The Broker's clock, which dates changes (BT-4). Default: the system's. */
  readonly now?: () => UnixSeconds;
}

/** The state of a collection point (GATHERD-13.6). */
export interface CollectionPointState {
  /** The Broker's name for the point, e.g. `host:port`. */
  readonly key: string;
  /** Largest Update-Time received, or the moment that a Broker named for the next request (BT-7); 0 collects everything. */
  readonly last: UnixSeconds;
}

/** An entry of the change log. Only the last change of an OID matters to a follower. */
export interface StoreChange {
  readonly sequence: number;
  readonly oid: number;
  readonly kind: 'put' | 'remove';
}

const FIRST: BrokerCounters = {
  objects: 0,
  sequence: 0,
  nextOid: 1,
  trimmed: 0,
  lastChange: 0,
  removals: 0,
};
const PAGE_ENTRIES = 1000;
/** Entries that are removed in one batch. */
const REMOVE_AT_ONCE = 1000;

/**
 * Directories that are open in this process. LevelDB's own lock admits a second owner in the same process with `multithreading`, which
 * the readers in worker threads need.
 */
const owned = new Set<string>();

/**
 * The Broker's store: objects as received, their Registry entries, the indexes that find them, and a change log that an indexer
 * follows. Each {@link apply} is one atomic batch.
 */
export class BrokerStore implements AsyncDisposable {
  readonly #level: Level;
  readonly #sync: boolean;
  readonly #now: () => UnixSeconds;
  #counters: BrokerCounters;
  readonly #mutex = new Mutex();
  #closed = false;

  private constructor(level: Level, counters: BrokerCounters, options: BrokerStoreOptions) {
    this.#level = level;
    this.#counters = counters;
    this.#sync = options.sync ?? false;
    this.#now = options.now ?? (() => Math.floor(Date.now() / 1000));
  }

  /** @throws StorageError if the directory is in use, damaged, another kind of store, or of another schema. */
  static async open(directory: string, options: BrokerStoreOptions = {}): Promise<BrokerStore> {
    const path = resolve(directory);
    if (owned.has(path)) throw new StorageError(`the store in ${path} is in use by this process already`);
    owned.add(path);
    try {
      const level = await Level.open(path, { ...options, kind: 'broker', multithreading: true });
      const bytes = await level.get(BROKER_COUNTERS_KEY);
      const counters = bytes === undefined ? FIRST : brokerCountersCodec.decode(bytes);
      return new BrokerStore(level, counters, options);
    } catch (error) {
      owned.delete(path);
      throw error;
    }
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

  /** Changes up to this sequence are no longer in the log: a follower that has seen fewer must read everything again. */
  get trimmedSequence(): number {
    return this.#counters.trimmed;
  }

  /**
   * Applies collected changes and, if given, the point's state: all or none. Calls run one at a time. The bytes of the changes must not
   * change until the call has resolved.
   */
  apply(
    changes: readonly CollectedChange[],
    point?: CollectionPointState,
    observe?: ApplyObserver,
    options: ApplyOptions = {},
  ): Promise<ApplyResult> {
    return this.#change(async (rows) => {
      const result = await applyChanges(rows, changes, observe, options);
      if (point !== undefined) {
        const last = requireInteger(point.last, 'last');
        rows.putRow(textKey(TABLE.points, point.key), collectionPointCodec.encode({ last }));
      }
      return result;
    });
  }

  /**
   * The present time by the store's clock. Everything that changed before it is written; later changes are dated at it or later, even if
   * the system's clock runs backwards (BT-4).
   */
  moment(): Promise<UnixSeconds> {
    return this.#change(async (rows) => {
      rows.touch();
      return rows.now;
    });
  }

  /**
   * Removes the objects with `Update-Time + Time-to-Live < now` (SOIF-6.8, BRK-7.14) and returns their number. It leaves no removals,
   * since the objects expire at every Broker. Also deletes removals that no Broker needs any more.
   */
  async expire(now: UnixSeconds): Promise<number> {
    const range = {
      ...tableRange(TABLE.expiries),
      lt: orderedKey(TABLE.expiries, requireInteger(now, 'now')),
    };
    let removed = 0;
    for (;;) {
      const count = await this.#change(async (rows) => {
        const keys = await this.#level.pageOfKeys(range, { limit: REMOVE_AT_ONCE });
        return removeAll(rows, keys.map(keyOid), false);
      });
      if (count === 0) break;
      removed += count;
    }
    await this.#forgetRemovals(orderedKey(TABLE.removalExpiries, now));
    return removed;
  }

  async #forgetRemovals(before: Uint8Array): Promise<void> {
    const range = { ...tableRange(TABLE.removalExpiries), lt: before };
    for (;;) {
      const count = await this.#change(async (rows) => {
        const keys = await this.#level.pageOfKeys(range, { limit: REMOVE_AT_ONCE });
        const identities = keys.map(identityOfKey);
        await rows.loadRemovals(identities);
        for (const identity of identities) rows.forgetRemoval(identity);
        return keys.length;
      });
      if (count === 0) return;
    }
  }

  /** Removes objects and records their removal, a thousand in each batch. Returns how many existed. */
  async remove(oids: readonly number[]): Promise<number> {
    const unique = [...new Set(oids)];
    let removed = 0;
    for (let i = 0; i < unique.length; i += REMOVE_AT_ONCE) {
      removed += await this.#change((rows) => removeAll(rows, unique.slice(i, i + REMOVE_AT_ONCE), true));
    }
    return removed;
  }

  /** Rewrites the files without deleted and replaced rows (REG-26). Readers and writers continue meanwhile. */
  compress(): Promise<void> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    return this.#level.compact();
  }

  /**
   * Removes all objects, all removals and the state of all collection points. Other Brokers do not follow it. OIDs, sequences and the
   * clock continue to rise.
   */
  async clear(): Promise<void> {
    await this.#removeEverything();
    await this.#forgetRemovals(tableRange(TABLE.removalExpiries).lt);
    await this.#change(async (rows) => {
      for await (const keys of this.#level.pagesOfKeys(tableRange(TABLE.points))) {
        for (const key of keys) rows.deleteRow(key);
      }
    });
  }

  async #removeEverything(): Promise<void> {
    for (;;) {
      const count = await this.#change(async (rows) => {
        const keys = await this.#level.pageOfKeys(tableRange(TABLE.entries), { limit: REMOVE_AT_ONCE });
        return removeAll(rows, keys.map(keyOid), false);
      });
      if (count === 0) return;
    }
  }

  // ---- reading ----

  async entry(oid: number): Promise<RegistryEntry | undefined> {
    const [entry] = await this.entries([oid]);
    return entry;
  }

  /** Reads entries in one trip; the results are in the order of the OIDs. */
  async entries(oids: readonly number[]): Promise<(RegistryEntry | undefined)[]> {
    const rows = await this.#level.getMany(oids.map((oid) => oidKey(TABLE.entries, oid)));
    return rows.map((bytes, i) => bytes && { oid: oids[i] ?? 0, ...registryEntryCodec.decode(bytes) });
  }

  /** Reads the stored bytes of objects in one trip; the results are in the order of the OIDs. */
  objects(oids: readonly number[]): Promise<(Uint8Array | undefined)[]> {
    return readObjects(this.#level, oids);
  }

  /** The entries that describe a URL: at most one for each Gatherer. */
  async byUrl(url: string): Promise<RegistryEntry[]> {
    const bytes = await this.#level.get(textKey(TABLE.urls, url));
    if (bytes === undefined) return [];
    const entries = await this.entries(urlObjectsCodec.decode(bytes).oids);
    return entries.filter((entry) => entry !== undefined);
  }

  /**
   * All entries in OID order, in pages. Not a snapshot: changes after the current position are seen.
   *
   * @param options.after only OIDs above this one.
   * @param options.since only `Update-Time >= since`; the cost follows what changed, not what exists.
   */
  async *all(
    options: { readonly after?: number; readonly since?: UnixSeconds; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<RegistryEntry[], void, undefined> {
    const { after = 0, since = 0, signal } = options;
    if (since > 0) {
      yield* this.#changedSince(since, after, signal);
      return;
    }
    const pages = this.#level.pages(tableRange(TABLE.entries), {
      limit: PAGE_ENTRIES,
      after: oidKey(TABLE.entries, after),
    });
    for await (const page of pages) {
      signal?.throwIfAborted();
      yield page.map(([key, value]) => ({ oid: keyOid(key), ...registryEntryCodec.decode(value) }));
    }
  }

  async *#changedSince(
    since: UnixSeconds,
    after: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RegistryEntry[], void, undefined> {
    const range = {
      ...tableRange(TABLE.times),
      gte: orderedKey(TABLE.times, requireInteger(since, 'since')),
    };
    const oids: number[] = [];
    for await (const keys of this.#level.pagesOfKeys(range)) {
      signal?.throwIfAborted();
      for (const key of keys) if (keyOid(key) > after) oids.push(keyOid(key));
    }
    // An object that moved to a later time during the walk occurs twice.
    const ordered = [...new Set(oids)].sort((a, b) => a - b);
    for (let i = 0; i < ordered.length; i += PAGE_ENTRIES) {
      signal?.throwIfAborted();
      const entries = await this.entries(ordered.slice(i, i + PAGE_ENTRIES));
      yield entries.filter((entry) => entry !== undefined);
    }
  }

  /**
   * The entries of copies that changed after a time, or whose Update-Time is after it, in pages (BT-4, BT-5). The cost follows what
   * changed, not what exists. Changes during the walk may be missed: they have a later time.
   */
  copiesSince(options: CopiesSinceOptions): AsyncGenerator<RegistryEntry[], void, undefined> {
    return copiesSince(this.#level, options);
  }

  /** The removals after a time, in their order, in pages (BT-5). */
  removalsSince(options: ChangedSinceOptions): AsyncGenerator<Removal[], void, undefined> {
    return removalsSince(this.#level, options);
  }

  /** All objects in OID order with their entries, read by ranges of about a megabyte. Not a snapshot, see {@link all}. */
  stored(options: { readonly signal?: AbortSignal } = {}): ReturnType<typeof storedInOrder> {
    return storedInOrder(this.#level, options.signal);
  }

  /**
   * The bytes of every object that has not expired at `at` (REG-48), in OID order, about a megabyte at a time. It reads nothing else, so
   * it is the fastest way to all objects. Not a snapshot.
   */
  valid(at: UnixSeconds, options: { readonly signal?: AbortSignal } = {}): ReturnType<typeof validInOrder> {
    return validInOrder(this.#level, at, options.signal);
  }

  async collectionState(pointKey: string): Promise<{ readonly last: UnixSeconds } | undefined> {
    const bytes = await this.#level.get(textKey(TABLE.points, pointKey));
    return bytes && collectionPointCodec.decode(bytes);
  }

  // ---- the change log ----

  /** The next changes after `sequence`, oldest first, at most `limit`. */
  async changesAfter(sequence: number, limit: number): Promise<StoreChange[]> {
    const range = { ...tableRange(TABLE.changes), gte: orderedKey(TABLE.changes, sequence + 1) };
    const changes: StoreChange[] = [];
    while (changes.length < limit) {
      const after =
        changes.length === 0 ? undefined : orderedKey(TABLE.changes, changes.at(-1)?.sequence ?? 0);
      const page = await this.#level.page(range, { limit: limit - changes.length, after });
      if (page.length === 0) break;
      for (const [key, value] of page) {
        const { oid, removed } = changeCodec.decode(value);
        changes.push({ sequence: keyOrder(key), oid, kind: removed ? 'remove' : 'put' });
      }
    }
    return changes;
  }

  /** Deletes the changes up to and including `upTo`, which every follower has seen. */
  async trimChanges(upTo: number): Promise<void> {
    const sequence = Math.min(requireInteger(upTo, 'upTo'), this.lastSequence);
    if (sequence <= this.trimmedSequence) return;
    // The mark first: rows that a crash leaves below it do no harm.
    await this.#change(async (rows) => rows.setTrimmed(sequence));
    await this.#level.clear({ ...tableRange(TABLE.changes), lt: orderedKey(TABLE.changes, sequence + 1) });
  }

  // ---- the end ----

  /** Waits for the changes in progress, then closes the files. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#mutex.runExclusive(() => this.#level.close());
    owned.delete(this.#level.directory);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Runs one change at a time: it reads what it needs, then writes one batch. */
  #change<T>(work: (rows: RegistryRows) => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new StateError('the store is closed'));
    return this.#mutex.runExclusive(async () => {
      const rows = new RegistryRows(this.#level, this.#counters, this.#now());
      const result = await work(rows);
      const batch = rows.rows(this.#counters);
      if (batch.length > 0) await this.#level.write(batch, this.#sync);
      this.#counters = rows.counters;
      return result;
    });
  }
}

/** The objects' bytes, in the OIDs' order. */
export function readObjects(level: Level, oids: readonly number[]): Promise<(Uint8Array | undefined)[]> {
  return level.getMany(oids.map((oid) => oidKey(TABLE.objects, oid)));
}

async function removeAll(
  rows: RegistryRows,
  oids: readonly number[],
  recordRemoval: boolean,
): Promise<number> {
  if (oids.length === 0) return 0;
  const entries = await rows.loadEntries(oids);
  for (const entry of entries) {
    if (recordRemoval) removeForGood(rows, entry);
    else rows.remove(entry);
  }
  return entries.length;
}
