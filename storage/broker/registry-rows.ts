import { StorageError } from '../../protocols/errors.js';
import type { SoifBytes } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { BrokerCounters, RegistryEntry, Removal } from '../records/records.js';
import type { RowChange, RowReader } from '../rows/contract.js';
import { NO_VALUE, oidKey, TABLE } from '../rows/keys.js';
import { Table } from '../rows/table.js';
import {
  type LargeObject,
  largeObject,
  openObject,
  PART_BYTES,
  partDeletions,
  StoredParts,
  storedRow,
} from './large-objects.js';
import { objectRow } from './object-rows.js';
import { contentMark, timeKeys } from './registry-entry.js';
import { identityOfEntry, removalIdentity, removalKeys } from './registry-removals.js';
import {
  BROKER_COUNTERS,
  CHANGES,
  type ContentMark,
  ENTRIES,
  MARKS,
  REMOVALS,
  type RemovalIdentity,
  URLS,
} from './tables.js';
import { fallbackTimeAfter } from './wrong-times.js';

const OID_MAX = 0xffff_ffff;
/** Bytes of objects in memory for refreshes of one batch. */
const LOADED_BYTES = 4 * PART_BYTES;

/**
 * The rows that one batch reads and changes. First it loads all rows that it may need, with a few reads of many
 * rows. Then entries are put and removed in memory; each change sees those before it. {@link rows} is the
 * batch.
 *
 *     url row  --> OIDs --> entry, object
 *     mark row --> OID      (Gatherer, version, Update-Time, MD5)
 *     expiry, time, copy    one key each
 *     change log            one row each time
 *     removal               one row, and one key each for its time and its expiry
 */
export class RegistryRows implements AsyncDisposable {
  readonly #database: RowReader;
  readonly #urls = new Map<string, readonly number[]>();
  /** 0 if no object has the mark. */
  readonly #marks = new Map<ContentMark, number>();
  readonly #entries = new Map<number, RegistryEntry>();
  readonly #objects = new Map<number, SoifBytes>();
  readonly #opened: StoredParts[] = [];
  readonly #large = new Map<number, LargeObject>();
  /** Undefined if the store has no such removal. */
  readonly #removals = new Map<RemovalIdentity, Removal | undefined>();
  readonly #changes: RowChange[] = [];
  #counters: BrokerCounters;
  /** Time of the batch by the store's clock: that of the Broker, but never before a stored change (BT-4). */
  readonly now: UnixSeconds;

  constructor(database: RowReader, counters: BrokerCounters, now: UnixSeconds) {
    this.#database = database;
    this.#counters = counters;
    this.now = Math.max(now, counters.lastChange);
  }

  /** The rows before the batch. */
  get before(): RowReader {
    return this.#database;
  }

  /** The counters after the batch. */
  get counters(): BrokerCounters {
    return this.#counters;
  }

  // ---- loading ----

  /**
   * Loads the entries of these URLs, with their marks, and the rows of the marks that new objects will have.
   */
  async load(urls: readonly string[], marks: readonly ContentMark[]): Promise<void> {
    await this.#loadUrls(urls);
    const oids = [...new Set(urls.flatMap((url) => this.#urls.get(url) ?? []))];
    await this.#keepEntries(oids);
    await this.loadMarks([...marks, ...this.#marksOfEntries()]);
  }

  /** Loads entries by OID, with the URL rows and marks that their removal touches. */
  async loadEntries(oids: readonly number[]): Promise<RegistryEntry[]> {
    await this.#keepEntries(oids);
    const entries = [...this.#entries.values()];
    await this.#loadUrls(entries.map((entry) => entry.url));
    await this.loadMarks(this.#marksOfEntries());
    return entries;
  }

  async loadMarks(marks: readonly ContentMark[]): Promise<void> {
    const unknown = [...new Set(marks)].filter((mark) => !this.#marks.has(mark));
    const found = await new Table(this.#database, MARKS).getMap(unknown);
    for (const mark of unknown) this.#marks.set(mark, found.get(mark) ?? 0);
  }

  /** Loads the removals of objects. */
  async loadRemovals(identities: readonly RemovalIdentity[]): Promise<void> {
    if (this.#counters.removals === 0) return;
    const unique = [...new Set(identities)].filter((identity) => !this.#removals.has(identity));
    const found = await new Table(this.#database, REMOVALS).getMap(unique);
    for (const identity of unique) this.#removals.set(identity, found.get(identity));
  }

  /**
   * Loads the objects of loaded entries. What is more than {@link LOADED_BYTES} together is opened and not
   * read: hundreds of objects of a megabyte may be refreshed by one batch.
   */
  async loadObjects(oids: readonly number[]): Promise<void> {
    let bytes = 0;
    const held: number[] = [];
    for (const oid of oids) {
      const length = this.#entries.get(oid)?.length ?? 0;
      bytes += length;
      if (length <= PART_BYTES && bytes <= LOADED_BYTES) held.push(oid);
      else await this.#openObject(oid, length);
    }
    const rows = await this.#database.getMany(held.map((oid) => oidKey(TABLE.objects, oid)));
    for (const [i, oid] of held.entries()) {
      const row = rows[i];
      const object = row && (await openObject(this.#database, oid, row));
      if (object instanceof StoredParts) this.#opened.push(object);
      if (object !== undefined) this.#objects.set(oid, object);
    }
  }

  async #openObject(oid: number, length: number): Promise<void> {
    const row = await this.#database.get(oidKey(TABLE.objects, oid));
    if (row === undefined) return;
    const object = await openObject(this.#database, oid, row);
    if (object instanceof StoredParts) this.#opened.push(object);
    if (object !== undefined)
      this.#objects.set(oid, object instanceof Uint8Array ? storedRow(this.#database, oid, length) : object);
  }

  /** Closes the large objects that were loaded. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const object of this.#opened.splice(0)) await object[Symbol.asyncDispose]();
  }

  async #loadUrls(urls: readonly string[]): Promise<void> {
    const unique = new Set(urls);
    const found = await new Table(this.#database, URLS).getMap(unique);
    for (const url of unique) this.#urls.set(url, found.get(url) ?? []);
  }

  async #keepEntries(oids: readonly number[]): Promise<void> {
    for (const [oid, entry] of await new Table(this.#database, ENTRIES).getMap(oids))
      this.#entries.set(oid, entry);
  }

  #marksOfEntries(): ContentMark[] {
    return [...this.#entries.values()].flatMap((entry) => contentMark(entry) ?? []);
  }

  // ---- reading ----

  entriesOf(url: string): RegistryEntry[] {
    return (this.#urls.get(url) ?? []).flatMap((oid) => this.#entries.get(oid) ?? []);
  }

  object(oid: number): SoifBytes | undefined {
    return this.#objects.get(oid);
  }

  /** The OID of the object that has this mark (SOIF-6.6). */
  oidOfMark(mark: ContentMark | undefined): number | undefined {
    return (mark && this.#marks.get(mark)) || undefined;
  }

  /** A removal that was loaded. */
  removal(identity: RemovalIdentity | undefined): Removal | undefined {
    return identity === undefined ? undefined : this.#removals.get(identity);
  }

  // ---- changing ----

  /** Ensures that no later change is dated before {@link now}. */
  touch(): void {
    if (this.#counters.lastChange !== this.now) this.#counters = { ...this.#counters, lastChange: this.now };
  }

  /** Sets the store's clock back to a time that is right. */
  setClock(lastChange: UnixSeconds): void {
    const { lastChange: from, setBackTo, setBackFrom } = this.#counters;
    // Peers may have times of an earlier such interval, too.
    const overlaps = setBackFrom >= lastChange;
    this.#counters = {
      ...this.#counters,
      lastChange,
      setBackTo: overlaps ? Math.min(setBackTo, lastChange) : lastChange,
      setBackFrom: Math.max(setBackFrom, from),
    };
  }

  newOid(): number {
    const oid = this.#counters.nextOid;
    if (oid > OID_MAX) throw new StorageError('all object IDs are used up');
    this.#counters = { ...this.#counters, nextOid: oid + 1 };
    return oid;
  }

  /**
   * Stores an entry and its object in place of the entry of the same OID. Deletes the removal of a former
   * object.
   *
   * @param refreshed the content is unchanged (BT-21)
   */
  put(newEntry: RegistryEntry, bytes: SoifBytes, refreshed = false): void {
    const old = this.#entries.get(newEntry.oid);
    const same = refreshed ? old : undefined;
    const entry: RegistryEntry = {
      ...newEntry,
      changed: this.now,
      contentChanged: same?.contentChanged ?? this.now,
      contentTime: same?.contentTime ?? newEntry.updateTime,
      fallbackTime: newEntry.fallbackTime ?? fallbackTimeAfter(old, newEntry.updateTime),
      // The sequence that this change gets.
      partSet: !(bytes instanceof Uint8Array) || bytes.length > PART_BYTES ? this.#counters.sequence + 1 : 0,
    };
    this.touch();
    if (old === undefined) {
      this.#setUrl(entry.url, [...(this.#urls.get(entry.url) ?? []), entry.oid]);
      this.#counters = { ...this.#counters, objects: this.#counters.objects + 1 };
      this.deleteRemoval(identityOfEntry(entry));
    } else {
      this.#dropIndexes(old);
    }
    const { oid } = entry;
    this.change(ENTRIES.put(oid, entry));
    this.#putObject(entry, bytes);
    for (const key of timeKeys(entry)) this.#put(key, NO_VALUE);
    const mark = contentMark(entry);
    if (mark !== undefined && !this.#marks.get(mark)) {
      this.#marks.set(mark, oid);
      this.change(MARKS.put(mark, oid));
    }
    this.#entries.set(oid, entry);
    this.#objects.set(oid, bytes);
    this.#log(oid, false);
  }

  /** The objects whose parts must be written before the batch. */
  get large(): Iterable<LargeObject> {
    return this.#large.values();
  }

  #putObject({ oid, partSet = 0 }: RegistryEntry, bytes: SoifBytes): void {
    const key = oidKey(TABLE.objects, oid);
    if (bytes instanceof Uint8Array && partSet === 0) {
      this.#put(key, objectRow(oid, bytes));
      return;
    }
    const large = largeObject(oid, partSet, bytes);
    this.#large.set(partSet, large);
    this.#put(key, large.row);
  }

  remove(entry: RegistryEntry): void {
    const { oid, url } = entry;
    this.touch();
    this.#dropIndexes(entry);
    this.change(ENTRIES.delete(oid));
    this.#delete(oidKey(TABLE.objects, oid));
    this.#setUrl(
      url,
      (this.#urls.get(url) ?? []).filter((other) => other !== oid),
    );
    this.#entries.delete(oid);
    this.#objects.delete(oid);
    this.#counters = { ...this.#counters, objects: this.#counters.objects - 1 };
    this.#log(oid, true);
  }

  /** Stores a removal in place of a former one of the same object. */
  putRemoval(removal: Removal): void {
    const { url, gathererName, gathererHost } = removal;
    const identity = removalIdentity(url, gathererName, gathererHost) ?? '';
    this.deleteRemoval(identity);
    this.touch();
    this.change(REMOVALS.put(identity, removal));
    for (const key of removalKeys(identity, removal)) this.#put(key, NO_VALUE);
    this.#removals.set(identity, removal);
    this.#counters = { ...this.#counters, removals: this.#counters.removals + 1 };
  }

  /** Deletes a removal that was loaded, if there is one. */
  deleteRemoval(identity: RemovalIdentity): void {
    const removal = this.#removals.get(identity);
    if (removal === undefined) return;
    this.change(REMOVALS.delete(identity));
    for (const key of removalKeys(identity, removal)) this.#delete(key);
    this.#removals.set(identity, undefined);
    this.#counters = { ...this.#counters, removals: this.#counters.removals - 1 };
  }

  /** Adds a change to the batch, e.g. of a row that is not one of the registry's. */
  change(change: RowChange): void {
    this.#changes.push(change);
  }

  setTrimmed(sequence: number): void {
    this.#counters = { ...this.#counters, trimmed: sequence };
  }

  /** The batch, counters included; empty if nothing changed. */
  rows(before: BrokerCounters): readonly RowChange[] {
    if (this.#counters === before) return this.#changes;
    return [...this.#changes, BROKER_COUNTERS.put(this.#counters)];
  }

  #dropIndexes(entry: RegistryEntry): void {
    this.#changes.push(...partDeletions(entry));
    for (const key of timeKeys(entry)) this.#delete(key);
    const mark = contentMark(entry);
    if (mark !== undefined && this.#marks.get(mark) === entry.oid) {
      this.#marks.set(mark, 0);
      this.change(MARKS.delete(mark));
    }
  }

  #setUrl(url: string, oids: readonly number[]): void {
    this.#urls.set(url, oids);
    this.change(oids.length === 0 ? URLS.delete(url) : URLS.put(url, oids));
  }

  #log(oid: number, removed: boolean): void {
    const sequence = this.#counters.sequence + 1;
    this.#counters = { ...this.#counters, sequence };
    this.change(CHANGES.put(sequence, { sequence, oid, kind: removed ? 'remove' : 'put' }));
  }

  #put(key: Uint8Array, value: Uint8Array): void {
    this.#changes.push({ key, value });
  }

  #delete(key: Uint8Array): void {
    this.#changes.push({ key });
  }
}
