// Deleted summaries, which Brokers receive until the objects would have expired (GATHERD-4.9).
import { decodeSoif, encodeSoif, lastValidSecond, SoifObject } from '../../protocols/soif/index.js';
import { type UnixSeconds, YEAR } from '../../protocols/time.js';
import type { TombstoneRecord } from '../records/records.js';
import type { RowReader } from '../rows/contract.js';
import { orderedKey, TABLE } from '../rows/keys.js';
import { Table } from '../rows/table.js';
import { TOMBSTONES, type Tombstone } from './tables.js';

/** How long the tombstone of an object that never expires (SOIF-6.7) is kept, in seconds. */
const DEFAULT_TOMBSTONE_SECONDS = YEAR;
/** The attributes that identify an object together with its URL (SOIF-6.6). */
const IDENTITY = ['Gatherer-Name', 'Gatherer-Host', 'Gatherer-Version'] as const;

/** The tombstones of a working store or a generation. */
export class TombstoneStore {
  readonly #database: RowReader;
  readonly #count: () => number;

  constructor(database: RowReader, count: () => number) {
    this.#database = database;
    this.#count = count;
  }

  get count(): number {
    return this.#count();
  }

  /** Deletions at or after `since`, in their order, in pages. */
  async *since(since: UnixSeconds): AsyncGenerator<Tombstone[], void, undefined> {
    if (this.count === 0) return;
    const range = { ...TOMBSTONES.keys.range, gte: orderedKey(TABLE.tombstones, since) };
    yield* new Table(this.#database, TOMBSTONES).pages({ range });
  }
}

/**
 * Makes the tombstone of a summary that is deleted at `deletedAt`; undefined if it has expired by then, because
 * a Broker removes expired objects without being told. SOIF-8.4: URL and Gatherer identify the object; the
 * Update-Time exempts a later one.
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
