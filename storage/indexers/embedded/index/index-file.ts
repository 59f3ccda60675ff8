// The SQLite file of the embedded engine's index: its tables, its columns, and the checks when it is opened.

import { rmSync, statfsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import Database from 'libsql';
import { errorCode, isDiskFull, messageOf, StorageError } from '../../../../protocols/errors.js';
import { SUMS_FILE, verifySums, writeSums } from '../../../files/checksums.js';
import { exists } from '../../../files/exists.js';
import { STATE_FILE } from '../../../files/index-state.js';
import { removeNoted } from '../../../files/note-change.js';
import { isUnopened, openFailure } from '../../../files/open-failure.js';
import { COLUMN_WEIGHTS, isContentColumn } from '../../columns/columns.js';
import { BREAK, PART, UNICODE_VERSION } from '../../query/words.js';

export type IndexDatabase = Database.Database;

/** SQLite's application ID of an index, so that a foreign database is not mistaken for one. */
const APPLICATION_ID = 0x48_76_49_78;
/** Version of the tables and of the rules for words; an index of another version is rebuilt. */
const SCHEMA_VERSION = 7;
/** With less free space a failed write is a lack of space: shared memory alone takes 32 KiB. */
const MIN_FREE_BYTES = 64 * 1024;

/** The rank of FTS5 with the weights of {@link COLUMN_WEIGHTS}; lower is better. */
export const RANK = `bm25(words, ${COLUMN_WEIGHTS.map((column) => column.weight).join(', ')})`;

/** The filter of FTS5 for the columns of content (`scope.ts`). */
export const CONTENT_FILTER = `{${COLUMN_WEIGHTS.map(({ name }) => name)
  .filter(isContentColumn)
  .join(' ')}} : `;

/*
 * words    word -> objects and positions. `contentless_delete` stores no text, which the Broker's store has. The ASCII
 *          tokenizer treats everything beyond ASCII as letters; words.ts prepares the text for this. Larger segments
 *          and rarer merges than the defaults of FTS5 make indexing faster by a third.
 * terms    the vocabulary as a table, for parts of words.
 * object   every OID in the index with the number of the transaction that added it, and the digest of its URL.
 * link_page  what a page counts for: keys, eight bytes each, digests of a link's text and of its text and target (link-texts.ts).
 * link_count  the number of pages with a key.
 * outline  the first words of an object, and its links, four bytes a number (outlines.ts).
 * spelling  the words that are more than their letters (normalize.ts): `cafe` -> `café`. Some may be in no object any more.
 * meta     watermark: last change of the Broker's log that is in the index; batch: last transaction's number; objects: their number.
 */
const SCHEMA = `
CREATE VIRTUAL TABLE words USING fts5(${COLUMN_WEIGHTS.map((column) => column.name).join(', ')},
  content='', contentless_delete=1, detail=full, tokenize="ascii tokenchars '_${BREAK}${PART}'");
INSERT INTO words(words, rank) VALUES('hashsize', 16777216);
INSERT INTO words(words, rank) VALUES('automerge', 8);
CREATE VIRTUAL TABLE terms USING fts5vocab(words, 'row');
CREATE TABLE object(oid INTEGER PRIMARY KEY, batch INTEGER NOT NULL, url INTEGER NOT NULL);
CREATE INDEX object_batch ON object(batch);
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE link_page(oid INTEGER PRIMARY KEY, keys BLOB NOT NULL);
CREATE TABLE link_count(key INTEGER PRIMARY KEY, pages INTEGER NOT NULL);
CREATE TABLE outline(oid INTEGER PRIMARY KEY, beginning BLOB NOT NULL, links BLOB NOT NULL);
CREATE TABLE spelling(letters TEXT, word TEXT, PRIMARY KEY(letters, word)) WITHOUT ROWID;
`;

/** Options of {@link openIndexFile}. */
export interface IndexFileOptions {
  /** Replace a damaged or foreign file by an empty index instead of failing. */
  readonly rebuildOnError?: boolean;
  /** Compare the pages of the file with each other. Default false. */
  readonly checkPages?: boolean;
  /** Page cache, in KiB. Default 16 MiB. */
  readonly cacheKiB?: number;
  /** Milliseconds to wait for another writer. Default 10 000. */
  readonly busyTimeoutMs?: number;
}

/**
 * Opens the index; creates an empty one if the file does not exist.
 *
 * @throws StorageError if the file is damaged, is not an index, or was made by another version or with other
 *   Unicode tables; it must be rebuilt from the stored objects
 */
export function openIndexFile(file: string, options: IndexFileOptions = {}): IndexDatabase {
  try {
    return openChecked(file, options);
  } catch (cause) {
    // Only damage is a reason to delete it. Its rebuild would find no space either, and until then nothing
    // would be found.
    const isReason = options.rebuildOnError === true && !isFailedWrite(file, cause) && isDamage(cause);
    if (!isReason) throw openingError(file, cause);
  }
  removeIndexFile(file);
  try {
    return openChecked(file, options);
  } catch (cause) {
    throw openingError(file, cause);
  }
}

/** Says what SQLite does not: which file, and why it cannot be opened. */
function openingError(file: string, cause: unknown): StorageError {
  if (isFailedWrite(file, cause)) {
    const why = `database or disk is full (${messageOf(cause)})`;
    return new StorageError(`cannot use the index ${file}: ${why}`, { cause });
  }
  if (!isUnopened(messageOf(cause), errorCode(cause)))
    return storageError(`cannot use the index ${file}`, cause);
  const failure = openFailure(file);
  const why = failure === undefined ? 'unable to open database file' : messageOf(failure);
  return new StorageError(`cannot use the index ${file}: ${why}`, { cause: failure ?? cause });
}

/** Deletes the index and its side files. */
function removeIndexFile(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { recursive: true, force: true });
}

/** Whether an index that cannot be opened is damaged, or of another kind. */
function isDamage(cause: unknown): boolean {
  const code = errorCode(cause) ?? '';
  if (isDiskFull(cause) || isUnopened(messageOf(cause), code)) return false;
  return !/^SQLITE_(?:BUSY|LOCKED|PERM|READONLY|NOMEM)/.test(code);
}

/** SQLite reports a lack of space for its shared memory, or for the first page of a file, as a failed write. */
function isFailedWrite(file: string, cause: unknown): boolean {
  if (!/^SQLITE_IOERR/.test(errorCode(cause) ?? '') && !/disk I\/O error/.test(messageOf(cause)))
    return false;
  const { bavail, bsize } = statfsSync(dirname(file));
  return bavail * bsize < MIN_FREE_BYTES;
}

/** Converts an error to a StorageError with its message. */
export function storageError(what: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  // SQLite reports a limit of the size of files so (EFBIG).
  const isWrite = errorCode(cause)?.startsWith('SQLITE_IOERR') === true;
  const hint = isWrite ? ' (the disk fails, or the file would exceed the limit of its size)' : '';
  return new StorageError(`${what}: ${messageOf(cause)}${hint}`, { cause });
}

/** Sequence number of the last change that is durable in the index. */
export function readWatermark(db: IndexDatabase): number {
  return readNumber(db, 'watermark');
}

/** The number of the last transaction. */
export function readBatch(db: IndexDatabase): number {
  return readNumber(db, 'batch');
}

/** The number of objects in the index. It reads all of their rows: about 10 ms for a million. */
export function countObjects(db: IndexDatabase): number {
  return Number(scalar(db, 'SELECT count(*) FROM object'));
}

export function writeMeta(db: IndexDatabase, key: 'watermark' | 'batch' | 'objects', value: number): void {
  db.prepare('INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)').run(key, value);
}

function openChecked(file: string, options: IndexFileOptions): IndexDatabase {
  const db = new Database(file);
  try {
    db.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? 10_000}`);
    db.exec(`PRAGMA cache_size = -${options.cacheKiB ?? 16_384}`);
    const version = pragma(db, 'user_version');
    if (version === 0 && scalar(db, 'SELECT count(*) FROM sqlite_master') === 0) create(db);
    else if (pragma(db, 'application_id') !== APPLICATION_ID)
      throw new StorageError(`${file} is not an index`);
    else if (version !== SCHEMA_VERSION) throw new StorageError(`${file} is an index of version ${version}`);
    const unicode = scalar(db, "SELECT value FROM meta WHERE key = 'unicode'");
    if (unicode !== UNICODE_VERSION)
      throw new StorageError(`${file} was made with Unicode ${String(unicode)}`);
    // The index can be rebuilt, so it need not survive a power failure; a killed process loses nothing.
    db.exec('PRAGMA synchronous = NORMAL');
    db.prepare("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").get();
    db.prepare('SELECT max(oid) FROM object').get();
    if (options.checkPages === true) checkPages(db, file);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** @throws StorageError if pages of the file, or the segments of the word index, contradict each other */
function checkPages(db: IndexDatabase, file: string): void {
  const result = scalar(db, 'PRAGMA quick_check(1)');
  if (result !== 'ok') throw new StorageError(`${file} is damaged: ${String(result)}`);
  const timeout = pragma(db, 'busy_timeout');
  db.exec('PRAGMA busy_timeout = 0');
  try {
    db.exec("INSERT INTO words(words) VALUES('integrity-check')");
  } catch (error) {
    // FTS5 needs the lock of a writer. Another one that has it has opened and checked the index. On a full disk
    // SQLite's own check counts.
    if (!/locked|busy/i.test(messageOf(error)) && !isDiskFull(error)) throw error;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
}

function create(db: IndexDatabase): void {
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('BEGIN IMMEDIATE');
  db.exec(SCHEMA);
  writeMeta(db, 'watermark', 0);
  writeMeta(db, 'batch', 0);
  db.prepare("INSERT INTO meta(key, value) VALUES('unicode', ?)").run(UNICODE_VERSION);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  db.exec('COMMIT');
}

/** The first column of the first row, or undefined. */
export function scalar(db: IndexDatabase, sql: string, ...parameters: unknown[]): unknown {
  const row = db
    .prepare(sql)
    .raw()
    .get(...parameters);
  return Array.isArray(row) ? row[0] : undefined;
}

function pragma(db: IndexDatabase, name: string): number {
  return Number(scalar(db, `PRAGMA ${name}`));
}

function readNumber(db: IndexDatabase, key: string): number {
  return Number(scalar(db, 'SELECT value FROM meta WHERE key = ?', key));
}

/** What is known of an index before it is opened. */
export interface ClosedIndex {
  /** It is what its sums say. */
  readonly isSealed: boolean;
  /**
   * It must be checked page by page, because it has no sums: the process that had it open was killed while it changed.
   */
  readonly checkPages: boolean;
  /** Its size; 0 if there is no index. */
  readonly bytes: number;
}

/**
 * Compares an index that is not open with the sums of its last closing or rest, which are right until it is changed.
 *
 * @param rebuildOnError a damaged index is deleted, so that an empty one takes its place; its watermark is 0,
 *   so that the owner adds every object again
 * @throws StorageError if it is damaged and `rebuildOnError` is not set
 */
export async function checkClosedIndex(file: string, rebuildOnError: boolean): Promise<ClosedIndex> {
  const directory = dirname(file);
  const sums = join(directory, SUMS_FILE);
  const bytes = await sizeOf(file);
  if (!(await exists(sums))) return { isSealed: false, checkPages: await exists(file), bytes };
  // Always: a page may have changed on the disk since this process wrote it.
  const [problem] = await verifySums(directory, { always: true });
  if (problem === undefined) return { isSealed: true, checkPages: false, bytes };
  if (!rebuildOnError) throw new StorageError(`cannot use the index ${file}: ${problem}`);
  removeIndexFile(file);
  await removeNoted(sums);
  return { isSealed: false, checkPages: false, bytes: 0 };
}

/**
 * Writes the sums of an index that no thread changes. SQLite has no checksums: a flipped bit in a
 * list of postings only loses hits. Without the sums the next opening checks its pages.
 *
 * @param others files of its directory that do not change either
 */
export async function sealIndex(file: string, others: readonly string[] = [STATE_FILE]): Promise<void> {
  try {
    // A file that SQLite has not merged yet holds changes that the sums would not cover.
    if ((await sizeOf(`${file}-wal`)) > 0) return;
    const names = await readdir(dirname(file));
    await writeSums(
      dirname(file),
      names.filter((name) => name === basename(file) || others.includes(name)),
    );
  } catch {
    // The disk is full, or the index was removed.
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await exists(path)) ? (await stat(path)).size : 0;
}
