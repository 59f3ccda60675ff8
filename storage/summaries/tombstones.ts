// Deleted summaries, which Brokers receive until the objects would have expired (GATHERD-4.9).
import { decodeSoif, encodeSoif, lastValidSecond, SoifObject } from '../../protocols/soif/index.js';
import { type UnixSeconds, YEAR } from '../../protocols/time.js';
import { keyOrder, keyUrl, orderedKey, orderedUrlKey, TABLE, tableRange, urlKey } from '../level/keys.js';
import type { Level } from '../level/level.js';
import { type TombstoneRecord, tombstoneCodec } from '../records/records.js';

/** A deleted summary, as Brokers receive it (GATHERD-4.9). */
export interface Tombstone extends TombstoneRecord {
  readonly url: string;
  readonly deletionTime: UnixSeconds;
}

/** How long the tombstone of an object that never expires (SOIF-6.7) is kept, in seconds. */
const DEFAULT_TOMBSTONE_SECONDS = YEAR;
const PAGE_ROWS = 1000;
/** The attributes that identify an object together with its URL (SOIF-6.6). */
const IDENTITY = ['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version'] as const;

/** The tombstones of a working store or a generation. */
export class TombstoneStore {
  readonly #level: Level;
  readonly #count: () => number;

  constructor(level: Level, count: () => number) {
    this.#level = level;
    this.#count = count;
  }

  get count(): number {
    return this.#count();
  }

  /** Deletions at or after `since`, in their order, in pages. */
  async *since(since: UnixSeconds): AsyncGenerator<Tombstone[], void, undefined> {
    if (this.count === 0) return;
    const range = { ...tableRange(TABLE.tombstones), gte: orderedKey(TABLE.tombstones, since) };
    for await (const page of this.#level.pages(range, { limit: PAGE_ROWS })) {
      yield page.map(([key, value]) => ({
        url: keyUrl(key, 9),
        deletionTime: keyOrder(key),
        ...tombstoneCodec.decode(value),
      }));
    }
  }
}

export function tombstoneKey(deletionTime: UnixSeconds, url: string): Uint8Array {
  return orderedUrlKey(TABLE.tombstones, deletionTime, url);
}

export function tombstoneIdentityKey(url: string): Uint8Array {
  return urlKey(TABLE.tombstoneIdentities, url);
}

/**
 * Makes the tombstone of a summary that is deleted at `deletedAt`; undefined if it has expired by then, because a Broker
 * removes expired objects without being told. SOIF-8.4: URL and Gatherer identify the object; the Update-Time exempts a later one.
 */
export function tombstoneOf(
  summary: { readonly updateTime: UnixSeconds; readonly timeToLive: number; readonly soif: Uint8Array },
  deletedAt: UnixSeconds,
): TombstoneRecord | undefined {
  const { updateTime, timeToLive, soif } = summary;
  // A summary without an Update-Time is stored under 0.
  const lastValid = lastValidSecond({ updateTime: updateTime === 0 ? undefined : updateTime, timeToLive });
  const expires = Number.isFinite(lastValid) ? lastValid : deletedAt + DEFAULT_TOMBSTONE_SECONDS;
  if (expires < deletedAt) return undefined;
  const object = decodeSoif(soif, { maxObjectBytes: Math.max(soif.length, 1) });
  const identity = IDENTITY.flatMap((name) => {
    const value = object.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const remains = SoifObject.of(object.type, object.url, [...identity, ['Update-Time', String(deletedAt)]]);
  return { soif: encodeSoif(remains), expires };
}
