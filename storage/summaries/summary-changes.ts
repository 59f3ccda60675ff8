import type { Complete } from '../../protocols/defined.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { GathererCounters } from '../records/records.js';
import type { RowChange, RowReader } from '../rows/contract.js';
import { Table } from '../rows/table.js';
import {
  contentKey,
  decodeSummaryRow,
  encodeSummaryRow,
  newRow,
  objectOf,
  refreshedRow,
  type SummaryRow,
  summaryKey,
} from './summary-rows.js';
import type { Summary } from './summary-store.js';
import { IDENTITIES, SEQUENCES, TOMBSTONE_IDENTITIES, TOMBSTONES, type TombstoneIdentity } from './tables.js';
import { tombstoneOf } from './tombstones.js';

/** A change of a summary. The rows that it affects depend on the Update-Time of the URL's stored summary. */
export type SummaryChange =
  | { readonly kind: 'put'; readonly summary: Summary; readonly previous: UnixSeconds | undefined | null }
  | {
      readonly kind: 'delete';
      readonly url: string;
      readonly previous: UnixSeconds | undefined;
      readonly deletedAt: UnixSeconds | undefined;
    }
  /** The document is unchanged: its object gets other times, if there is one. */
  | {
      readonly kind: 'refresh';
      readonly url: string;
      readonly previous: UnixSeconds | undefined;
      readonly updateTime: UnixSeconds;
      readonly lastModificationTime: UnixSeconds;
    }
  /** Deletes a tombstone. */
  | { readonly kind: 'forget'; readonly url: string; readonly deletionTime: UnixSeconds };

/** The stored summary of a URL, as the changes so far have left it. */
interface Stored {
  readonly row: SummaryRow;
  /** The bytes of its object, as far as a deletion needs them, if they are a row of their own. */
  readonly content: Uint8Array | undefined;
}

/**
 * Turns changes of summaries into rows and counts them; each change sees those before it. A URL has a summary,
 * a tombstone or neither, never both. Reads at most five times, whatever the number of changes.
 */
export async function summaryRows(
  database: RowReader,
  changes: readonly SummaryChange[],
  counters: GathererCounters,
): Promise<{ readonly rows: RowChange[]; readonly counters: GathererCounters }> {
  const updateTimes = await loadUpdateTimes(database, changes);
  const deletions = await loadTombstones(database, changes, updateTimes, counters);
  const stored = await loadStored(database, changes, updateTimes);
  const rows: RowChange[] = [];
  let { summaries, tombstones, sequence } = counters;

  const put = (summary: Summary): void => {
    const { url, updateTime, contentTime = updateTime } = summary;
    const tombstone = deletions.get(url);
    if (tombstone !== undefined) removeTombstone(url, tombstone);
    if (!stored.has(url)) summaries++;
    replace(url, newRow({ ...summary, contentTime: contentTime || updateTime }), true);
  };
  const refresh = (url: string, updateTime: UnixSeconds, lastModificationTime: UnixSeconds): void => {
    const former = stored.get(url);
    if (former !== undefined) replace(url, refreshedRow(former.row, updateTime, lastModificationTime), false);
  };
  /** Writes a row in place of the former one. Without bytes of its object it has those of the former one. */
  const replace = (url: string, written: ReturnType<typeof newRow>, isNew: boolean): void => {
    const former = stored.get(url);
    const previous = former?.row.updateTime;
    sequence++;
    const contentSequence = isNew ? sequence : former?.row.contentSequence || sequence;
    const row = { ...written.row, sequence, contentSequence };
    const { content } = written;
    const { updateTime } = row;
    if (former !== undefined) removeSequence(url, former.row.sequence);
    rows.push(SEQUENCES.put({ sequence, url }, { sequence, url, updateTime, contentSequence }));
    if (previous !== undefined && previous !== updateTime) rows.push({ key: summaryKey(previous, url) });
    rows.push({ key: summaryKey(updateTime, url), value: encodeSummaryRow(row) });
    const key = contentKey(row);
    const formerKey = former && contentKey(former.row);
    if (formerKey !== undefined && (key === undefined || Buffer.compare(formerKey, key) !== 0))
      rows.push({ key: formerKey });
    if (key !== undefined && content !== undefined) rows.push({ key, value: content });
    if (previous !== updateTime) rows.push(IDENTITIES.put(url, updateTime));
    stored.set(url, { row, content: content ?? former?.content });
  };
  const remove = (url: string, deletedAt: UnixSeconds | undefined): void => {
    const former = stored.get(url);
    if (former === undefined) return;
    const { row, content } = former;
    const key = contentKey(row);
    rows.push({ key: summaryKey(row.updateTime, url) }, IDENTITIES.delete(url));
    removeSequence(url, row.sequence);
    if (key !== undefined) rows.push({ key });
    stored.delete(url);
    summaries--;
    if (deletedAt !== undefined)
      addTombstone(url, { ...row, soif: objectOf(database.place, row, content) }, deletedAt);
  };
  const addTombstone = (url: string, summary: Complete<Summary>, deletionTime: UnixSeconds): void => {
    const tombstone = tombstoneOf(summary, deletionTime);
    if (tombstone === undefined) return;
    const key = { url, deletionTime };
    sequence++;
    const number = { sequence, url, updateTime: deletionTime, contentSequence: 0 };
    rows.push(
      TOMBSTONES.put(key, { ...key, ...tombstone }),
      TOMBSTONE_IDENTITIES.put(url, { deletionTime, sequence }),
      SEQUENCES.put(number, number),
    );
    deletions.set(url, { deletionTime, sequence });
    tombstones++;
  };
  const removeTombstone = (url: string, tombstone: TombstoneIdentity): void => {
    const { deletionTime } = tombstone;
    rows.push(TOMBSTONES.delete({ url, deletionTime }), TOMBSTONE_IDENTITIES.delete(url));
    removeSequence(url, tombstone.sequence);
    deletions.delete(url);
    tombstones--;
  };
  /** Rows of earlier versions have no number. */
  const removeSequence = (url: string, number: number): void => {
    if (number > 0) rows.push(SEQUENCES.delete({ sequence: number, url }));
  };

  for (const change of changes) {
    if (change.kind === 'put') put(change.summary);
    else if (change.kind === 'refresh') refresh(change.url, change.updateTime, change.lastModificationTime);
    else if (change.kind === 'delete') remove(change.url, change.deletedAt);
    else {
      const tombstone = deletions.get(change.url);
      if (tombstone?.deletionTime === change.deletionTime) removeTombstone(change.url, tombstone);
    }
  }
  return { rows, counters: { ...counters, summaries, tombstones, sequence } };
}

function urlOf(change: SummaryChange): string {
  return change.kind === 'put' ? change.summary.url : change.url;
}

/**
 * The Update-Times of the URLs' stored summaries: from the changes if they have them, else by one read of the
 * identity rows.
 */
async function loadUpdateTimes(
  database: RowReader,
  changes: readonly SummaryChange[],
): Promise<Map<string, UnixSeconds | undefined>> {
  const updateTimes = new Map<string, UnixSeconds | undefined>();
  const unknown = new Set<string>();
  for (const change of changes) {
    if (change.kind === 'forget') continue;
    const url = urlOf(change);
    if (updateTimes.has(url) || unknown.has(url)) continue;
    // 0 is ambiguous: in a document's record it means "no summary", but a summary may be stored under 0
    // (GATHERD-4.3).
    if (change.previous === null) updateTimes.set(url, undefined);
    else if (change.previous === undefined || change.previous === 0) unknown.add(url);
    else updateTimes.set(url, change.previous);
  }
  const stored = await new Table(database, IDENTITIES).getMap(unknown);
  for (const url of unknown) updateTimes.set(url, stored.get(url));
  return updateTimes;
}

/** The tombstones of those URLs that have no summary. */
async function loadTombstones(
  database: RowReader,
  changes: readonly SummaryChange[],
  updateTimes: ReadonlyMap<string, UnixSeconds | undefined>,
  { tombstones }: GathererCounters,
): Promise<Map<string, TombstoneIdentity>> {
  if (tombstones === 0) return new Map();
  const urls = [...new Set(changes.map(urlOf))].filter((url) => updateTimes.get(url) === undefined);
  return new Table(database, TOMBSTONE_IDENTITIES).getMap(urls);
}

/**
 * The stored summaries of the URLs, also those that are not where their documents say. Of objects that are rows
 * of their own only those are read that leave a tombstone, which has their Gatherer's names.
 */
async function loadStored(
  database: RowReader,
  changes: readonly SummaryChange[],
  updateTimes: ReadonlyMap<string, UnixSeconds | undefined>,
): Promise<Map<string, Stored>> {
  const rows = new Map<string, SummaryRow>();
  const load = async (times: Iterable<readonly [string, UnixSeconds | undefined]>): Promise<string[]> => {
    const keys = [...times].flatMap(([url, updateTime]) =>
      updateTime === undefined ? [] : [{ url, key: summaryKey(updateTime, url) }],
    );
    const found = await database.getMany(keys.map(({ key }) => key));
    return keys.flatMap(({ url, key }, i) => {
      const bytes = found[i];
      if (bytes === undefined) return [url];
      rows.set(url, decodeSummaryRow(database.place, key, bytes));
      return [];
    });
  };
  const absent = await load(updateTimes);
  await load(await new Table(database, IDENTITIES).getMap(absent));
  const leaving = new Set<string>();
  for (const change of changes) {
    if (change.kind === 'delete' && change.deletedAt !== undefined) leaving.add(change.url);
  }
  const wanted = [...rows].flatMap(([url, row]) => {
    const key = leaving.has(url) ? contentKey(row) : undefined;
    return key === undefined ? [] : [{ url, key }];
  });
  const contents = await database.getMany(wanted.map(({ key }) => key));
  const contentOf = new Map(wanted.map(({ url }, i) => [url, contents[i]] as const));
  return new Map([...rows].map(([url, row]) => [url, { row, content: contentOf.get(url) }] as const));
}
