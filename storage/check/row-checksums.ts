// Finds and drops the rows that do not match their checksum. A store may hold such rows although its files are
// sound.
import { messageOf, StorageError } from '../../protocols/errors.js';
import { BROKER_COUNTERS, CHANGES, ENTRIES, MARKS, POINTS, REMOVALS, URLS } from '../broker/tables.js';
import { ROWS } from '../gatherer/tables.js';
import type { Level } from '../level/level.js';
import type { StoreKind } from '../rows/contract.js';
import {
  EPOCHS,
  GATHERER_COUNTERS,
  IDENTITIES,
  SEQUENCES,
  TOMBSTONE_IDENTITIES,
  TOMBSTONES,
} from '../summaries/tables.js';

const PAGE = { limit: 1000, bytes: 1 << 20 };

/**
 * The counters' row and the tables whose rows have a checksum. Objects, their parts, summaries and fetch
 * histories have other checks.
 */
const CHECKED = {
  gatherer: {
    counters: GATHERER_COUNTERS,
    tables: [IDENTITIES, SEQUENCES, EPOCHS, TOMBSTONES, TOMBSTONE_IDENTITIES, ...Object.values(ROWS)],
  },
  broker: { counters: BROKER_COUNTERS, tables: [ENTRIES, URLS, MARKS, CHANGES, POINTS, REMOVALS] },
} as const;

interface DamagedRow {
  readonly key: Uint8Array;
  /** A sentence for the operator. */
  readonly problem: string;
}

async function* damagedRows(level: Level, kind: StoreKind): AsyncGenerator<DamagedRow, void, undefined> {
  const { counters, tables } = CHECKED[kind];
  const row = await level.get(counters.key);
  const problem = row && problemOf(counters.key, () => counters.codec.decode(row));
  if (problem !== undefined) yield { key: counters.key, problem };
  for (const table of tables) {
    for await (const page of level.pages(table.keys.range, PAGE)) {
      for (const entry of page) {
        const found = problemOf(entry[0], () => table.decodeRow(entry));
        if (found !== undefined) yield { key: entry[0], problem: found };
      }
    }
  }
}

function problemOf(key: Uint8Array, decode: () => unknown): string | undefined {
  try {
    decode();
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
