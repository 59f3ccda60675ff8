import type { UnixSeconds } from '../../protocols/time.js';
import type { Level, RowChange } from '../level/level.js';
import {
  type GathererCounters,
  summaryCodec,
  summaryIdentityCodec,
  tombstoneCodec,
  tombstoneIdentityCodec,
} from '../records/records.js';
import { checkedSummary, identityKey, type Summary, summaryCrc, summaryKey } from './summary-store.js';
import { tombstoneIdentityKey, tombstoneKey, tombstoneOf } from './tombstones.js';

/** A change of a summary. The rows that it affects depend on the Update-Time of the URL's stored summary. */
export type SummaryChange =
  | { readonly kind: 'put'; readonly summary: Summary; readonly previous: UnixSeconds | undefined | null }
  | {
      readonly kind: 'delete';
      readonly url: string;
      readonly previous: UnixSeconds | undefined;
      readonly deletedAt: UnixSeconds | undefined;
    }
  /** Deletes a tombstone. */
  | { readonly kind: 'forget'; readonly url: string; readonly deletionTime: UnixSeconds };

/**
 * Turns changes of summaries into rows and counts them; each change sees those before it. A URL has a summary, a tombstone or neither,
 * never both. Reads at most three times, whatever the number of changes.
 */
export async function summaryRows(
  level: Level,
  changes: readonly SummaryChange[],
  counters: GathererCounters,
): Promise<{ readonly rows: RowChange[]; readonly counters: GathererCounters }> {
  const updateTimes = await loadUpdateTimes(level, changes);
  const deletionTimes = await loadTombstones(level, changes, updateTimes, counters);
  const removed = await loadRemoved(level, changes, updateTimes);
  const rows: RowChange[] = [];
  let { summaries, tombstones } = counters;

  const put = (summary: Summary): void => {
    const { url, updateTime, contentTime = updateTime } = summary;
    const previous = updateTimes.get(url);
    const deletionTime = deletionTimes.get(url);
    if (deletionTime !== undefined) removeTombstone(url, deletionTime);
    if (previous !== undefined && previous !== updateTime) rows.push({ key: summaryKey(previous, url) });
    const crc = summaryCrc(updateTime, summary.soif);
    const record = { ...summary, contentTime: contentTime === updateTime ? 0 : contentTime, crc };
    rows.push({ key: summaryKey(updateTime, url), value: summaryCodec.encode(record) });
    if (previous !== updateTime) {
      rows.push({ key: identityKey(url), value: summaryIdentityCodec.encode({ updateTime }) });
    }
    updateTimes.set(url, updateTime);
    if (previous === undefined) summaries++;
    if (removed.has(url)) removed.set(url, summary);
  };
  const remove = (url: string, deletedAt: UnixSeconds | undefined): void => {
    const previous = updateTimes.get(url);
    if (previous === undefined) return;
    rows.push({ key: summaryKey(previous, url) }, { key: identityKey(url) });
    updateTimes.set(url, undefined);
    summaries--;
    const summary = removed.get(url);
    if (deletedAt !== undefined && summary !== undefined) addTombstone(url, summary, deletedAt);
  };
  const addTombstone = (url: string, summary: Summary, deletionTime: UnixSeconds): void => {
    const tombstone = tombstoneOf(summary, deletionTime);
    if (tombstone === undefined) return;
    rows.push(
      { key: tombstoneKey(deletionTime, url), value: tombstoneCodec.encode(tombstone) },
      { key: tombstoneIdentityKey(url), value: tombstoneIdentityCodec.encode({ deletionTime }) },
    );
    deletionTimes.set(url, deletionTime);
    tombstones++;
  };
  const removeTombstone = (url: string, deletionTime: UnixSeconds): void => {
    rows.push({ key: tombstoneKey(deletionTime, url) }, { key: tombstoneIdentityKey(url) });
    deletionTimes.delete(url);
    tombstones--;
  };

  for (const change of changes) {
    if (change.kind === 'put') put(change.summary);
    else if (change.kind === 'delete') remove(change.url, change.deletedAt);
    else if (deletionTimes.get(change.url) === change.deletionTime)
      removeTombstone(change.url, change.deletionTime);
  }
  return { rows, counters: { summaries, tombstones } };
}

function urlOf(change: SummaryChange): string {
  return change.kind === 'put' ? change.summary.url : change.url;
}

/** The Update-Times of the URLs' stored summaries: from the changes if they have them, else by one read of the identity rows. */
async function loadUpdateTimes(
  level: Level,
  changes: readonly SummaryChange[],
): Promise<Map<string, UnixSeconds | undefined>> {
  const updateTimes = new Map<string, UnixSeconds | undefined>();
  const unknown = new Set<string>();
  for (const change of changes) {
    if (change.kind === 'forget') continue;
    const url = urlOf(change);
    if (updateTimes.has(url) || unknown.has(url)) continue;
    // 0 is ambiguous: in a document's record it means "no summary", but a summary may be stored under 0 (GATHERD-4.3).
    if (change.previous === null) updateTimes.set(url, undefined);
    else if (change.previous === undefined || change.previous === 0) unknown.add(url);
    else updateTimes.set(url, change.previous);
  }
  const urls = [...unknown];
  const found = await level.getMany(urls.map(identityKey));
  urls.forEach((url, i) => {
    const bytes = found[i];
    updateTimes.set(url, bytes && summaryIdentityCodec.decode(bytes).updateTime);
  });
  return updateTimes;
}

/** The deletion times of those URLs that have no summary. */
async function loadTombstones(
  level: Level,
  changes: readonly SummaryChange[],
  updateTimes: ReadonlyMap<string, UnixSeconds | undefined>,
  { tombstones }: GathererCounters,
): Promise<Map<string, UnixSeconds>> {
  const deletionTimes = new Map<string, UnixSeconds>();
  if (tombstones === 0) return deletionTimes;
  const urls = [...new Set(changes.map(urlOf))].filter((url) => updateTimes.get(url) === undefined);
  const found = await level.getMany(urls.map(tombstoneIdentityKey));
  urls.forEach((url, i) => {
    const bytes = found[i];
    if (bytes !== undefined) deletionTimes.set(url, tombstoneIdentityCodec.decode(bytes).deletionTime);
  });
  return deletionTimes;
}

/** The stored summaries that the changes delete with a tombstone, which needs their Gatherer's names. */
async function loadRemoved(
  level: Level,
  changes: readonly SummaryChange[],
  updateTimes: ReadonlyMap<string, UnixSeconds | undefined>,
): Promise<Map<string, Summary | undefined>> {
  const removed = new Map<string, Summary | undefined>();
  for (const change of changes) {
    if (change.kind === 'delete' && change.deletedAt !== undefined) removed.set(change.url, undefined);
  }
  const keys = [...removed.keys()].flatMap((url) => {
    const updateTime = updateTimes.get(url);
    return updateTime === undefined ? [] : [{ url, updateTime }];
  });
  const found = await level.getMany(keys.map(({ url, updateTime }) => summaryKey(updateTime, url)));
  keys.forEach(({ url, updateTime }, i) => {
    const bytes = found[i];
    if (bytes === undefined) return;
    const record = checkedSummary(level.directory, summaryKey(updateTime, url), bytes);
    removed.set(url, { url, updateTime, ...record });
  });
  return removed;
}
