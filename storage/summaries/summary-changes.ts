import type { UnixSeconds } from '../../protocols/time.js';
import type { Level, RowChange } from '../level/level.js';
import {
  type GathererCounters,
  summaryCodec,
  summaryIdentityCodec,
  tombstoneCodec,
  tombstoneIdentityCodec,
} from '../records/records.js';
import { identityKey, type Summary, summaryKey } from './summary-store.js';
import { tombstoneIdentityKey, tombstoneKey, tombstoneOf } from './tombstones.js';

/** A change of a summary: which rows it touches depends on where the URL's summary lies now. */
export type SummaryChange =
  | { readonly kind: 'put'; readonly summary: Summary; readonly previous: UnixSeconds | undefined | null }
  | {
      readonly kind: 'delete';
      readonly url: string;
      readonly previous: UnixSeconds | undefined;
      readonly deletedAt: UnixSeconds | undefined;
    }
  /** Drop a tombstone. */
  | { readonly kind: 'forget'; readonly url: string; readonly deletionTime: UnixSeconds };

/**
 * Turns changes of summaries into rows, each change seeing those before it, and counts. A URL has a summary, or a
 * tombstone, or neither, never both. Reads at most three times, however many changes there are.
 */
export async function summaryRows(
  level: Level,
  changes: readonly SummaryChange[],
  counters: GathererCounters,
): Promise<{ readonly rows: RowChange[]; readonly counters: GathererCounters }> {
  const places = await loadPlaces(level, changes);
  const deletionTimes = await loadTombstones(level, changes, places, counters);
  const removed = await loadRemoved(level, changes, places);
  const rows: RowChange[] = [];
  let { summaries, tombstones } = counters;

  const put = (summary: Summary): void => {
    const { url, updateTime, contentTime = updateTime } = summary;
    const previous = places.get(url);
    const deletionTime = deletionTimes.get(url);
    if (deletionTime !== undefined) removeTombstone(url, deletionTime);
    if (previous !== undefined && previous !== updateTime) rows.push({ key: summaryKey(previous, url) });
    const record = { ...summary, contentTime: contentTime === updateTime ? 0 : contentTime };
    rows.push({ key: summaryKey(updateTime, url), value: summaryCodec.encode(record) });
    if (previous !== updateTime) {
      rows.push({ key: identityKey(url), value: summaryIdentityCodec.encode({ updateTime }) });
    }
    places.set(url, updateTime);
    if (previous === undefined) summaries++;
    if (removed.has(url)) removed.set(url, summary);
  };
  const remove = (url: string, deletedAt: UnixSeconds | undefined): void => {
    const previous = places.get(url);
    if (previous === undefined) return;
    rows.push({ key: summaryKey(previous, url) }, { key: identityKey(url) });
    places.set(url, undefined);
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

/** Where the summaries of these URLs lie now: as their callers say, else as one read of the identity rows says. */
async function loadPlaces(
  level: Level,
  changes: readonly SummaryChange[],
): Promise<Map<string, UnixSeconds | undefined>> {
  const places = new Map<string, UnixSeconds | undefined>();
  const unknown = new Set<string>();
  for (const change of changes) {
    if (change.kind === 'forget') continue;
    const url = urlOf(change);
    if (places.has(url) || unknown.has(url)) continue;
    // 0 is no knowledge: it means "has none" to a document's record, but a summary may lie under 0 (GATHERD-4.3).
    if (change.previous === null) places.set(url, undefined);
    else if (change.previous === undefined || change.previous === 0) unknown.add(url);
    else places.set(url, change.previous);
  }
  const urls = [...unknown];
  const found = await level.getMany(urls.map(identityKey));
  urls.forEach((url, i) => {
    const bytes = found[i];
    places.set(url, bytes && summaryIdentityCodec.decode(bytes).updateTime);
  });
  return places;
}

/** When those of the URLs that have no summary were deleted. */
async function loadTombstones(
  level: Level,
  changes: readonly SummaryChange[],
  places: ReadonlyMap<string, UnixSeconds | undefined>,
  { tombstones }: GathererCounters,
): Promise<Map<string, UnixSeconds>> {
  const deletionTimes = new Map<string, UnixSeconds>();
  if (tombstones === 0) return deletionTimes;
  const urls = [...new Set(changes.map(urlOf))].filter((url) => places.get(url) === undefined);
  const found = await level.getMany(urls.map(tombstoneIdentityKey));
  urls.forEach((url, i) => {
    const bytes = found[i];
    if (bytes !== undefined) deletionTimes.set(url, tombstoneIdentityCodec.decode(bytes).deletionTime);
  });
  return deletionTimes;
}

/** The stored summaries that these changes delete for good, so that a tombstone can say whose they were. */
async function loadRemoved(
  level: Level,
  changes: readonly SummaryChange[],
  places: ReadonlyMap<string, UnixSeconds | undefined>,
): Promise<Map<string, Summary | undefined>> {
  const removed = new Map<string, Summary | undefined>();
  for (const change of changes) {
    if (change.kind === 'delete' && change.deletedAt !== undefined) removed.set(change.url, undefined);
  }
  const keys = [...removed.keys()].flatMap((url) => {
    const updateTime = places.get(url);
    return updateTime === undefined ? [] : [{ url, updateTime }];
  });
  const found = await level.getMany(keys.map(({ url, updateTime }) => summaryKey(updateTime, url)));
  keys.forEach(({ url, updateTime }, i) => {
    const bytes = found[i];
    if (bytes !== undefined) removed.set(url, { url, updateTime, ...summaryCodec.decode(bytes) });
  });
  return removed;
}
