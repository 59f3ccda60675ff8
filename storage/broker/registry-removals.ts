import { createHash } from 'node:crypto';
import { DEFAULT_TIME_TO_LIVE, type UnixSeconds, YEAR } from '../../protocols/time.js';
import { bytesKey, orderedBytesKey, TABLE } from '../level/keys.js';
import type { RegistryEntry, Removal } from '../records/records.js';
import { type Bookkeeping, lastValidSecond } from './registry.js';

/** Stands for a URL at a Gatherer, of which a store has an object, or a removal, or neither; 32 hexadecimal digits. */
export type RemovalIdentity = string;

/** How long a removal is told of when the object itself would never have expired (SOIF-6.7), seconds. */
const FOREVER = YEAR;
const IDENTITY_BYTES = 16;

/** The version is no part of it: a Gatherer's next version writes the same objects (GATHERD-13.8). */
export function removalIdentity(
  url: string,
  gathererName: string | undefined,
  gathererHost: string | undefined,
): RemovalIdentity | undefined {
  if (gathererName === undefined || gathererHost === undefined) return undefined;
  const hash = createHash('sha256');
  hash.update(`${gathererName.length}.${gathererHost.length} ${gathererName}${gathererHost}${url}`);
  return hash.digest('hex').slice(0, 2 * IDENTITY_BYTES);
}

export function identityOfEntry(entry: RegistryEntry): RemovalIdentity {
  return removalIdentity(entry.url, entry.gathererName, entry.gathererHost) ?? '';
}

export function removalKey(identity: RemovalIdentity): Uint8Array {
  return bytesKey(TABLE.removals, Buffer.from(identity, 'hex'));
}

export function removalTimeKey(removed: UnixSeconds, identity: RemovalIdentity): Uint8Array {
  return orderedBytesKey(TABLE.removalTimes, removed, Buffer.from(identity, 'hex'));
}

export function removalExpiryKey(expires: UnixSeconds, identity: RemovalIdentity): Uint8Array {
  return orderedBytesKey(TABLE.removalExpiries, expires, Buffer.from(identity, 'hex'));
}

/** The identity that ends the key of a time or an expiry. */
export function identityOfKey(key: Uint8Array): RemovalIdentity {
  return Buffer.from(key.subarray(9)).toString('hex');
}

/**
 * What is to be remembered of an object that is removed at `removed`: undefined when nobody can have it any more, because
 * whoever had it has dropped it by itself.
 *
 * @param saidTime the Update-Time that the deletion names, when that is later than the object's own: what its Gatherer
 *   wrote until then is gone as well, though this Broker may not have seen it.
 */
export function removalOf(entry: RegistryEntry, removed: UnixSeconds, saidTime = 0): Removal | undefined {
  const { url, gathererName, gathererHost, gathererVersion, md5, timeToLive } = entry;
  const updateTime = Math.max(entry.updateTime, saidTime);
  const latest = Math.max(removed + FOREVER, lastValidSecond(entry) ?? 0);
  const expires = timeToLive === 0 ? latest : Math.min(updateTime + timeToLive, latest);
  if (expires < removed) return undefined;
  const object = { url, gathererName, gathererHost, gathererVersion, md5, timeToLive };
  return { ...object, updateTime, removed, expires };
}

/**
 * What is to be remembered of an object that another Broker removed and that is not here: it may yet come from a third one
 * that still has it. Undefined when the deletion does not say what it means, or nobody can have the object any more.
 */
export function relayedRemoval(url: string, book: Bookkeeping, removed: UnixSeconds): Removal | undefined {
  const { gathererName, gathererHost, updateTime } = book;
  if (gathererName === undefined || gathererHost === undefined || updateTime === undefined) return undefined;
  const timeToLive = book.timeToLive ?? DEFAULT_TIME_TO_LIVE;
  const latest = removed + FOREVER;
  const expires = timeToLive === 0 ? latest : Math.min(updateTime + timeToLive, latest);
  if (expires < removed) return undefined;
  const gathererVersion = book.gathererVersion ?? '';
  const md5 = book.md5 ?? '';
  return { url, gathererName, gathererHost, gathererVersion, md5, updateTime, removed, expires, timeToLive };
}
