// Walks over the entries, objects and removals of a Broker's store: all of them, or those that changed since a
// time. A walk reads a page at a time and is not a snapshot.
import type { SoifBytes } from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { countRead } from '../files/collect-garbage.js';
import type { RegistryEntry, Removal } from '../records/records.js';
import type { Row, RowReader } from '../rows/contract.js';
import {
  type KeyRange,
  keyOid,
  oidKey,
  orderedKey,
  requireInteger,
  TABLE,
  tableRange,
} from '../rows/keys.js';
import { pagesOf, pagesOfKeys } from '../rows/pages.js';
import { Table } from '../rows/table.js';
import { isInParts, openObject, StoredParts } from './large-objects.js';
import { requireRemoved } from './object-reader.js';
import { objectOfRow } from './object-rows.js';
import { OidSet } from './oid-set.js';
import { expiredRange } from './registry-entry.js';
import { identityOfKey } from './registry-removals.js';
import { ENTRIES, REMOVALS } from './tables.js';

/** A walk's share of memory, which may change between two pages. */
interface MemoryShare {
  /** Bytes of one page. */
  readonly pageBytes: number;
  /** Whether the next pages may be read while the consumer has one. */
  readonly mayReadAhead: boolean;
  /** Runs a read, of which few run at a time. */
  read<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Takes memory for a page, if there is enough now; it is disposed of when the consumer requests the next
   * page.
   */
  tryHold(bytes: number): Disposable | undefined;
  /** Waits for the memory of a page. */
  hold(bytes: number, signal?: AbortSignal): Promise<Disposable>;
}

export interface ChangedSinceOptions {
  /** Changes after this second, by the store's clock. */
  readonly after: UnixSeconds;
  /** The last second that is included. */
  readonly upTo: UnixSeconds;
  readonly signal?: AbortSignal;
  /** Limits the number of rows that are in memory while their objects are read. */
  readonly share?: MemoryShare;
}

/** Options of a walk over the entries. */
export interface EntriesOptions {
  /** Only OIDs above this one. */
  readonly after?: number;
  /** Only `Update-Time >= since`; the time that the walk takes depends on their number. */
  readonly since?: UnixSeconds;
  /** Maximum number of entries in a page. Default 1000. */
  readonly pageRows?: number;
  readonly signal?: AbortSignal;
}

/** Options of a walk over the bytes of all objects. */
export interface ValidOptions {
  readonly signal?: AbortSignal;
  /** Default: pages of 4 MiB, three of them read ahead. */
  readonly share?: MemoryShare;
}

/** One object as the store holds it. */
export interface StoredCopy {
  readonly entry: RegistryEntry;
  /** An object in parts is a source, valid until the next copies are requested. */
  readonly bytes: SoifBytes;
}

/** Bytes of entries in one read of a range. */
const PAGE_BYTES = 4 << 20;
/** Entries in one read by OID, whose bytes are known only afterwards. */
const ENTRIES_AT_ONCE = 250;
/** Maximum number of rows in one read. */
const PAGE_ROWS = 1000;
/**
 * Bytes of a page for each entry that is in memory while a client reads the page, in a walk with a share of
 * memory.
 */
const BYTES_PER_ENTRY = 1024;
/** Maximum bytes of objects in one read; a larger object is read alone. */
const RANGE_BYTES = 1 << 20;
/** For a walk over all objects: OIDs and bytes in one read, and concurrent reads. */
const RANGE_OIDS = 512;
const WALK_BYTES = 4 << 20;
const READS_AHEAD = 3;

/** See `BrokerStore.all`. */
export async function* entriesInOrder(
  database: RowReader,
  { after = 0, since = 0, pageRows = PAGE_ROWS, signal }: EntriesOptions,
): AsyncGenerator<RegistryEntry[], void, undefined> {
  if (since > 0) {
    yield* entriesUpdatedSince(database, since, after, pageRows, signal);
    return;
  }
  yield* new Table(database, ENTRIES).pages({ limit: pageRows, bytes: PAGE_BYTES, after, signal });
}

async function* entriesUpdatedSince(
  database: RowReader,
  since: UnixSeconds,
  after: number,
  pageRows: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<RegistryEntry[], void, undefined> {
  const range = {
    ...tableRange(TABLE.times),
    gte: orderedKey(TABLE.times, requireInteger(since, 'since')),
  };
  // A set: an object that moved to a later time during the walk occurs twice.
  const oids = new Set<number>();
  for await (const keys of pagesOfKeys(database, range)) {
    signal?.throwIfAborted();
    for (const key of keys) if (keyOid(key) > after) oids.add(keyOid(key));
  }
  const ordered = [...oids].sort((a, b) => a - b);
  for (let i = 0; i < ordered.length; i += pageRows) {
    signal?.throwIfAborted();
    yield* entriesOf(database, ordered.slice(i, i + pageRows));
  }
}

/** See `BrokerStore.copiesSince`. */
export async function* copiesSince(
  database: RowReader,
  { after, upTo, signal, share }: ChangedSinceOptions,
): AsyncGenerator<RegistryEntry[], void, undefined> {
  const changed = {
    gte: orderedKey(TABLE.copies, requireInteger(after, 'after') + 1),
    lt: orderedKey(TABLE.copies, requireInteger(upTo, 'upTo') + 1),
  };
  const yielded = new OidSet();
  for await (const keys of pagesOfKeys(database, changed, { limit: rowsOf(share) })) {
    signal?.throwIfAborted();
    const oids = keys.map(keyOid);
    for (const oid of oids) yielded.add(oid);
    yield* entriesOf(database, oids);
  }
  // BT-5: a peer with its own clock requests by Update-Time. The loop above has yielded the copies that changed
  // in the range; often these are all objects, so that their entries are not read again.
  const updated = { ...tableRange(TABLE.times), gte: orderedKey(TABLE.times, after + 1) };
  for await (const keys of pagesOfKeys(database, updated, { limit: rowsOf(share) })) {
    signal?.throwIfAborted();
    const oids = keys.map(keyOid).filter((oid) => !yielded.has(oid));
    if (oids.length === 0) continue;
    for await (const entries of entriesOf(database, oids))
      yield entries.filter((entry) => entry.changed <= after || entry.changed > upTo);
  }
}

/** See `BrokerStore.removalsSince`. */
export async function* removalsSince(
  database: RowReader,
  { after, upTo, signal, share }: ChangedSinceOptions,
): AsyncGenerator<Removal[], void, undefined> {
  const range = {
    gte: orderedKey(TABLE.removalTimes, requireInteger(after, 'after') + 1),
    lt: orderedKey(TABLE.removalTimes, requireInteger(upTo, 'upTo') + 1),
  };
  for await (const keys of pagesOfKeys(database, range, { limit: rowsOf(share) })) {
    signal?.throwIfAborted();
    const removals = await new Table(database, REMOVALS).getMany(keys.map(identityOfKey));
    yield removals.filter((removal) => removal !== undefined);
  }
}

/** See `BrokerStore.stored`. */
export async function* storedInOrder(
  database: RowReader,
  signal?: AbortSignal,
): AsyncGenerator<StoredCopy[], void, undefined> {
  for await (const entries of new Table(database, ENTRIES).pages({ limit: PAGE_ROWS, bytes: PAGE_BYTES })) {
    let from = 0;
    while (from < entries.length) {
      signal?.throwIfAborted();
      let to = from;
      for (let bytes = 0; to < entries.length && (to === from || bytes <= RANGE_BYTES); to++) {
        bytes += entries[to]?.length ?? 0;
      }
      yield* readRun(database, entries.slice(from, to));
      from = to;
    }
  }
}

/** See `BrokerStore.validParts`. Returns the number of all objects, expired ones included. */
export async function* validInOrder(
  database: RowReader,
  now: UnixSeconds,
  { signal, share }: ValidOptions = {},
): AsyncGenerator<Uint8Array[] | StoredParts, number, undefined> {
  let objects = 0;
  const expired = new OidSet();
  for await (const keys of pagesOfKeys(database, expiredRange(now)))
    for (const key of keys) expired.add(keyOid(key));
  for await (const page of objectPages(database, share, signal)) {
    signal?.throwIfAborted();
    objects += page.length;
    const valid = expired.isEmpty ? page : page.filter(([key]) => !expired.has(keyOid(key)));
    if (valid.some(([, row]) => isInParts(row))) yield* withLarge(database, valid);
    else if (valid.length > 0) yield valid.map(([key, row]) => objectOfRow(database.place, keyOid(key), row));
  }
  return objects;
}

/** The objects of a page that has large ones, each of which is opened when the one before it has been used. */
async function* withLarge(
  database: RowReader,
  page: readonly Row[],
): AsyncGenerator<Uint8Array[] | StoredParts, void, undefined> {
  let small: Uint8Array[] = [];
  for (const [key, row] of page) {
    const object = await openObject(database, keyOid(key), row);
    if (object === undefined) continue;
    if (!(object instanceof StoredParts)) {
      small.push(object);
      continue;
    }
    await using parts = object;
    if (small.length > 0) yield small;
    small = [];
    yield parts;
  }
  if (small.length > 0) yield small;
}

/**
 * The rows of all objects, in order. Reads a few ranges of OIDs concurrently, because a single read leaves a
 * processor idle, unless the share of the memory does not allow it.
 */
async function* objectPages(
  database: RowReader,
  share: ValidOptions['share'],
  signal: AbortSignal | undefined,
): AsyncGenerator<Row[], void, undefined> {
  const [last] = await database.pageOfKeys(tableRange(TABLE.objects), { limit: 1, reverse: true });
  const end = last === undefined ? 0 : keyOid(last) + 1;
  const bytesOfPage = () => share?.pageBytes ?? WALK_BYTES;
  const readsAhead = () => (share?.mayReadAhead === false ? 1 : READS_AHEAD);
  const read = (range: KeyRange, limit: number, after?: Uint8Array) => {
    const work = () => database.page(range, { limit: RANGE_OIDS, bytes: limit, after });
    return share === undefined ? work() : share.read(work);
  };
  const ahead: { readonly range: KeyRange; readonly limit: number; readonly first: Promise<Row[]> }[] = [];
  for (let from = 0; from < end || ahead.length > 0; ) {
    for (; from < end && ahead.length < readsAhead(); from += RANGE_OIDS) {
      const to = Math.min(from + RANGE_OIDS, end);
      const range = { gte: oidKey(TABLE.objects, from), lt: afterOid(to - 1) };
      const limit = bytesOfPage();
      const first = read(range, limit);
      // The loop awaits the promise later, or never if the caller stops: a rejection must not count as
      // unhandled.
      first.catch(() => undefined);
      ahead.push({ range, limit, first });
    }
    const { range, first, ...next } = ahead.shift()!;
    let { limit } = next;
    let page = await first;
    let before: Uint8Array | undefined;
    while (page.length > 0) {
      const bytes = bytesOfRows(page);
      using held = share?.tryHold(bytes);
      if (share !== undefined && held === undefined) {
        // While it waits for memory it holds none: the page is read again.
        page = [];
        using _awaited = await share.hold(bytes, signal);
        page = await read(range, limit, before);
        if (page.length > 0) yield page;
      } else yield page;
      const after = page.at(-1)?.[0];
      if (after === undefined) break;
      before = after;
      // The limit of bytes did not end the page (keys count there too), so the range has no more rows.
      if (bytes < limit / 2) break;
      limit = bytesOfPage();
      page = [];
      page = await read(range, limit, after);
    }
  }
}

function bytesOfRows(rows: readonly Row[]): number {
  return rows.reduce((sum, [, value]) => sum + value.length, 0);
}

/** Number of rows in one read of a walk with a share of memory. */
function rowsOf(share: MemoryShare | undefined): number {
  return share === undefined ? PAGE_ROWS : Math.min(PAGE_ROWS, Math.ceil(share.pageBytes / BYTES_PER_ENTRY));
}

/** The first key after an OID's. */
function afterOid(oid: number): Uint8Array {
  return Buffer.concat([oidKey(TABLE.objects, oid), Uint8Array.of(0)]);
}

/**
 * The objects of entries that follow each other, by one walk over their range; those in parts one after the
 * other.
 */
async function* readRun(
  database: RowReader,
  run: readonly RegistryEntry[],
): AsyncGenerator<StoredCopy[], void, undefined> {
  const range = {
    gte: oidKey(TABLE.objects, run[0]?.oid ?? 0),
    lt: afterOid(run.at(-1)?.oid ?? 0),
  };
  const objects = new Map<number, Uint8Array>();
  const rows = new Map<number, Uint8Array>();
  for await (const page of pagesOf(database, range, { limit: run.length, bytes: 2 * RANGE_BYTES })) {
    for (const [key, row] of page) {
      countRead(row.length);
      if (isInParts(row)) rows.set(keyOid(key), row);
      else objects.set(keyOid(key), objectOfRow(database.place, keyOid(key), row));
    }
  }
  const missing = run.filter(({ oid }) => !objects.has(oid) && !rows.has(oid));
  if (missing.length > 0)
    await requireRemoved(
      database,
      missing.map(({ oid }) => oid),
    );
  yield run.flatMap((entry) => {
    const bytes = objects.get(entry.oid);
    return bytes === undefined ? [] : [{ entry, bytes }];
  });
  objects.clear();
  for (const entry of run) {
    const row = rows.get(entry.oid);
    const bytes = row && (await openObject(database, entry.oid, row));
    if (bytes === undefined) continue;
    try {
      yield [{ entry, bytes }];
    } finally {
      if (bytes instanceof StoredParts) await bytes[Symbol.asyncDispose]();
    }
  }
}

/** The entries of these OIDs, a page with all of them unless their bytes exceed those of a page. */
async function* entriesOf(
  database: RowReader,
  oids: readonly number[],
): AsyncGenerator<RegistryEntry[], void, undefined> {
  let page: RegistryEntry[] = [];
  let bytes = 0;
  for (let from = 0; from < oids.length; from += ENTRIES_AT_ONCE) {
    const some = oids.slice(from, from + ENTRIES_AT_ONCE);
    const rows = await database.getMany(some.map((oid) => ENTRIES.keys.encode(oid)));
    for (const [i, row] of rows.entries()) {
      if (row === undefined) continue;
      page.push(ENTRIES.decode(row, some[i] ?? 0));
      bytes += row.length;
    }
    if (bytes < PAGE_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}
