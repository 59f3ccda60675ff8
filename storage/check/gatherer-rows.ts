// The tables of a Gatherer's store: compares them with each other, and makes the derived ones again.
import { StorageError } from '../../protocols/errors.js';
import { ROWS } from '../gatherer/tables.js';
import type { Level } from '../level/level.js';
import type { Row, RowChange } from '../rows/contract.js';
import { keyOrder, keyUrl, TABLE, tableRange } from '../rows/keys.js';
import { Table } from '../rows/table.js';
import {
  contentKey,
  decodeSummaryRow,
  objectOf,
  type SummaryRow,
  summaryKey,
} from '../summaries/summary-rows.js';
import { GATHERER_COUNTERS, IDENTITIES, TOMBSTONE_IDENTITIES, TOMBSTONES } from '../summaries/tables.js';
import { type CheckedRows, RowProblems } from './row-problems.js';

const PAGE = { limit: 1000, bytes: 1 << 20 };
/** The object of each row is read, too. */
const SUMMARY_PAGE = { limit: 100, bytes: 1 << 20 };

/** Compares the summaries with the rows that find them. Returns sentences, at most `limit`. */
export async function checkGathererRows(level: Level, limit: number): Promise<CheckedRows> {
  const problems = new RowProblems(level, limit);
  const counters = await GATHERER_COUNTERS.read(level);
  let objects = 0;
  let contents = 0;
  for await (const page of level.pages(tableRange(TABLE.summaries), SUMMARY_PAGE)) {
    const updateTimes = await new Table(level, IDENTITIES).getMany(page.map(([key]) => keyUrl(key, 9)));
    const sound = await soundRows(level, page);
    page.forEach(([key], i) => {
      objects++;
      const summary = sound[i];
      if (summary === undefined) problems.add(`the summary of ${keyUrl(key, 9)} is damaged`);
      else if (contentKey(summary) !== undefined) contents++;
      if (updateTimes[i] !== keyOrder(key))
        problems.add(`the list of URLs lacks the summary of ${keyUrl(key, 9)}`);
    });
  }
  await problems.compareCount(
    tableRange(TABLE.identities),
    objects,
    (rows) => `there are ${rows} URLs for ${objects} summaries`,
  );
  await problems.compareCount(
    tableRange(TABLE.summaryContents),
    contents,
    (rows) => `there are ${rows} objects for ${contents} summaries without one`,
  );
  if (objects !== counters.summaries)
    problems.add(`the store counts ${counters.summaries} summaries, but has ${objects}`);
  await problems.compareCount(
    tableRange(TABLE.tombstones),
    counters.tombstones,
    (rows) => `the store counts ${counters.tombstones} tombstones, but has ${rows}`,
  );
  return problems.result(objects);
}

/**
 * Makes the derived tables and the counters again, and deletes the records of documents whose summary is lost,
 * so that they are fetched again.
 */
export async function mendGathererRows(level: Level): Promise<{ objects: number; dropped: number }> {
  await level.clear(tableRange(TABLE.identities));
  await level.clear(tableRange(TABLE.tombstoneIdentities));
  let dropped = 0;
  for await (const rows of level.pages(tableRange(TABLE.summaries), SUMMARY_PAGE)) {
    const changes: RowChange[] = [];
    const sound: Row[] = [];
    const found = await soundRows(level, rows);
    for (const [i, row] of rows.entries()) {
      if (found[i] !== undefined) sound.push(row);
      else changes.push({ key: row[0] });
    }
    dropped += rows.length - sound.length;
    // In the order of times: of two summaries of a URL the later one stays.
    const known = await new Table(level, IDENTITIES).getMap(sound.map(([key]) => keyUrl(key, 9)));
    for (const [key] of sound) {
      const url = keyUrl(key, 9);
      const earlier = known.get(url);
      if (earlier !== undefined) changes.push({ key: summaryKey(earlier, url) });
      changes.push(IDENTITIES.put(url, keyOrder(key)));
      known.set(url, keyOrder(key));
    }
    await level.write(changes);
  }
  await dropOrphans(level);
  for await (const page of new Table(level, TOMBSTONES).keyPages())
    await level.write(
      page.map(({ url, deletionTime }) => TOMBSTONE_IDENTITIES.put(url, { deletionTime, sequence: 0 })),
    );
  for await (const page of new Table(level, ROWS.documents).entryPages(PAGE)) {
    const updateTimes = await new Table(level, IDENTITIES).getMany(page.map(([url]) => url));
    const lost = page.filter(([, { updateTime }], i) => updateTime > 0 && updateTimes[i] === undefined);
    dropped += lost.length;
    if (lost.length > 0) await level.write(lost.map(([url]) => ROWS.documents.delete(url)));
  }
  const summaries = await level.count(tableRange(TABLE.summaries));
  const tombstones = await level.count(tableRange(TABLE.tombstones));
  // Without the names of its numbers, collectors ask for everything.
  await level.clear(tableRange(TABLE.epochs));
  const [last] = await level.pageOfKeys(tableRange(TABLE.sequences), { limit: 1, reverse: true });
  const sequence = last === undefined ? 0 : keyOrder(last);
  await level.write([GATHERER_COUNTERS.put({ summaries, tombstones, sequence, origin: '' })], true);
  return { objects: summaries, dropped };
}

/** The rows whose objects are those that were stored; undefined for the others. */
async function soundRows(level: Level, rows: readonly Row[]): Promise<(SummaryRow | undefined)[]> {
  const decoded = rows.map(([key, value]) => ifSound(() => decodeSummaryRow(level.directory, key, value)));
  const sound: (SummaryRow | undefined)[] = [];
  for (const row of decoded) {
    const key = row && contentKey(row);
    const content = key && (await level.get(key));
    sound.push(row && ifSound(() => objectOf(level.directory, row, content) && row));
  }
  return sound;
}

/** Deletes the objects that belong to no summary. */
async function dropOrphans(level: Level): Promise<void> {
  for await (const page of level.pagesOfKeys(tableRange(TABLE.summaryContents), PAGE)) {
    const updateTimes = await new Table(level, IDENTITIES).getMany(page.map((key) => keyUrl(key, 9)));
    const keys = page.map((key, i) => {
      const updateTime = updateTimes[i];
      return updateTime === undefined ? undefined : summaryKey(updateTime, keyUrl(key, 9));
    });
    const rows = await level.getMany(keys.map((key, i) => key ?? page[i]!));
    const orphans = page.filter((key, i) => {
      const [rowKey, value] = [keys[i], rows[i]];
      if (rowKey === undefined || value === undefined) return true;
      const owned = contentKey(decodeSummaryRow(level.directory, rowKey, value));
      return owned === undefined || Buffer.compare(owned, key) !== 0;
    });
    if (orphans.length > 0) await level.write(orphans.map((key) => ({ key })));
  }
}

function ifSound<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return undefined;
  }
}
