// Rows whose bytes do not match their checksum: a store may hold them although its files are sound.
import { messageOf, StorageError } from '../../protocols/errors.js';
import { BROKER_COUNTERS_KEY } from '../broker/registry-rows.js';
import { TABLE, type Table, tableRange } from '../level/keys.js';
import type { Level, StoreKind } from '../level/level.js';
import {
  brokerCountersCodec,
  changeCodec,
  collectionPointCodec,
  contentMarkCodec,
  documentCodec,
  gathererCountersCodec,
  metaValueCodec,
  queuedUriCodec,
  queueRecordCodec,
  type RecordCodec,
  referenceDocumentCodec,
  referenceLinksCodec,
  referenceServerCodec,
  registryEntryCodec,
  removalCodec,
  summaryIdentityCodec,
  tombstoneCodec,
  tombstoneIdentityCodec,
  urlObjectsCodec,
  waitingUriCodec,
} from '../records/records.js';
import { COUNTERS_KEY } from '../summaries/summary-store.js';

const PAGE = { limit: 1000, bytes: 1 << 20 };

/** Each table with the codec of its rows. Objects, their parts, summaries and fetch histories have other checks. */
const CODECS: Readonly<Record<StoreKind, readonly (readonly [Table, RecordCodec<unknown>])[]>> = {
  gatherer: [
    [TABLE.identities, summaryIdentityCodec],
    [TABLE.tombstones, tombstoneCodec],
    [TABLE.tombstoneIdentities, tombstoneIdentityCodec],
    [TABLE.documents, documentCodec],
    [TABLE.queues, queuedUriCodec],
    [TABLE.waiting, waitingUriCodec],
    [TABLE.queueRecords, queueRecordCodec],
    [TABLE.meta, metaValueCodec],
    [TABLE.referenceDocuments, referenceDocumentCodec],
    [TABLE.referenceServers, referenceServerCodec],
    [TABLE.referenceLinks, referenceLinksCodec],
  ],
  broker: [
    [TABLE.entries, registryEntryCodec],
    [TABLE.urls, urlObjectsCodec],
    [TABLE.marks, contentMarkCodec],
    [TABLE.changes, changeCodec],
    [TABLE.points, collectionPointCodec],
    [TABLE.removals, removalCodec],
  ],
};

const COUNTERS = {
  gatherer: [COUNTERS_KEY, gathererCountersCodec],
  broker: [BROKER_COUNTERS_KEY, brokerCountersCodec],
} as const;

interface DamagedRow {
  readonly key: Uint8Array;
  /** A sentence. */
  readonly problem: string;
}

async function* damagedRows(level: Level, kind: StoreKind): AsyncGenerator<DamagedRow, void, undefined> {
  const [key, codec] = COUNTERS[kind];
  const counters = await level.get(key);
  const problem = counters && problemOf(codec, key, counters);
  if (problem !== undefined) yield { key, problem };
  for (const [table, rowCodec] of CODECS[kind]) {
    for await (const page of level.pages(tableRange(table), PAGE)) {
      for (const [rowKey, value] of page) {
        const found = problemOf(rowCodec, rowKey, value);
        if (found !== undefined) yield { key: rowKey, problem: found };
      }
    }
  }
}

function problemOf(codec: RecordCodec<unknown>, key: Uint8Array, value: Uint8Array): string | undefined {
  try {
    codec.decode(value);
    return undefined;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return `row ${Buffer.from(key).toString('hex')}: ${messageOf(error).replace(/;.*$/s, '')}`;
  }
}

/** Sentences about the rows that do not match their checksums, at most `limit`. */
export async function checkRowSums(level: Level, kind: StoreKind, limit: number): Promise<string[]> {
  const problems: string[] = [];
  for await (const { problem } of damagedRows(level, kind)) {
    problems.push(problem);
    if (problems.length >= limit) break;
  }
  return problems;
}

/** Deletes the rows that do not match their checksums. @returns their number */
export async function dropDamagedRows(level: Level, kind: StoreKind): Promise<number> {
  const keys: Uint8Array[] = [];
  for await (const { key } of damagedRows(level, kind)) keys.push(key);
  if (keys.length > 0) await level.write(keys.map((key) => ({ key })));
  return keys.length;
}
