// The tables of summaries and tombstones beside the summaries themselves (summary-rows.ts).
import type { UnixSeconds } from '../../protocols/time.js';
import { type GathererCounters, rowCodec, type TombstoneRecord } from '../records/records.js';
import { keyOrder, keysOf, keyUrl, orderedUrlKey, TABLE, textKeys, urlKeys } from '../rows/keys.js';
import { SingleRow, TableFormat } from '../rows/table.js';

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
  sequence: 0,
  origin: '',
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

/** Where each URL's tombstone is. */
export interface TombstoneIdentity {
  readonly deletionTime: UnixSeconds;
  /** Number of the deletion; 0 in rows of earlier versions. */
  readonly sequence: number;
}

export const TOMBSTONE_IDENTITIES = new TableFormat(
  urlKeys(TABLE.tombstoneIdentities),
  rowCodec<TombstoneIdentity>('TombstoneIdentity'),
);

interface SequenceKey {
  readonly sequence: number;
  readonly url: string;
}

/** A change by its number (GATHERD-6.13): the last one of a URL. */
export interface SummarySequence {
  /** Of the summary; of the deletion if `contentSequence` is 0. */
  readonly updateTime: UnixSeconds;
  /** Number of the change that made the content of the summary; 0 = a tombstone. */
  readonly contentSequence: number;
}

export const SEQUENCES = new TableFormat<SequenceKey, SummarySequence>(
  keysOf(
    TABLE.sequences,
    (table, { sequence, url }) => orderedUrlKey(table, sequence, url),
    (key) => ({ url: keyUrl(key, 9), sequence: keyOrder(key) }),
  ),
  rowCodec('SummarySequence'),
).map<SummarySequence & SequenceKey>(
  (record, key) => ({ ...key, ...record }),
  (row) => row,
);

/** The number of the first change of each epoch, by the name of the epoch. */
export const EPOCHS = new TableFormat(
  textKeys(TABLE.epochs),
  rowCodec<{ readonly first: number }>('SequenceEpoch'),
).map<number>(
  ({ first }) => first,
  (first) => ({ first }),
);
