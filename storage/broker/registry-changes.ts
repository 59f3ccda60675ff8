// Walks over the entries, objects and removals of a Broker's store: all of them, or those that changed since a time. A walk reads a page at
// a time and is not a snapshot.
import type { UnixSeconds } from '../../protocols/time.js';
import {
  type KeyRange,
  keyOid,
  oidKey,
  orderedKey,
  requireInteger,
  TABLE,
  tableRange,
} from '../level/keys.js';
import type { Level, Row } from '../level/level.js';
import { type RegistryEntry, type Removal, registryEntryCodec, removalCodec } from '../records/records.js';
import { OidSet } from './oid-set.js';
import { expiredRange } from './registry.js';
import { identityOfKey, removalKey } from './registry-removals.js';

export interface ChangedSinceOptions {
  /** Changes after this second, by the store's clock. */
  readonly after: UnixSeconds;
  /** The last second that is included. */
  readonly upTo: UnixSeconds;
  readonly signal?: AbortSignal;
}

/** Options of a walk over the entries. */
export interface EntriesOptions {
  /** Only OIDs above this one. */
  readonly after?: number;
  /** Only `Update-Time >= since`; the time that the walk takes depends on their number. */
  readonly since?: UnixSeconds;
  readonly signal?: AbortSignal;
}

export type CopiesSinceOptions = ChangedSinceOptions;

/** One object as the store holds it. */
export interface StoredCopy {
  readonly entry: RegistryEntry;
  readonly bytes: Uint8Array;
}

/** Maximum number of rows in one read. */
const PAGE_ROWS = 1000;
/** Maximum bytes of objects in one read; a larger object is read alone. */
const RANGE_BYTES = 1 << 20;
/** For a walk over all objects: OIDs and bytes in one read, and concurrent reads. */
const RANGE_OIDS = 512;
const WALK_BYTES = 4 << 20;
const READS_AHEAD = 3;

/** See `BrokerStore.all`. */
export async function* entriesInOrder(
  level: Level,
  { after = 0, since = 0, signal }: EntriesOptions,
): AsyncGenerator<RegistryEntry[], void, undefined> {
  if (since > 0) {
    yield* entriesUpdatedSince(level, since, after, signal);
    return;
  }
  const start = oidKey(TABLE.entries, after);
  for await (const page of level.pages(tableRange(TABLE.entries), { limit: PAGE_ROWS, after: start })) {
    signal?.throwIfAborted();
    yield page.map(([key, value]) => ({ oid: keyOid(key), ...registryEntryCodec.decode(value) }));
  }
}

async function* entriesUpdatedSince(
  level: Level,
  since: UnixSeconds,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<RegistryEntry[], void, undefined> {
  const range = {
    ...tableRange(TABLE.times),
    gte: orderedKey(TABLE.times, requireInteger(since, 'since')),
  };
  // A set: an object that moved to a later time during the walk occurs twice.
  const oids = new Set<number>();
  for await (const keys of level.pagesOfKeys(range)) {
    signal?.throwIfAborted();
    for (const key of keys) if (keyOid(key) > after) oids.add(keyOid(key));
  }
  const ordered = [...oids].sort((a, b) => a - b);
  for (let i = 0; i < ordered.length; i += PAGE_ROWS) {
    signal?.throwIfAborted();
    yield readEntries(level, ordered.slice(i, i + PAGE_ROWS));
  }
}

/** See `BrokerStore.copiesSince`. */
export async function* copiesSince(
  level: Level,
  { after, upTo, signal }: CopiesSinceOptions,
): AsyncGenerator<RegistryEntry[], void, undefined> {
  const changed = {
    gte: orderedKey(TABLE.copies, requireInteger(after, 'after') + 1),
    lt: orderedKey(TABLE.copies, requireInteger(upTo, 'upTo') + 1),
  };
  for await (const keys of level.pagesOfKeys(changed, { limit: PAGE_ROWS })) {
    signal?.throwIfAborted();
    yield readEntries(level, keys.map(keyOid));
  }
  // BT-5: a peer with its own clock requests by Update-Time. The loop above has yielded the copies that changed in the range.
  const updated = { ...tableRange(TABLE.times), gte: orderedKey(TABLE.times, after + 1) };
  for await (const keys of level.pagesOfKeys(updated, { limit: PAGE_ROWS })) {
    signal?.throwIfAborted();
    const entries = await readEntries(level, keys.map(keyOid));
    yield entries.filter((entry) => entry.changed <= after || entry.changed > upTo);
  }
}

/** See `BrokerStore.removalsSince`. */
export async function* removalsSince(
  level: Level,
  { after, upTo, signal }: ChangedSinceOptions,
): AsyncGenerator<Removal[], void, undefined> {
  const range = {
    gte: orderedKey(TABLE.removalTimes, requireInteger(after, 'after') + 1),
    lt: orderedKey(TABLE.removalTimes, requireInteger(upTo, 'upTo') + 1),
  };
  for await (const keys of level.pagesOfKeys(range, { limit: PAGE_ROWS })) {
    signal?.throwIfAborted();
    const rows = await level.getMany(keys.map((key) => removalKey(identityOfKey(key))));
    yield rows.filter((bytes) => bytes !== undefined).map(removalCodec.decode);
  }
}

/** See `BrokerStore.stored`. */
export async function* storedInOrder(
  level: Level,
  signal?: AbortSignal,
): AsyncGenerator<StoredCopy[], void, undefined> {
  for await (const page of level.pages(tableRange(TABLE.entries), { limit: PAGE_ROWS })) {
    const entries = page.map(([key, value]) => ({ oid: keyOid(key), ...registryEntryCodec.decode(value) }));
    let from = 0;
    while (from < entries.length) {
      signal?.throwIfAborted();
      let to = from;
      for (let bytes = 0; to < entries.length && (to === from || bytes <= RANGE_BYTES); to++) {
        bytes += entries[to]?.length ?? 0;
      }
      const run = entries.slice(from, to);
      yield await readRun(level, run);
      from = to;
    }
  }
}

/** See `BrokerStore.valid`. */
export async function* validInOrder(
  level: Level,
  now: UnixSeconds,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array[], void, undefined> {
  const expired = new OidSet();
  for await (const keys of level.pagesOfKeys(expiredRange(now)))
    for (const key of keys) expired.add(keyOid(key));
  for await (const page of objectPages(level)) {
    signal?.throwIfAborted();
    const valid = expired.isEmpty ? page : page.filter(([key]) => !expired.has(keyOid(key)));
    if (valid.length > 0) yield valid.map(([, bytes]) => bytes);
  }
}

/** The rows of all objects, in order. Reads a few ranges of OIDs concurrently, because a single read leaves a processor idle. */
async function* objectPages(level: Level): AsyncGenerator<Row[], void, undefined> {
  const [last] = await level.pageOfKeys(tableRange(TABLE.objects), { limit: 1, reverse: true });
  const end = last === undefined ? 0 : keyOid(last) + 1;
  const options = { limit: RANGE_OIDS, bytes: WALK_BYTES };
  const ahead: { readonly range: KeyRange; readonly first: Promise<Row[]> }[] = [];
  for (let from = 0; from < end || ahead.length > 0; ) {
    for (; from < end && ahead.length < READS_AHEAD; from += RANGE_OIDS) {
      const to = Math.min(from + RANGE_OIDS, end);
      const range = { gte: oidKey(TABLE.objects, from), lt: afterOid(to - 1) };
      const first = level.page(range, options);
      // The loop awaits the promise later, or never if the caller stops: a rejection must not count as unhandled.
      first.catch(() => undefined);
      ahead.push({ range, first });
    }
    const { range, first } = ahead.shift()!;
    for (
      let page = await first;
      page.length > 0;
      page = await level.page(range, { ...options, after: page.at(-1)![0] })
    ) {
      yield page;
      const bytes = page.reduce((sum, [, value]) => sum + value.length, 0);
      // The limit of bytes did not end the page (keys count there too), so the range has no more rows.
      if (bytes < WALK_BYTES / 2) break;
    }
  }
}

/** The first key after an OID's. */
function afterOid(oid: number): Uint8Array {
  return Buffer.concat([oidKey(TABLE.objects, oid), Uint8Array.of(0)]);
}

/** The objects of entries that follow each other, by one walk over their range. */
async function readRun(level: Level, run: readonly RegistryEntry[]): Promise<StoredCopy[]> {
  const range = {
    gte: oidKey(TABLE.objects, run[0]?.oid ?? 0),
    lt: afterOid(run.at(-1)?.oid ?? 0),
  };
  const objects = new Map<number, Uint8Array>();
  for await (const page of level.pages(range, { limit: run.length, bytes: 2 * RANGE_BYTES })) {
    for (const [key, value] of page) objects.set(keyOid(key), value);
  }
  return run.flatMap((entry) => {
    const bytes = objects.get(entry.oid);
    return bytes === undefined ? [] : [{ entry, bytes }];
  });
}

async function readEntries(level: Level, oids: readonly number[]): Promise<RegistryEntry[]> {
  const rows = await level.getMany(oids.map((oid) => oidKey(TABLE.entries, oid)));
  return rows.flatMap((bytes, i) =>
    bytes === undefined ? [] : [{ oid: oids[i] ?? 0, ...registryEntryCodec.decode(bytes) }],
  );
}
