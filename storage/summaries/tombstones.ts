import { decodeSoif, encodeSoif, SoifObject } from '../../protocols/soif/index.js';
import { type UnixSeconds, YEAR } from '../../protocols/time.js';
import { keyOrder, keyText, orderedKey, TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level } from '../level/level.js';
import { type TombstoneRecord, tombstoneCodec } from '../records/records.js';

/** A summary that was deleted, as a Broker is told of it (GATHERD-4.9). */
export interface Tombstone extends TombstoneRecord {
  readonly url: string;
  readonly deletionTime: UnixSeconds;
}

/** How long a deletion is told of when the object itself would never have expired (SOIF-6.7), seconds. */
const FOREVER = YEAR;
const PAGE_ROWS = 1000;
/** What identifies an object besides its URL (SOIF-6.6). */
const IDENTITY = ['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version'] as const;

/** The deletions that a working store or a generation remembers. */
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

  /** Deletions at or after `since`, in the order in which they happened, in pages. */
  async *since(since: UnixSeconds): AsyncGenerator<Tombstone[], void, undefined> {
    if (this.count === 0) return;
    const range = { ...tableRange(TABLE.tombstones), gte: orderedKey(TABLE.tombstones, since) };
    for await (const page of this.#level.pages(range, { limit: PAGE_ROWS })) {
      yield page.map(([key, value]) => ({
        url: keyText(key, 9),
        deletionTime: keyOrder(key),
        ...tombstoneCodec.decode(value),
      }));
    }
  }
}

export function tombstoneKey(deletionTime: UnixSeconds, url: string): Uint8Array {
  return orderedKey(TABLE.tombstones, deletionTime, url);
}

export function tombstoneIdentityKey(url: string): Uint8Array {
  return textKey(TABLE.tombstoneIdentities, url);
}

/**
 * What is to be kept of a summary that is deleted at `deletedAt`: undefined when it has expired by then, because whoever
 * collected it drops it by itself. SOIF-8.4: URL and Gatherer; the Update-Time says which later object the deletion
 * does not mean.
 */
export function tombstoneOf(
  summary: { readonly updateTime: UnixSeconds; readonly timeToLive: number; readonly soif: Uint8Array },
  deletedAt: UnixSeconds,
): TombstoneRecord | undefined {
  const { updateTime, timeToLive, soif } = summary;
  const expires = updateTime > 0 && timeToLive > 0 ? updateTime + timeToLive : deletedAt + FOREVER;
  if (expires < deletedAt) return undefined;
  const object = decodeSoif(soif, { maxObjectBytes: Math.max(soif.length, 1) });
  const identity = IDENTITY.flatMap((name) => {
    const value = object.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const left = SoifObject.of(object.type, object.url, [...identity, ['Update-Time', String(deletedAt)]]);
  return { soif: encodeSoif(left), expires };
}
