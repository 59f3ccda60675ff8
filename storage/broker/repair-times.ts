// Repairs the times that a wrong clock has left in a Broker's store.
import type { SoifBytes } from '../../protocols/soif/index.js';
import { MAX_AHEAD, type UnixSeconds } from '../../protocols/time.js';
import { type KeyRange, keyOid, orderedKey, TABLE, tableRange } from '../rows/keys.js';
import { Table } from '../rows/table.js';
import { identityOfKey, repairedRemoval } from './registry-removals.js';
import type { RegistryRows } from './registry-rows.js';
import { POINTS } from './tables.js';
import { lifeFrom, placeOfWrongTime, withTimes } from './wrong-times.js';

/** The times of a store that were more than a day in the future, by what had them. */
export interface RepairedTimes {
  readonly objects: number;
  readonly removals: number;
  /** Collection points; everything is requested from them again. */
  readonly points: number;
}

/** Since this time a peer sends everything, with the deletions that it leaves out since 0 (GATHERD-6.11, BT-22). */
const EVERYTHING = 1;

/** Rows of one batch. */
const BATCH = 250;

/** Runs a batch of changes. */
type Change = <T>(work: (rows: RegistryRows) => Promise<T>) => Promise<T>;

/** Gives what has a time of the future one of the past, in the order of its versions. */
export async function repairTimes(change: Change, now: UnixSeconds): Promise<RepairedTimes> {
  const latest = now + MAX_AHEAD;
  const repeat = async (work: (rows: RegistryRows) => Promise<number>): Promise<number> => {
    let all = 0;
    for (let count = -1; count !== 0; all += count) count = await change(work);
    return all;
  };
  let objects = 0;
  for (const table of [TABLE.times, TABLE.copies])
    objects += await repeat(async (rows) => {
      const keys = await rows.before.pageOfKeys(after(table, latest), { limit: BATCH });
      return repairObjects(rows, [...new Set(keys.map(keyOid))], latest);
    });
  const removals = await repeat(async (rows) => {
    const keys = await rows.before.pageOfKeys(after(TABLE.removalTimes, latest), { limit: BATCH });
    const identities = keys.map(identityOfKey);
    await rows.loadRemovals(identities);
    const found = identities.flatMap((identity) => rows.removal(identity) ?? []);
    for (const removal of found) rows.putRemoval(repairedRemoval(removal, latest, rows.now));
    return found.length;
  });
  return { objects, removals, points: await change((rows) => resetPoints(rows, latest)) };
}

/**
 * After the clock was set back, times since `lastRight` are doubtful, although they may be past by now: of such
 * objects the order of arrival decides, and everything is requested from points without numbers.
 */
export async function doubtTimes(change: Change, lastRight: UnixSeconds): Promise<RepairedTimes> {
  let objects = 0;
  for (let last: Uint8Array | undefined, count = -1; count !== 0; ) {
    count = await change(async (rows) => {
      const keys = await rows.before.pageOfKeys(after(TABLE.times, lastRight), { limit: BATCH, after: last });
      last = keys.at(-1);
      const entries = await rows.loadEntries(keys.map(keyOid));
      const doubtful = entries.filter(({ arrivalTime = false }) => !arrivalTime);
      await rows.loadObjects(doubtful.map(({ oid }) => oid));
      for (const entry of doubtful) {
        const bytes = rows.object(entry.oid);
        if (bytes !== undefined) rows.put({ ...entry, arrivalTime: true }, bytes, true);
      }
      objects += doubtful.length;
      return keys.length;
    });
  }
  const points = await change((rows) => resetPoints(rows, lastRight, Number.POSITIVE_INFINITY));
  return { objects, removals: 0, points };
}

async function repairObjects(rows: RegistryRows, oids: readonly number[], latest: number): Promise<number> {
  const entries = await rows.loadEntries(oids);
  await rows.loadObjects(oids);
  let repaired = 0;
  for (const entry of entries) {
    const bytes = rows.object(entry.oid);
    if (bytes === undefined) continue;
    repaired++;
    const isAhead = entry.updateTime > latest;
    if (!isAhead) {
      rows.put(entry, bytes);
      continue;
    }
    const updateTime = placeOfWrongTime(entry, rows.now);
    const timeToLive = lifeFrom(updateTime, entry.timeToLive, rows.now);
    const renewed: SoifBytes = await withTimes(bytes, { updateTime, timeToLive });
    const times = { updateTime, timeToLive, arrivalTime: true, fallbackTime: 0 };
    rows.put({ ...entry, ...times, length: renewed.length }, renewed);
  }
  return repaired;
}

/**
 * GATHERD-13.6: forgets the times of collection points after `latest`: one of the future would exclude every
 * change until then. Returns their number.
 *
 * @param numbered the latest time of points with numbers
 */
export async function resetPoints(rows: RegistryRows, latest: number, numbered = latest): Promise<number> {
  const points = new Table(rows.before, POINTS);
  let reset = 0;
  for await (const keys of points.keyPages()) {
    const states = await points.getMany(keys);
    for (const [i, key] of keys.entries()) {
      const state = states[i];
      if (state === undefined || state.last <= (state.origin === '' ? latest : numbered)) continue;
      if (state.last <= EVERYTHING && state.origin === '') continue;
      rows.change(POINTS.put(key, { last: EVERYTHING, origin: '', sequence: 0 }));
      reset++;
    }
  }
  return reset;
}

function after(table: Parameters<typeof tableRange>[0], time: UnixSeconds): KeyRange {
  return { ...tableRange(table), gte: orderedKey(table, time + 1) };
}
