// What a Broker's store does with collected changes: updates, refreshes and deletions of objects (GATHERD-13.8,
// SOIF-6.5, 6.6, BT-27).
import {
  type ByteSource,
  decodeSoif,
  encodeSoif,
  REFRESHED_NAMES,
  readOutline,
  rewriteLarge,
  type SoifBytes,
  type SoifObject,
  textOfUrl,
  urlProblem,
} from '../../protocols/soif/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import type { RegistryEntry } from '../records/records.js';
import type { RowTransaction } from '../rows/contract.js';
import {
  type Bookkeeping,
  contentMark,
  entryOf,
  missingAttributes,
  readBookkeeping,
  sameGatherer,
} from './registry-entry.js';
import { relayedRemoval, removalIdentity, removalOf } from './registry-removals.js';
import type { RegistryRows } from './registry-rows.js';
import type { ContentMark, RemovalIdentity } from './tables.js';
import { fallbackTimeAfter, withTimes } from './wrong-times.js';

/** One object of a collected stream: `object` decoded, `bytes` as received. */
export interface CollectedChange {
  readonly kind: 'update' | 'refresh' | 'delete';
  /** If `bytes` are a source, it needs no attributes but those of bookkeeping and the description. */
  readonly object: SoifObject;
  readonly bytes: SoifBytes;
  /** A deletion because the object that arrived has expired (BRK-7.14), not because its Gatherer deleted it. */
  readonly expired?: boolean;
  /** The Update-Time is the time of arrival, because the Gatherer's was in the future (GATHERD-13.10). */
  readonly arrivalTime?: boolean;
}

/** The outcomes of the changes: each is counted once, except those in {@link ApplyResult.unknown}. */
export interface ApplyCounts {
  readonly added: number;
  readonly updated: number;
  readonly refreshed: number;
  readonly deleted: number;
  /** Changes without effect: the object, an equal one or a newer one is stored. */
  readonly duplicates: number;
  /** Deletions of objects that are not stored. */
  readonly absent: number;
  readonly rejected: number;
}

/** The counts before the first change. */
export const NO_COUNTS: ApplyCounts = {
  added: 0,
  updated: 0,
  refreshed: 0,
  deleted: 0,
  duplicates: 0,
  absent: 0,
  rejected: 0,
};

/** Adds two counts. */
export function addCounts(a: ApplyCounts, b: ApplyCounts): ApplyCounts {
  const sum = { ...NO_COUNTS };
  for (const name of Object.keys(NO_COUNTS) as (keyof ApplyCounts)[]) sum[name] = a[name] + b[name];
  return sum;
}

export type ApplyResult = ApplyCounts & {
  /** One sentence for each rejected change. */
  readonly reasons: readonly string[];
  /** URLs of refreshes of unknown objects: the collector requests the whole objects. */
  readonly unknown: readonly string[];
};

type Outcome = keyof ApplyCounts | 'unknown' | { readonly rejected: string };

/** Called with the outcome of each change, in their order, before the batch is written. */
export type ApplyObserver = (change: CollectedChange, outcome: keyof ApplyCounts | 'unknown') => void;

/** The origin of changes. */
export interface ApplyOptions {
  /**
   * The changes come from another Broker, not from the objects' Gatherer (BT-23). A Gatherer sends objects that
   * exist. A Broker may send an object whose deletion it has not received, so a removal wins up to its own
   * Update-Time.
   */
  readonly relayed?: boolean;
  /**
   * The changes are those after the last one that was received from the same Gatherer, by their numbers
   * (GATHERD-6.13): each is newer than the stored object, unless that came from one of `others`.
   */
  readonly numbered?: boolean;
  /** Number of the collection point from which the changes come. */
  readonly source?: number;
  /**
   * The other collection points. One of them may be a copy of the same Gatherer that lags or leads: then the times
   * decide.
   */
  readonly others?: ReadonlySet<number>;
  /** Called in the transaction of the changes: nothing of them is written if it fails, e.g. for lack of a lease. */
  readonly allow?: ((rows: RowTransaction) => Promise<void>) | undefined;
}

interface ParsedChange extends CollectedChange {
  readonly options: ApplyOptions;
  readonly relayed: boolean;
  readonly numbered: boolean;
  readonly book: Bookkeeping;
  /** Identity of the object's removal; undefined if the object does not name its Gatherer. */
  readonly identity: RemovalIdentity | undefined;
  /** The Registry entry; its OID is 0. */
  readonly entry: RegistryEntry;
  readonly mark: ContentMark | undefined;
}

/**
 * Applies collected changes to `rows` in order; each sees those before it (GATHERD-13.8, SOIF-6.5, 6.6). Reads
 * a fixed number of times, whatever the number of changes.
 */
export async function applyChanges(
  rows: RegistryRows,
  changes: readonly CollectedChange[],
  observe?: ApplyObserver,
  options: ApplyOptions = {},
): Promise<ApplyResult> {
  const parsed = changes.map((change) => parseChange(change, options));
  await loadRows(rows, parsed);

  const counts = { ...NO_COUNTS };
  const reasons: string[] = [];
  const unknown: string[] = [];
  for (const change of parsed) {
    const result = applyOne(rows, change);
    // An await for each change would cost as much as the change.
    const outcome = result instanceof Promise ? await result : result;
    observe?.(change, typeof outcome === 'string' ? outcome : 'rejected');
    if (outcome === 'unknown') {
      unknown.push(change.object.url);
    } else if (typeof outcome === 'string') {
      counts[outcome]++;
    } else {
      counts.rejected++;
      reasons.push(`${change.kind} of ${textOfUrl(change.object.url)}: ${outcome.rejected}`);
    }
  }
  return { ...counts, reasons, unknown };
}

function parseChange(
  { kind, object, bytes, expired = false, arrivalTime = false }: CollectedChange,
  options: ApplyOptions,
): ParsedChange {
  const { relayed = false, numbered = false, source = 0 } = options;
  const book = readBookkeeping(object);
  const entry = { ...entryOf(0, object, book, bytes.length), arrivalTime, source };
  const identity = removalIdentity(object.url, book.gathererName, book.gathererHost);
  const mark = contentMark(entry);
  return { kind, object, bytes, expired, options, relayed, numbered, book, identity, entry, mark };
}

async function loadRows(rows: RegistryRows, changes: readonly ParsedChange[]): Promise<void> {
  const updates = changes.filter((change) => change.kind === 'update');
  const refreshes = changes.filter((change) => change.kind === 'refresh');
  await rows.load(
    changes.map((change) => change.entry.url),
    updates.flatMap((change) => change.mark ?? []),
  );
  await rows.loadRemovals(changes.flatMap((change) => change.identity ?? []));
  if (refreshes.length === 0) return;

  // A refreshed entry gets a new mark: that of the stored entry, or of one of these changes, at the new time.
  const fresh = new Map<string, RegistryEntry[]>();
  for (const { entry } of updates) {
    const entries = fresh.get(entry.url) ?? [];
    entries.push(entry);
    fresh.set(entry.url, entries);
  }
  const marks: ContentMark[] = [];
  const oids = new Set<number>();
  for (const { object, book } of refreshes) {
    const stored = rows.entriesOf(object.url);
    for (const entry of stored) oids.add(entry.oid);
    for (const entry of [...stored, ...(fresh.get(object.url) ?? [])]) {
      const mark = contentMark(renew(entry, book));
      if (mark !== undefined) marks.push(mark);
    }
  }
  await rows.loadMarks(marks);
  await rows.loadObjects([...oids]);
}

function applyOne(rows: RegistryRows, change: ParsedChange): Outcome | Promise<Outcome> {
  const unwritable = urlProblem(change.object.urlBytes, change.object.type);
  if (unwritable !== undefined) return { rejected: `${unwritable} (SOIF-2.9)` };
  switch (change.kind) {
    case 'update':
      return update(rows, change);
    case 'refresh':
      return refresh(rows, change);
    case 'delete':
      return remove(rows, change);
  }
}

function update(rows: RegistryRows, change: ParsedChange): Outcome | Promise<Outcome> {
  const { book, entry, mark, bytes } = change;
  // SOIF-6.5, BRK-7.9, BT-24, GATHERD-13.9
  const missing = missingAttributes(book);
  if (missing.length > 0) return { rejected: `no readable ${missing.join(', ')}` };
  if (isRemoved(rows, change)) return 'duplicates';

  const old = rows.entriesOf(entry.url).find((other) => sameGatherer(other, book));
  if (old !== undefined && isKnown(old, entry) && !isOfWrongPeer(old, change)) {
    return winsByArrival(rows, old, change) ? putAfter(rows, old, change) : 'duplicates';
  }

  // SOIF-6.6: the same content under another URL. It also replaces this Gatherer's former object of the URL.
  const sameContent = rows.oidOfMark(mark);
  if (sameContent !== undefined && sameContent !== old?.oid) {
    if (old !== undefined) removeAndRecord(rows, old);
    return 'duplicates';
  }
  // GATHERD-13.10: when that time has come, the clock that said it may have been set back long ago.
  const arrivalTime = entry.arrivalTime === true || (!change.relayed && entry.updateTime > rows.now);
  rows.put({ ...entry, arrivalTime, oid: old?.oid ?? rows.newOid() }, bytes);
  return old === undefined ? 'added' : 'updated';
}

/** SOIF-6.6: identical, or older than the stored object of the same Gatherer, of any version. */
function isKnown(old: RegistryEntry, entry: RegistryEntry): boolean {
  if (old.updateTime !== entry.updateTime) return old.updateTime > entry.updateTime;
  return old.gathererVersion === entry.gathererVersion;
}

/**
 * GATHERD-13.10: whether a change that a Gatherer sends now is newer than the stored object, although its
 * Update-Time is not: the stored time is that of a wrong clock. Brokers among themselves keep the order of the
 * times, which is the same for all of them.
 */
function winsByArrival(rows: RegistryRows, old: RegistryEntry, change: ParsedChange): boolean {
  const { entry } = change;
  if (!isDecidedByArrival(old, change) && (change.relayed || old.updateTime <= rows.now)) return false;
  if (!change.numbered && old.updateTime === entry.updateTime && old.md5 === entry.md5) return false;
  // The same version again, with its own time.
  return isOtherContent(old, entry);
}

/**
 * Whether another Broker, whose clock is wrong, has sent a version of which only that is known. It is shown, but its time
 * wins nowhere else: the next one from a right clock replaces it.
 */
function isOfWrongPeer(old: RegistryEntry, change: ParsedChange): boolean {
  return isPlaced(old, change) && old.arrivalTime !== true && isOtherContent(old, change.entry);
}

/**
 * Whether a change has the place of a wrong time, and comes from where the stored version came from. Of one that came
 * another way it is not known which is newer: when that Broker has repaired its times, it sends them again.
 */
function isPlaced({ source = 0 }: RegistryEntry, { relayed, entry, options }: ParsedChange): boolean {
  return relayed && entry.arrivalTime === true && (source === 0 || source === options.source);
}

function isOtherContent(old: RegistryEntry, entry: RegistryEntry): boolean {
  return old.md5 === '' || old.md5 !== entry.md5 || old.length !== entry.length;
}

/** Whether the order of arrival decides, not that of the times. */
function isDecidedByArrival(old: RegistryEntry, { relayed, numbered, options }: ParsedChange): boolean {
  const { source = 0, arrivalTime = false } = old;
  return !relayed && (numbered || arrivalTime) && options.others?.has(source) !== true;
}

/** Stores a version under the time after that of the former one, so that every Broker takes it for newer. */
function putAfter(
  rows: RegistryRows,
  old: RegistryEntry,
  { entry, bytes, object }: ParsedChange,
): Outcome | Promise<Outcome> {
  const updateTime = Math.max(entry.updateTime, old.updateTime + 1);
  // Should the former time be wrong, that of this version was right.
  const fallbackTime = Math.max(fallbackTimeAfter(old, updateTime), entry.updateTime);
  const put = (renewed: SoifBytes): Outcome => {
    const times = { updateTime, fallbackTime, arrivalTime: true };
    rows.put({ ...entry, ...times, length: renewed.length, oid: old.oid }, renewed);
    return 'updated';
  };
  const renewed = withTimes(bytes, { updateTime }, object);
  return renewed instanceof Promise ? renewed.then(put) : put(renewed);
}

/** GATHERD-13.8: renews the times of a known object and leaves its content alone. */
function refresh(rows: RegistryRows, change: ParsedChange): Outcome | Promise<Outcome> {
  const { object, book } = change;
  const { updateTime } = book;
  if (updateTime === undefined) return { rejected: 'no readable Update-Time' };
  const known = rows.entriesOf(object.url).filter((entry) => sameGatherer(entry, book));
  if (known.length === 0) return isRemoved(rows, change) ? 'duplicates' : 'unknown';

  const older = known.filter((entry) => entry.updateTime < updateTime || isDecidedByArrival(entry, change));
  const stored = older.map(({ oid }) => rows.object(oid));
  const missing = older.find((_, i) => stored[i] === undefined);
  if (missing !== undefined) return { rejected: `object ${missing.oid} has no stored bytes` };
  const put = (entry: RegistryEntry, bytes: SoifBytes) =>
    rows.put(
      { ...renew(entry, book), length: bytes.length, source: change.options.source ?? 0 },
      bytes,
      true,
    );
  const large: [RegistryEntry, ByteSource][] = [];
  for (const [i, entry] of older.entries()) {
    const bytes = stored[i];
    if (bytes instanceof Uint8Array) put(entry, renewBytes(bytes, object));
    else if (bytes !== undefined) large.push([entry, bytes]);
  }
  if (large.length === 0) return older.length > 0 ? 'refreshed' : 'duplicates';
  return renewLarge(large, object, put);
}

async function renewLarge(
  large: readonly (readonly [RegistryEntry, ByteSource])[],
  source: SoifObject,
  put: (entry: RegistryEntry, bytes: SoifBytes) => void,
): Promise<'refreshed'> {
  for (const [entry, bytes] of large)
    put(entry, rewriteLarge(bytes, await readOutline(bytes), renewedValues(source)));
  return 'refreshed';
}

function renew(entry: RegistryEntry, book: Bookkeeping): RegistryEntry {
  return {
    ...entry,
    gathererVersion: book.gathererVersion ?? entry.gathererVersion,
    updateTime: book.updateTime ?? entry.updateTime,
    lastModificationTime: book.lastModificationTime ?? entry.lastModificationTime,
    refreshRate: book.refreshRate ?? entry.refreshRate,
    timeToLive: book.timeToLive ?? entry.timeToLive,
    arrivalTime: false,
  };
}

/** Renews the values of {@link REFRESHED_NAMES}; every other value stays byte for byte. */
function renewBytes(stored: Uint8Array, source: SoifObject): Uint8Array {
  return encodeSoif(decodeSoif(stored, { maxObjectBytes: stored.length }).with(renewedValues(source)));
}

function renewedValues(source: SoifObject): (readonly [name: string, value: Uint8Array])[] {
  return REFRESHED_NAMES.flatMap((name) => {
    const value = source.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** GATHERD-13.8, SOIF-8.4: the URL and, if given, the Gatherer name the objects. An older deletion is stale. */
function remove(rows: RegistryRows, change: ParsedChange): Outcome {
  const { object, book } = change;
  const known = rows.entriesOf(object.url).filter((entry) => sameGatherer(entry, book));
  const expired = known.filter(
    (entry) =>
      !isNewer(entry, book.updateTime) || isDecidedByArrival(entry, change) || isPlaced(entry, change),
  );
  // A deletion by a wrong clock must not win over a version that follows.
  for (const entry of expired)
    removeAndRecord(rows, entry, isPlaced(entry, change) ? entry.updateTime + 1 : book.updateTime);
  if (expired.length > 0) return 'deleted';

  // BT-27: there is nothing to delete, but a third Broker may still send the object.
  if (change.relayed && known.length === 0 && !isRemoved(rows, change)) {
    const removal = relayedRemoval(object.url, book, rows.now);
    if (removal !== undefined) rows.putRemoval(removal);
  }
  return known.length === 0 && change.expired !== true ? 'absent' : 'duplicates';
}

function isNewer(entry: RegistryEntry, time: UnixSeconds | undefined): boolean {
  return time !== undefined && entry.updateTime > time;
}

/** Whether the change comes from another Broker and a removal of the same or a later Update-Time is stored. */
function isRemoved(rows: RegistryRows, { relayed, identity, book, entry }: ParsedChange): boolean {
  const removal = relayed ? rows.removal(identity) : undefined;
  // The place of a wrong time says nothing about a removal, so its arrival does.
  const time = entry.arrivalTime === true ? rows.now : (book.updateTime ?? 0);
  return removal !== undefined && removal.updateTime >= time;
}

/**
 * Removes an object and records its removal for other Brokers (BT-5).
 *
 * @param deletionTime see {@link removalOf}
 */
export function removeAndRecord(rows: RegistryRows, entry: RegistryEntry, deletionTime?: UnixSeconds): void {
  rows.remove(entry);
  const removal = removalOf(entry, rows.now, deletionTime);
  if (removal !== undefined) rows.putRemoval(removal);
}
