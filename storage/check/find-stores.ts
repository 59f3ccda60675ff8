// Finds everything below a directory that has checksums: databases, published generations, closed indexes.
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SUMS_FILE } from '../files/checksums.js';
import { LIST_FILE } from '../files/file-kinds.js';
import { hadFileList } from '../level/verify/log-lengths.js';
import { readSeal } from '../level/verify/seal.js';

/** A directory that can be checked. */
export interface FoundStore {
  readonly directory: string;
  /** Whether it holds a LevelDB. */
  readonly database: boolean;
  /** Whether it has sums of its files. */
  readonly sums: boolean;
  /** Whether it is a published generation: its files never change, and no process has it open. */
  readonly published: boolean;
  /** Whether it holds published generations. */
  readonly generations: boolean;
  /** Whether it is a data directory with a list of its files, or one that has lost it. */
  readonly listed: boolean;
  /** Whether it holds the numbered indexes of a Broker. */
  readonly indexes: boolean;
}

/** Files that only a LevelDB has. CURRENT is not one of them: a directory of generations has one too. */
const DATABASE_FILE = /^(?:MANIFEST-\d+|\d{6,}\.(?:ldb|sst|log))$/;
const GENERATION = /^[1-9]\d*$/;
/**
 * What other processes use and remove: clones of readers, unfinished generations; copies that a repair left.
 */
const SKIPPED = /^readers$|\.(?:tmp|old|withdrawn|new)$|\.(?:repaired|damaged|check)-/;
/** Directories of generations; that of an index has numbers, too. */
export const GENERATIONS = /\/(?:generations|references)$/;
const MAX_DEPTH = 6;
/** The directories of stores whose directory has a list of files. */
const STORES = ['working', 'store'];

/** Whether the seal of a store says that its directory had a list. */
async function wasListed(directory: string, entries: readonly Dirent[]): Promise<boolean> {
  for (const name of STORES) {
    if (!entries.some((entry) => entry.name === name && entry.isDirectory())) continue;
    const seal = await readSeal(join(directory, name)).catch(() => undefined);
    if (seal?.listed === true || (await hadFileList(join(directory, name)))) return true;
  }
  return false;
}

export async function* findStores(directory: string, depth = 0): AsyncGenerator<FoundStore, void, undefined> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  // A file that was added beside the list is named with it.
  const hasList = names.includes(LIST_FILE);
  const indexes =
    directory.endsWith('/index') && entries.some(({ name }) => name === 'CURRENT' || GENERATION.test(name));
  const database = !hasList && !indexes && names.some((name) => DATABASE_FILE.test(name));
  const sums = entries.some(({ name }) => name === SUMS_FILE);
  const published = GENERATION.test(directory.slice(directory.lastIndexOf('/') + 1));
  const generations =
    !database &&
    GENERATIONS.test(directory) &&
    (entries.some(({ name }) => name === 'CURRENT') ||
      entries.some((entry) => entry.isDirectory() && GENERATION.test(entry.name)));
  const listed = !database && (hasList || (await wasListed(directory, entries)));
  if (database || sums || generations || listed || indexes)
    yield { directory, database, sums, published, generations, listed, indexes };
  if (database || depth >= MAX_DEPTH) return;
  for (const entry of entries) {
    if (entry.isDirectory() && !SKIPPED.test(entry.name))
      yield* findStores(join(directory, entry.name), depth + 1);
  }
}
