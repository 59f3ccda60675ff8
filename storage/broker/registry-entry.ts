// An object's bookkeeping attributes as a Registry entry, and the values that decide whether two objects are
// the same (SOIF-6.6).
import { cutText, decodeText, lastValidSecond, type SoifObject } from '../../protocols/soif/index.js';
import { DEFAULT_REFRESH_RATE, DEFAULT_TIME_TO_LIVE, type UnixSeconds } from '../../protocols/time.js';
import type { RegistryEntry } from '../records/records.js';
import { type KeyRange, orderedKey, orderedOidKey, requireInteger, TABLE, tableRange } from '../rows/keys.js';
import type { ContentMark } from './tables.js';

/** The bookkeeping attributes of an object, before defaults; undefined if absent or not readable. */
export interface Bookkeeping {
  readonly gathererName: string | undefined;
  readonly gathererHost: string | undefined;
  readonly gathererVersion: string | undefined;
  readonly updateTime: UnixSeconds | undefined;
  readonly lastModificationTime: UnixSeconds | undefined;
  readonly refreshRate: number | undefined;
  readonly timeToLive: number | undefined;
  readonly md5: string | undefined;
}

export function readBookkeeping(object: SoifObject): Bookkeeping {
  return {
    gathererName: textOf(object, 'Gatherer-Name'),
    gathererHost: textOf(object, 'Gatherer-Host'),
    gathererVersion: textOf(object, 'Gatherer-Version'),
    updateTime: integerOf(object, 'Update-Time'),
    lastModificationTime: integerOf(object, 'Last-Modification-Time'),
    refreshRate: integerOf(object, 'Refresh-Rate'),
    timeToLive: integerOf(object, 'Time-to-Live'),
    md5: textOf(object, 'MD5')?.toLowerCase(),
  };
}

/**
 * Bytes of a value that an entry keeps: many entries are in memory at once. A longer description is cut,
 * another longer value counts as not readable; so it is for objects that are not held.
 */
const MAX_VALUE_BYTES = 64 * 1024;

function descriptionOf(object: SoifObject): string {
  const value = object.get('Description');
  if (value === undefined) return '';
  return decodeText(cutText(value, MAX_VALUE_BYTES - 1)).trim();
}

/** The attributes that a Broker requires and `book` lacks (SOIF-6.5, BRK-7.9). */
export function missingAttributes(book: Bookkeeping): string[] {
  const missing: string[] = [];
  if (book.gathererName === undefined) missing.push('Gatherer-Name');
  if (book.gathererHost === undefined) missing.push('Gatherer-Host');
  if (book.gathererVersion === undefined) missing.push('Gatherer-Version');
  if (book.updateTime === undefined) missing.push('Update-Time');
  return missing;
}

/**
 * The Registry's entry of an object with the required attributes. Absent times get the defaults of SOIF-6.2.
 * `RegistryRows.put` sets the times of change.
 */
export function entryOf(oid: number, object: SoifObject, book: Bookkeeping, length: number): RegistryEntry {
  return {
    oid,
    url: object.url,
    gathererName: book.gathererName ?? '',
    gathererHost: book.gathererHost ?? '',
    gathererVersion: book.gathererVersion ?? '',
    updateTime: book.updateTime ?? 0,
    lastModificationTime: book.lastModificationTime ?? 0,
    refreshRate: book.refreshRate ?? DEFAULT_REFRESH_RATE,
    timeToLive: book.timeToLive ?? DEFAULT_TIME_TO_LIVE,
    md5: book.md5 ?? '',
    description: descriptionOf(object),
    type: textOf(object, 'Type') ?? '',
    length,
    changed: 0,
    contentChanged: 0,
    contentTime: 0,
  };
}

/**
 * Keys of an entry in the tables that are ordered by a time: its Update-Time, the change of the copy, and, unless
 * it never expires, its last valid second (SOIF-6.8, BRK-7.14), by which {@link expiredRange} selects. A changed
 * rule would leave rows of an earlier process, which e.g. delete a valid object: it requires a new
 * SCHEMA_VERSION.
 */
export function timeKeys(entry: RegistryEntry): Uint8Array[] {
  const { oid, updateTime, changed } = entry;
  const keys = [orderedOidKey(TABLE.times, updateTime, oid), orderedOidKey(TABLE.copies, changed, oid)];
  const last = lastValidSecond(entry);
  if (Number.isFinite(last)) keys.push(orderedOidKey(TABLE.expiries, last, oid));
  return keys;
}

/** The keys of the entries that have expired at `now`: those whose last valid second is before it. */
export function expiredRange(now: UnixSeconds): KeyRange {
  return { ...tableRange(TABLE.expiries), lt: orderedKey(TABLE.expiries, requireInteger(now, 'now')) };
}

/** Whether `entry` can be an object of `book`'s Gatherer; names that `book` lacks match any (SOIF-8.4). */
export function sameGatherer(entry: RegistryEntry, book: Bookkeeping): boolean {
  return (
    (book.gathererName === undefined || book.gathererName === entry.gathererName) &&
    (book.gathererHost === undefined || book.gathererHost === entry.gathererHost)
  );
}

export type MarkSource = Pick<
  RegistryEntry,
  'gathererName' | 'gathererHost' | 'gathererVersion' | 'updateTime' | 'md5'
>;

/**
 * A text that is equal for objects with the same Gatherer, version, Update-Time and MD5 (SOIF-6.6); undefined
 * without MD5. The lengths make it unambiguous.
 */
export function contentMark(source: MarkSource): ContentMark | undefined {
  const { gathererName: name, gathererHost: host, gathererVersion: version, updateTime, md5 } = source;
  if (md5 === '') return undefined;
  return `${name.length}.${host.length}.${version.length} ${name}${host}${version} ${updateTime} ${md5}`;
}

/**
 * Text without the newline that Harvest's summarizers leave at its end (SOIF-2.4); undefined when nothing
 * remains.
 */
function textOf(object: SoifObject, name: string): string | undefined {
  const value = object.get(name);
  if (value === undefined || value.length > MAX_VALUE_BYTES) return undefined;
  const text = decodeText(value).trim();
  return text === '' ? undefined : text;
}

function integerOf(object: SoifObject, name: string): number | undefined {
  const value = object.number(name);
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
