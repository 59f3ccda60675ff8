// The tables of a Broker's store: compares them with each other, and makes the derived ones again.
import { StorageError } from '../../protocols/errors.js';
import { openObject, partKeys, StoredParts } from '../broker/large-objects.js';
import { contentMark, timeKeys } from '../broker/registry-entry.js';
import { removalKeys } from '../broker/registry-removals.js';
import { BROKER_COUNTERS, ENTRIES, MARKS, POINTS, REMOVALS, URLS } from '../broker/tables.js';
import { countRead } from '../files/collect-garbage.js';
import type { Level } from '../level/level.js';
import type { BrokerCounters, RegistryEntry } from '../records/records.js';
import type { RowChange } from '../rows/contract.js';
import {
  type KeyRange,
  keyOid,
  keyOrder,
  NO_VALUE,
  oidKey,
  orderedOidKey,
  TABLE,
  tableRange,
} from '../rows/keys.js';
import { Table } from '../rows/table.js';
import { type CheckedRows, RowProblems } from './row-problems.js';

const PAGE = { limit: 500, bytes: 1 << 20 };
/** Tables that follow from the entries and the removals. */
const DERIVED = [
  TABLE.urls,
  TABLE.marks,
  TABLE.expiries,
  TABLE.times,
  TABLE.copies,
  TABLE.removalTimes,
  TABLE.removalExpiries,
  TABLE.changes,
] as const;

interface Pair {
  readonly entry: RegistryEntry;
  /** False if the object is missing or damaged, or has another length than its entry says. */
  readonly isSound: boolean;
}

async function* pairs(level: Level): AsyncGenerator<Pair[], void, undefined> {
  for await (const entries of new Table(level, ENTRIES).pages(PAGE)) {
    const found: Pair[] = [];
    for (const run of runsOf(entries)) {
      const objects = await level.getMany(run.map(({ oid }) => oidKey(TABLE.objects, oid)));
      for (const [i, entry] of run.entries())
        found.push({ entry, isSound: await isSoundObject(level, entry, objects[i]) });
    }
    yield found;
  }
}

/** Entries whose objects are read together; those in parts have small rows. */
function runsOf(entries: readonly RegistryEntry[]): RegistryEntry[][] {
  const runs: RegistryEntry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    bytes += entry.length;
    if (bytes > PAGE.bytes) {
      runs.push([]);
      bytes = entry.length;
    }
    runs.at(-1)?.push(entry);
  }
  return runs;
}

async function isSoundObject(
  level: Level,
  { oid, length }: RegistryEntry,
  row: Uint8Array | undefined,
): Promise<boolean> {
  if (row === undefined) return false;
  try {
    countRead(row.length);
    const object = await openObject(level, oid, row);
    if (!(object instanceof StoredParts)) return object?.length === length;
    await using parts = object;
    // The last piece is yielded after the comparison of the checksum.
    for await (const _ of parts.pieces());
    return parts.length === length;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return false;
  }
}

/**
 * Compares the Registry with the objects and with the tables that find them. Returns sentences, at most
 * `limit`.
 */
export async function checkBrokerRows(level: Level, limit: number): Promise<CheckedRows> {
  const problems = new RowProblems(level, limit);
  const counters = await BROKER_COUNTERS.read(level);
  let objects = 0;
  let parts = 0;
  for await (const page of pairs(level)) {
    const urls = await new Table(level, URLS).getMany(page.map(({ entry }) => entry.url));
    const times = await level.getMany(
      page.map(({ entry }) => orderedOidKey(TABLE.times, entry.updateTime, entry.oid)),
    );
    page.forEach(({ entry, isSound }, i) => {
      objects++;
      parts += partKeys(entry).length;
      const { oid, url } = entry;
      if (!isSound)
        problems.add(`the object of entry ${oid}, ${url}, is missing, damaged or of another length`);
      if (urls[i]?.includes(oid) !== true) problems.add(`the list of URLs lacks entry ${oid}, ${url}`);
      if (times[i] === undefined) problems.add(`the list of times lacks entry ${oid}, ${url}`);
    });
  }
  if (objects !== counters.objects)
    problems.add(`the store counts ${counters.objects} objects, but its Registry has ${objects}`);
  const compare = problems.compareCount.bind(problems);
  await compare(
    tableRange(TABLE.parts),
    parts,
    (rows) => `there are ${rows} parts of large objects instead of ${parts}`,
  );
  await compare(
    tableRange(TABLE.objects),
    objects,
    (rows) => `there are ${rows} objects for ${objects} entries`,
  );
  await compare(
    tableRange(TABLE.removals),
    counters.removals,
    (rows) => `the store counts ${counters.removals} removals, but has ${rows}`,
  );
  return problems.result(objects);
}

/**
 * Keeps the objects that have an entry and the entries that have an object, and makes the derived tables again.
 * The state of each collection point becomes "nothing collected yet", so that the next collection restores the
 * lost rows.
 */
export async function mendBrokerRows(level: Level): Promise<{ objects: number; dropped: number }> {
  const before = await BROKER_COUNTERS.read(level);
  let sequence = Math.max(before.sequence, await lastOrder(level, tableRange(TABLE.changes))) + 1;
  for (const table of DERIVED) await level.clear(tableRange(table));
  let objects = 0;
  let dropped = 0;
  let nextOid = before.nextOid;
  const sets = new Set<number>();
  for await (const page of pairs(level)) {
    const changes: RowChange[] = [];
    const urls = new Map<string, number[]>();
    for (const { entry, isSound } of page) {
      nextOid = Math.max(nextOid, entry.oid + 1);
      if (!isSound) {
        dropped++;
        changes.push(ENTRIES.delete(entry.oid), { key: oidKey(TABLE.objects, entry.oid) });
        continue;
      }
      objects++;
      // The next opening deletes the parts above the last sequence.
      sequence = Math.max(sequence, (entry.partSet ?? 0) + 1);
      if (entry.partSet) sets.add(entry.partSet);
      urls.set(entry.url, [...(urls.get(entry.url) ?? []), entry.oid]);
      for (const row of derivedRows(entry)) changes.push(row);
    }
    for (const row of await urlRows(level, urls)) changes.push(row);
    await level.write(changes);
  }
  await dropParts(level, sets);
  dropped += await dropOrphans(level);
  const removals = await mendRemovals(level);
  const counters: BrokerCounters = {
    objects,
    removals,
    sequence,
    // The index has seen fewer changes than are trimmed, so that the Broker makes it again.
    trimmed: sequence,
    nextOid,
    lastChange: before.lastChange,
    setBackTo: before.setBackTo,
    setBackFrom: before.setBackFrom,
  };
  const points: RowChange[] = [];
  for await (const keys of new Table(level, POINTS).keyPages())
    for (const key of keys) points.push(POINTS.put(key, { last: 0, origin: '', sequence: 0 }));
  await level.write([...points, BROKER_COUNTERS.put(counters)], true);
  return { objects, dropped };
}

function derivedRows(entry: RegistryEntry): RowChange[] {
  const rows: RowChange[] = timeKeys(entry).map((key) => ({ key, value: NO_VALUE }));
  const mark = contentMark(entry);
  if (mark !== undefined) rows.push(MARKS.put(mark, entry.oid));
  return rows;
}

async function urlRows(level: Level, urls: ReadonlyMap<string, readonly number[]>): Promise<RowChange[]> {
  const known = await new Table(level, URLS).getMap(urls.keys());
  return [...urls].map(([url, oids]) => URLS.put(url, [...(known.get(url) ?? []), ...oids]));
}

/** Deletes the objects that have no entry; the next collection brings them again. */
async function dropOrphans(level: Level): Promise<number> {
  let dropped = 0;
  for await (const keys of level.pagesOfKeys(tableRange(TABLE.objects))) {
    const entries = await level.getMany(keys.map((key) => ENTRIES.keys.encode(keyOid(key))));
    const orphans = keys.filter((_, i) => entries[i] === undefined);
    dropped += orphans.length;
    if (orphans.length > 0) await level.write(orphans.map((key) => ({ key })));
  }
  return dropped;
}

/** Deletes the parts of objects that are not kept. */
async function dropParts(level: Level, kept: ReadonlySet<number>): Promise<void> {
  for await (const keys of level.pagesOfKeys(tableRange(TABLE.parts))) {
    const orphans = keys.filter((key) => !kept.has(keyOrder(key)));
    if (orphans.length > 0) await level.write(orphans.map((key) => ({ key })));
  }
}

async function mendRemovals(level: Level): Promise<number> {
  let removals = 0;
  for await (const page of new Table(level, REMOVALS).entryPages()) {
    await level.write(
      page.flatMap(([identity, removal]) =>
        removalKeys(identity, removal).map((key) => ({ key, value: NO_VALUE })),
      ),
    );
    removals += page.length;
  }
  return removals;
}

async function lastOrder(level: Level, range: KeyRange): Promise<number> {
  const [last] = await level.pageOfKeys(range, { limit: 1, reverse: true });
  return last === undefined ? 0 : keyOrder(last);
}
