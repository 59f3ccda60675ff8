// Opens LevelDB and reports damage that LevelDB would silently repair: it replaces a database without CURRENT
// by an empty one, deletes the tables that it does not know, and skips the damaged records of its log.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel, type DatabaseOptions } from 'classic-level';
import { errorCode, isDiskFull, messageOf, StorageError } from '../../protocols/errors.js';
import { adviceFor } from '../files/advice.js';
import { exists, statIfExists } from '../files/exists.js';
import { lockHolder } from '../files/holder.js';
import { cutLogs, type DatabaseProblem, inspectDatabase, inspectTables } from './verify/inspect.js';
import { breakSeal, writeSeal } from './verify/seal.js';
import { isLocked } from './write-recovery.js';

/** The options of classic-level. */
export type OpenDatabaseOptions<K, V> = Omit<DatabaseOptions<K, V>, 'errorIfExists' | 'passive'>;

/**
 * Bytes of tables whose checksums are compared before the database is open, which takes about a second of
 * processor time; the rest is compared in the background.
 */
const VERIFY_BYTES = 1 << 30;

/** An open database, with what has to be known to close it. */
export interface OpenDatabase<K, V> {
  readonly db: ClassicLevel<K, V>;
  /** Damage that was found in the background since; undefined if everything is sound. */
  readonly damage: StorageError | undefined;
  /** Closes the database and seals its files. */
  close(): Promise<void>;
}

/**
 * Compares the files of a database with their checksums, then opens it. Nothing is changed, created or deleted
 * if they do not match.
 *
 * @throws StorageError if the database is damaged or in use, or is missing and `createIfMissing` is false
 */
export async function openDatabase<K, V>(
  directory: string,
  options: OpenDatabaseOptions<K, V> = {},
): Promise<OpenDatabase<K, V>> {
  const { createIfMissing = true, ...others } = options;
  const { multithreading = false } = others;
  const open = async (create: boolean) => {
    // Not earlier: a new ClassicLevel opens itself, with the options that it has then.
    const db = new ClassicLevel<K, V>(directory, { ...others, createIfMissing: create });
    await guardDatabase(directory, () => db.open());
    return db;
  };
  // Another thread has it open, and has compared it.
  if ((await probe(directory, multithreading)) === 'open') {
    const db = await open(false);
    return { db, damage: undefined, close: () => db.close() };
  }
  const { exists, problems, cuts, unread } = await readFiles(directory);
  const [first] = problems;
  if (first !== undefined) throw damageError(directory, first);
  if (!exists && !createIfMissing) throw new StorageError(`${directory} has no store`);
  await cutLogs(directory, cuts);
  await breakSeal(directory);
  return new CheckedDatabase(directory, await open(!exists), unread, multithreading);
}

async function readFiles(directory: string) {
  try {
    return await inspectDatabase(directory, { maxBytes: VERIFY_BYTES });
  } catch (error) {
    if (error instanceof StorageError || errorCode(error) === undefined) throw error;
    throw new StorageError(`the store in ${directory} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

class CheckedDatabase<K, V> implements OpenDatabase<K, V> {
  readonly #directory: string;
  readonly #multithreading: boolean;
  damage: StorageError | undefined;
  readonly #stop = new AbortController();
  readonly #background: Promise<void>;

  constructor(
    directory: string,
    readonly db: ClassicLevel<K, V>,
    unread: ReadonlyMap<string, number>,
    multithreading: boolean,
  ) {
    this.#directory = directory;
    this.#multithreading = multithreading;
    this.#background = unread.size === 0 ? Promise.resolve() : this.#verify(unread);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#background;
    await this.db.close();
    if (this.damage === undefined) await sealClosed(this.#directory, this.#multithreading);
  }

  async #verify(unread: ReadonlyMap<string, number>): Promise<void> {
    const problem = await inspectTables(this.#directory, unread, this.#stop.signal);
    if (problem !== undefined) this.damage = damageError(this.#directory, problem);
  }
}

/**
 * Seals the files, unless another thread still has the database open. Without a seal the next opening checks as
 * after a crash.
 */
async function sealClosed(directory: string, multithreading: boolean): Promise<void> {
  try {
    if (multithreading && (await probe(directory, true)) === 'open') return;
    await writeSeal(directory, await readdir(directory));
  } catch {
    // The directory was removed, as that of a reader's clone, or the disk is full.
  }
}

/**
 * Whether the database can be opened. LevelDB locks a database before it looks at its files, and an attempt
 * that requires and forbids them at the same time ends before it changes any.
 *
 * @returns `open` if another thread of this process has it open and allows this one to share it
 * @throws StorageError if another process has it open
 */
async function probe(directory: string, multithreading: boolean): Promise<'open' | 'closed'> {
  // Without this file no process has it open.
  if (!(await exists(join(directory, 'LOCK')))) return 'closed';
  const db = new ClassicLevel(directory, {
    createIfMissing: false,
    errorIfExists: true,
    multithreading,
    cacheSize: 0,
  });
  try {
    await db.open();
  } catch (error) {
    if (isLocked(error)) throw inUse(directory, error);
    await removeEmptyLogs(directory);
    return 'closed';
  }
  await db.close();
  return 'open';
}

/** Removes the text logs that an attempt to open a database left: they are not among its sealed files. */
async function removeEmptyLogs(directory: string): Promise<void> {
  for (const name of ['LOG', 'LOG.old']) {
    const path = join(directory, name);
    if ((await statIfExists(path))?.size === 0) await rm(path, { force: true });
  }
}

/** @throws StorageError if any process has the database open */
export async function requireClosed(directory: string): Promise<void> {
  if ((await probe(directory, false)) === 'open') throw inUse(directory, undefined);
}

/** Converts errors of the database to StorageErrors. */
export async function guardDatabase<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (errorCode(error)?.startsWith('LEVEL_') !== true) throw error;
    if (isDiskFull(error)) throw fullError(directory, error);
    if (isLocked(error)) throw inUse(directory, error);
    const { cause } = error as Error;
    const why = messageOf(cause instanceof Error ? cause : error);
    const damaged = (errorCode(cause) ?? errorCode(error)) === 'LEVEL_CORRUPTION';
    const advice = damaged ? `; ${adviceFor(directory)}` : '';
    throw new StorageError(`the store in ${directory} cannot be used: ${why}${advice}`, { cause: error });
  }
}

export function fullError(directory: string, cause: unknown): StorageError {
  return new StorageError(`no space left for the store in ${directory}`, { cause });
}

/** Whether a store could not be opened because another process has it open. */
export function isStoreInUse(error: unknown): boolean {
  return error instanceof StorageError && isLocked(error.cause);
}

function inUse(directory: string, cause: unknown): StorageError {
  // LevelDB's own words; the system may not know a lock of this process any more.
  const isOwn = /already held by process/.test(messageOf((cause as Error | undefined)?.cause));
  const holder = isOwn ? 'this process' : lockHolder(join(directory, 'LOCK'));
  return new StorageError(`the store in ${directory} is in use by ${holder}`, { cause });
}

function damageError(directory: string, { file, problem }: DatabaseProblem): StorageError {
  return new StorageError(
    `the store in ${directory} is damaged: ${file}: ${problem}; nothing was changed; ${adviceFor(directory)}`,
  );
}
