// A copy of a data directory while its servers run, and its way back.

import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import Database from 'libsql';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';
import { SUMS_FILE } from '../files/checksums.js';
import { LIST_FILE } from '../files/file-kinds.js';
import { sealFiles } from '../files/listed-directory.js';
import { makeDirectory } from '../files/make-directory.js';
import { syncPath } from '../files/sync-path.js';
import { copyLevel } from './copy-level.js';

export interface BackupOptions {
  readonly signal?: AbortSignal;
  /** Called before each database and directory, with its path. */
  readonly onPath?: (path: string) => void;
}

/** What was copied. */
export interface BackupReport {
  /** LevelDB and SQLite databases. */
  readonly databases: number;
  readonly files: number;
  readonly bytes: number;
}

/** Files only a LevelDB has. */
const LEVEL_FILE = /^(?:MANIFEST-\d+|\d{6,}\.(?:ldb|sst))$/;
const SQLITE = /\.sqlite$/;
/**
 * What belongs to running processes, is made again, or is unfinished: pid files, locks, private copies of
 * readers, the reserve of the disk, caches, journals of databases that are copied with them.
 */
const LEFT_OUT =
  /^(?:readers|reserve|LOCK)$|\.(?:pid|lock|tmp|part|withdrawn|socket)$|\.sqlite-(?:wal|shm|journal)$|^\.new-|\.(?:repaired|damaged|check)-/;
/**
 * A Broker's index is copied before its store: it may lack the newest changes, which it gets when it starts,
 * but must not be ahead.
 */
const FIRST = 'index';

/**
 * Copies a data directory. Each database is copied as it is at one moment, so that servers may run; links and
 * sockets are left out. The copy has its name only when it is whole and on the disk.
 *
 * @param target does not exist
 * @throws StorageError if something cannot be copied; nothing is left then
 */
export async function backUp(
  source: string,
  target: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  const from = resolve(source);
  const to = resolve(target);
  if (to === from || to.startsWith(`${from}/`))
    throw new StorageError(`${target} is inside of ${source}: a backup belongs to another disk`);
  await requireDirectory(from);
  await requireAbsent(to);
  await makeDirectory(dirname(to));
  const part = join(dirname(to), `.${basename(to)}.part`);
  await rm(part, { recursive: true, force: true });
  const counts = { databases: 0, files: 0, bytes: 0 };
  try {
    const listed: string[] = [];
    await copyTree(from, part, options, counts, listed);
    for (const directory of listed) await sealFiles(directory);
    await syncTree(part);
    await rename(part, to);
    await syncPath(dirname(to));
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    throw error;
  }
  return counts;
}

/**
 * Puts a backup in the place of a data directory, which must not exist or be empty: nothing is overwritten. The
 * backup stays.
 *
 * @throws StorageError as {@link backUp}
 */
export async function restore(
  backup: string,
  directory: string,
  options: BackupOptions = {},
): Promise<BackupReport> {
  const to = resolve(directory);
  const names = await namesIn(to);
  if (names !== undefined && names.length > 0)
    throw new StorageError(`${directory} is not empty: move it away first`);
  if (names !== undefined) await rm(to, { recursive: true });
  return await backUp(backup, to, options);
}

type Counts = { -readonly [K in keyof BackupReport]: BackupReport[K] };

/** @param listed receives the copies of directories that have a list of their files */
async function copyTree(
  from: string,
  to: string,
  options: BackupOptions,
  counts: Counts,
  listed: string[],
): Promise<void> {
  options.signal?.throwIfAborted();
  const entries = await readdir(from, { withFileTypes: true });
  options.onPath?.(from);
  if (entries.some((entry) => entry.isFile() && LEVEL_FILE.test(entry.name))) {
    counts.bytes += await copyLevel(from, to, options.signal);
    counts.databases++;
    // A generation has its export beside its database, which never changes.
    return;
  }
  const { mode } = await stat(from);
  await mkdir(to, { mode: 0o700 });
  const isIndex = entries.some(({ name }) => SQLITE.test(name));
  const wanted = entries.filter(
    ({ name }) => !LEFT_OUT.test(name) && !(isIndex && name === SUMS_FILE) && name !== LIST_FILE,
  );
  if (entries.some(({ name }) => name === LIST_FILE)) listed.push(to);
  wanted.sort((a, b) => Number(b.name === FIRST) - Number(a.name === FIRST));
  for (const entry of wanted) {
    const [path, copy] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (entry.isDirectory()) await copyTree(path, copy, options, counts, listed);
      else if (entry.isFile()) await copyOne(path, copy, counts);
    } catch (error) {
      // A file or a former generation that was removed meanwhile is not missed.
      if (errorCode(error) !== 'ENOENT' || (await namesIn(path)) !== undefined) throw error;
      await rm(copy, { recursive: true, force: true });
    }
  }
  await chmod(to, mode & 0o777);
}

async function copyOne(from: string, to: string, counts: Counts): Promise<void> {
  if (SQLITE.test(from)) {
    copySqlite(from, to);
    counts.databases++;
  } else {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    counts.files++;
  }
  counts.bytes += (await stat(to)).size;
}

async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else await syncPath(path);
  }
  await syncPath(directory);
}

/** The names in a directory; undefined if it does not exist. */
export async function namesIn(path: string): Promise<string[] | undefined> {
  try {
    return await readdir(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

async function requireDirectory(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.isDirectory() !== true)
    throw new StorageError(`${path} is no directory`);
}

async function requireAbsent(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined)) !== undefined)
    throw new StorageError(`${path} exists already`);
}

/**
 * Writes the database as it is at one moment into a new file, which has no journal and no free pages.
 *
 * @throws StorageError if it cannot be read, or the file be written
 */
function copySqlite(source: string, target: string): void {
  try {
    const db = new Database(resolve(source));
    try {
      db.exec('PRAGMA busy_timeout = 10000');
      db.exec(`VACUUM INTO '${resolve(target).replaceAll("'", "''")}'`);
    } finally {
      db.close();
    }
  } catch (cause) {
    throw new StorageError(`${source} cannot be copied: ${messageOf(cause)}`, { cause });
  }
}
