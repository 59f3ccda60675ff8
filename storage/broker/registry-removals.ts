// The removals of objects, which tell other Brokers that an object is gone (BT-5): their identity, their keys
// and how long they are kept.
import { createHash } from 'node:crypto';
import { bytesOfUrl, lastValidSecond } from '../../protocols/soif/index.js';
import { DEFAULT_TIME_TO_LIVE, type UnixSeconds, YEAR } from '../../protocols/time.js';
import type { RegistryEntry, Removal } from '../records/records.js';
import { orderedBytesKey, TABLE } from '../rows/keys.js';
import type { Bookkeeping } from './registry-entry.js';
import type { RemovalIdentity } from './tables.js';
import { fallbackTimeAfter, placeOfWrongTime } from './wrong-times.js';

/** How long the removal of an object that never expires (SOIF-6.7) is kept, in seconds. */
const DEFAULT_REMOVAL_SECONDS = YEAR;
const IDENTITY_BYTES = 16;

/** The version is not part of it: a Gatherer's next version writes the same objects (GATHERD-13.8). */
export function removalIdentity(
  url: string,
  gathererName: string | undefined,
  gathererHost: string | undefined,
): RemovalIdentity | undefined {
  if (gathererName === undefined || gathererHost === undefined) return undefined;
  const hash = createHash('sha256');
  hash.update(`${gathererName.length}.${gathererHost.length} ${gathererName}${gathererHost}`);
  hash.update(bytesOfUrl(url));
  return hash.digest('hex').slice(0, 2 * IDENTITY_BYTES);
}

export function identityOfEntry(entry: RegistryEntry): RemovalIdentity {
  return removalIdentity(entry.url, entry.gathererName, entry.gathererHost) ?? '';
}

/** Keys of a removal in the tables that are ordered by its time and its expiry. */
export function removalKeys(identity: RemovalIdentity, { removed, expires }: Removal): Uint8Array[] {
  const bytes = Buffer.from(identity, 'hex');
  return [
    orderedBytesKey(TABLE.removalTimes, removed, bytes),
    orderedBytesKey(TABLE.removalExpiries, expires, bytes),
  ];
}

/** The identity at the end of the key of a time or an expiry. */
export function identityOfKey(key: Uint8Array): RemovalIdentity {
  return Buffer.from(key.subarray(9)).toString('hex');
}

/**
 * Returns the removal of an object that is deleted at `removed`; undefined if the object has expired by then,
 * because every Broker deletes expired objects by itself.
 *
 * @param deletionTime Update-Time of the deletion, if later than the object's own: versions of the object up to
 *   then are deleted too, even if this Broker has not seen them.
 */
export function removalOf(entry: RegistryEntry, removed: UnixSeconds, deletionTime = 0): Removal | undefined {
  const { url, gathererName, gathererHost, gathererVersion, md5, timeToLive } = entry;
  const updateTime = Math.max(entry.updateTime, deletionTime);
  const unexpiring = removed + DEFAULT_REMOVAL_SECONDS;
  const ownLast = lastValidSecond(entry);
  const latest = Number.isFinite(ownLast) ? Math.max(unexpiring, ownLast) : unexpiring;
  const expires = Math.min(lastValidSecond({ updateTime, timeToLive }), latest);
  if (expires < removed) return undefined;
  const object = { url, gathererName, gathererHost, gathererVersion, md5, timeToLive };
  return { ...object, updateTime, removed, expires, fallbackTime: fallbackTimeAfter(entry, updateTime) };
}

/**
 * The removal of an object that another Broker removed and that is not stored: a third Broker that still has it
 * may send it. Undefined if the deletion does not identify the object, or the object has expired.
 */
export function relayedRemoval(url: string, book: Bookkeeping, removed: UnixSeconds): Removal | undefined {
  const { gathererName, gathererHost, updateTime } = book;
  if (gathererName === undefined || gathererHost === undefined || updateTime === undefined) return undefined;
  const timeToLive = book.timeToLive ?? DEFAULT_TIME_TO_LIVE;
  const expires = Math.min(lastValidSecond({ updateTime, timeToLive }), removed + DEFAULT_REMOVAL_SECONDS);
  if (expires < removed) return undefined;
  const gathererVersion = book.gathererVersion ?? '';
  const md5 = book.md5 ?? '';
  return { url, gathererName, gathererHost, gathererVersion, md5, updateTime, removed, expires, timeToLive };
}

/** A removal with a time of a wrong clock, as it would be with the right one: it is kept from now on. */
export function repairedRemoval(removal: Removal, latest: UnixSeconds, now: UnixSeconds): Removal {
  const { timeToLive, expires } = removal;
  const updateTime = removal.updateTime > latest ? placeOfWrongTime(removal, now) : removal.updateTime;
  const last = Math.min(lastValidSecond({ updateTime: now, timeToLive }), now + DEFAULT_REMOVAL_SECONDS);
  return { ...removal, updateTime, removed: now, expires: Math.min(expires, last), fallbackTime: 0 };
}
