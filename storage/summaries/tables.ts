// The tables of summaries and tombstones beside the summaries themselves (summary-rows.ts).
import type { UnixSeconds } from '../../protocols/time.js';
import { keyOrder, keysOf, keyUrl, orderedUrlKey, TABLE, urlKeys } from '../level/keys.js';
import { SingleRow, TableFormat } from '../level/table.js';
import { type GathererCounters, rowCodec, type TombstoneRecord } from '../records/records.js';

/** A deleted summary, as Brokers receive it (GATHERD-4.9). */
export interface Tombstone extends TombstoneRecord, TombstoneKey {}

interface TombstoneKey {
  readonly url: string;
  readonly deletionTime: UnixSeconds;
}

/** The counters of a store or generation. */
export const GATHERER_COUNTERS = new SingleRow<GathererCounters>('counters', rowCodec('GathererCounters'), {
  summaries: 0,
  tombstones: 0,
});

/** The Update-Time of each URL's summary. */
export const IDENTITIES = new TableFormat(
  urlKeys(TABLE.identities),
  rowCodec<{ readonly updateTime: UnixSeconds }>('SummaryIdentity'),
).map<UnixSeconds>(
  ({ updateTime }) => updateTime,
  (updateTime) => ({ updateTime }),
);

export const TOMBSTONES = new TableFormat<TombstoneKey, TombstoneRecord>(
  keysOf(
    TABLE.tombstones,
    (table, { deletionTime, url }) => orderedUrlKey(table, deletionTime, url),
    (key) => ({ url: keyUrl(key, 9), deletionTime: keyOrder(key) }),
  ),
  rowCodec('Tombstone'),
).map<Tombstone>(
  (record, key) => ({ ...key, ...record }),
  (tombstone) => tombstone,
);

/** The deletion time of each URL's tombstone. */
export const TOMBSTONE_IDENTITIES = new TableFormat(
  urlKeys(TABLE.tombstoneIdentities),
  rowCodec<{ readonly deletionTime: UnixSeconds }>('TombstoneIdentity'),
).map<UnixSeconds>(
  ({ deletionTime }) => deletionTime,
  (deletionTime) => ({ deletionTime }),
);
