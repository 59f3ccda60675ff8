// The tables of the Broker's store whose rows are records; those of objects are in object-rows.ts and
// large-objects.ts.
import { createHash } from 'node:crypto';
import type { UnixSeconds } from '../../protocols/time.js';
import {
  type BrokerCounters,
  type RegistryEntry,
  type Removal,
  rowCodec,
  urlCodec,
} from '../records/records.js';
import {
  bytesKey,
  keysOf,
  keyText,
  oidKeys,
  orderedKeys,
  TABLE,
  textKey,
  textKeys,
  urlKeys,
} from '../rows/keys.js';
import { SingleRow, TableFormat } from '../rows/table.js';

/** Two objects with equal marks are the same one, whatever their URLs (SOIF-6.6). */
export type ContentMark = string;

/**
 * Digest of a URL and its Gatherer, for which a store has an object, a removal or neither; 32 hexadecimal
 * digits.
 */
export type RemovalIdentity = string;

/** An entry of the change log. Only the last change of an OID matters to a follower. */
export interface StoreChange {
  readonly sequence: number;
  readonly oid: number;
  readonly kind: 'put' | 'remove';
}

/** The longest content mark that is a key as it is; a longer one is replaced by its digest. */
const MAX_MARK_CHARACTERS = 256;

export const BROKER_COUNTERS = new SingleRow<BrokerCounters>('counters', rowCodec('BrokerCounters'), {
  objects: 0,
  sequence: 0,
  nextOid: 1,
  trimmed: 0,
  lastChange: 0,
  removals: 0,
  setBackTo: 0,
  setBackFrom: 0,
});

/** The Registry's entries, by OID. */
export const ENTRIES = new TableFormat(
  oidKeys(TABLE.entries),
  urlCodec<Omit<RegistryEntry, 'oid'>>('RegistryEntry'),
).map<RegistryEntry>(
  (record, oid) => ({ oid, ...record }),
  (entry) => entry,
);

/** The OIDs of the objects of each URL. */
export const URLS = new TableFormat(
  urlKeys(TABLE.urls),
  rowCodec<{ readonly oids: readonly number[] }>('UrlObjects'),
).map<readonly number[]>(
  ({ oids }) => oids,
  (oids) => ({ oids }),
);

/** The OID of the object with each content mark. */
export const MARKS = new TableFormat(
  keysOf<ContentMark>(
    TABLE.marks,
    (table, mark) => {
      const digest = () => createHash('sha256').update(mark).digest('hex');
      return textKey(table, mark.length <= MAX_MARK_CHARACTERS ? mark : `sha256 ${digest()}`);
    },
    keyText,
  ),
  rowCodec<{ readonly oid: number }>('ContentMark'),
).map<number>(
  ({ oid }) => oid,
  (oid) => ({ oid }),
);

/** The change log, by sequence. */
export const CHANGES = new TableFormat(
  orderedKeys(TABLE.changes),
  rowCodec<{ readonly oid: number; readonly removed: boolean }>('Change'),
).map<StoreChange>(
  ({ oid, removed }, sequence) => ({ sequence, oid, kind: removed ? 'remove' : 'put' }),
  ({ oid, kind }) => ({ oid, removed: kind === 'remove' }),
);

/** What was received from a collection point. */
export interface PointState {
  readonly last: UnixSeconds;
  /** The name of the Gatherer's database (GATHERD-6.13); empty if it has none. */
  readonly origin: string;
  /** Number of its last change that was received; 0 = everything is requested. */
  readonly sequence: number;
}

/** The state of each collection point, by its key. */
export const POINTS = new TableFormat(textKeys(TABLE.points), rowCodec<PointState>('CollectionPoint'));

/** How far one that follows the change log has read it. */
export interface Follower {
  readonly sequence: number;
  readonly seen: UnixSeconds;
}

/** Those that follow the change log of a store that several Brokers share, by name. */
export const FOLLOWERS = new TableFormat(textKeys(TABLE.followers), rowCodec<Follower>('Follower'));

/** The last collection from a point that ended. Times by the database's clock, milliseconds. */
export interface CollectionRun {
  readonly begun: number;
  readonly ended: number;
  /** Whether everything was received. */
  readonly complete: boolean;
  /** Objects that were received. */
  readonly received: number;
  /** The Broker that collected. */
  readonly owner: string;
}

/** The last collections of Brokers that share a store, by the keys of the points. */
export const RUNS = new TableFormat(textKeys(TABLE.runs), rowCodec<CollectionRun>('CollectionRun'));

/** When a collection from all points was requested, milliseconds. */
export const COLLECTION_REQUEST = new SingleRow<{ readonly at: number }>(
  'collection request',
  rowCodec('CollectionRequest'),
  { at: 0 },
);

/** The removals of objects (BT-5). */
export const REMOVALS = new TableFormat<RemovalIdentity, Removal>(
  keysOf(
    TABLE.removals,
    (table, identity) => bytesKey(table, Buffer.from(identity, 'hex')),
    (key) => Buffer.from(key.subarray(1)).toString('hex'),
  ),
  urlCodec('Removal'),
);
