// Repairs the times that a wrong clock has left in a Broker's store.
import type { SoifBytes } from '../../protocols/soif/index.js';
import { MAX_AHEAD, type UnixSeconds } from '../../protocols/time.js';
import { type KeyRange, keyOid, orderedKey, TABLE, tableRange } from '../rows/keys.js';
import { Table } from '../rows/table.js';
import { withUpdateTime } from './registry-apply.js';
import { identityOfKey } from './registry-removals.js';
import type { RegistryRows } from './registry-rows.js';
import { POINTS } from './tables.js';

/** The times of a store that were more than a day in the future, by what had them. */
export interface RepairedTimes {
  readonly objects: number;
  readonly removals: number;
  /** Collection points; everything is requested from them again. */
  readonly points: number;
}

/** Rows of one batch. */
const BATCH = 250;

/** Runs a batch of changes. */
type Change = <T>(work: (rows: RegistryRows) => Promise<T>) => Promise<T>;

/** Gives what has a time of the future the present one. */
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
    for (const removal of found) {
      const updateTime = Math.min(removal.updateTime, rows.now);
      rows.putRemoval({ ...removal, updateTime, removed: rows.now });
    }
    return found.length;
  });
  return { objects, removals, points: await change((rows) => resetPoints(rows, latest)) };
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
    const updateTime = isAhead ? rows.now : entry.updateTime;
    const renewed: SoifBytes = isAhead ? await withUpdateTime(bytes, updateTime) : bytes;
    const times = { updateTime, arrivalTime: isAhead || entry.arrivalTime === true };
    rows.put({ ...entry, ...times, length: renewed.length }, renewed);
  }
  return repaired;
}

/**
 * GATHERD-13.6: forgets the times of collection points after `latest`: one of the future would exclude every
 * change until then. Returns their number.
 */
export async function resetPoints(rows: RegistryRows, latest: number): Promise<number> {
  const points = new Table(rows.before, POINTS);
  let reset = 0;
  for await (const keys of points.keyPages()) {
    const states = await points.getMany(keys);
    for (const [i, key] of keys.entries()) {
      const state = states[i];
      if (state === undefined || state.last <= latest) continue;
      rows.change(POINTS.put(key, { last: 0, origin: '', sequence: 0 }));
      reset++;
    }
  }
  return reset;
}

function after(table: Parameters<typeof tableRange>[0], time: UnixSeconds): KeyRange {
  return { ...tableRange(table), gte: orderedKey(table, time + 1) };
}
