// The layout of a database file: creates and upgrades its tables, recognizes other files, and finds damage when
// it is opened.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type Database from 'libsql';
import { errorCode, KitError, messageOf, StorageError } from '../../protocols/errors.js';
import { lockHolder } from '../files/holder.js';
import { isUnopened, openFailure } from '../files/open-failure.js';

const APPLICATION_ID = 0x48_76_44_62;
/** Version 1 has no checksums. */
export const SCHEMA_VERSION = 2;
/** Files up to this size are compared page by page when they are opened, in less than a tenth of a second. */
const MAX_COMPARED_BYTES = 32 * 1024 * 1024;

/*
 * SQLite compares url byte by byte, so iteration by it is in URL order. update_time is NULL if the object has
 * none. The rollback journal is used instead of a write-ahead log, because a closed database is then one file,
 * which `mv` can replace (G-140).
 */
const SCHEMA = `
CREATE TABLE object(
  url TEXT PRIMARY KEY NOT NULL,
  update_time INTEGER,
  time_to_live INTEGER NOT NULL,
  soif BLOB NOT NULL,
  crc32 INTEGER);
`;
const UPGRADE = `
ALTER TABLE object ADD COLUMN crc32 INTEGER;
PRAGMA user_version = 2;
`;

export function createSchema(db: Database.Database): void {
  db.exec('BEGIN IMMEDIATE');
  // Another process may have created the schema since the check.
  if (scalar(db, 'SELECT count(*) FROM sqlite_master') === 0) {
    db.exec(SCHEMA);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  }
  db.exec('COMMIT');
}

/** Whether the file has no tables and no owner: it is new, or its creation was rolled back. */
export function isEmpty(db: Database.Database): boolean {
  return scalar(db, 'SELECT count(*) FROM sqlite_master') === 0 && scalar(db, 'PRAGMA application_id') === 0;
}

/** Returns the version. */
export function checkSchema(path: string, db: Database.Database): number {
  if (scalar(db, 'PRAGMA application_id') !== APPLICATION_ID) {
    throw new StorageError(`${path} is a SQLite file, but not a database of summaries`);
  }
  const version = scalar(db, 'PRAGMA user_version');
  if (version !== 1 && version !== SCHEMA_VERSION) {
    throw new StorageError(
      `${path} has version ${version} of the tables, this program reads ${SCHEMA_VERSION}`,
    );
  }
  return version;
}

/** Compares the pages with each other: a record that its index has lost would be absent without an error. */
export function comparePages(path: string, finalPath: string, db: Database.Database): void {
  if (fileSize(path) > MAX_COMPARED_BYTES) return;
  const row = db.prepare('PRAGMA integrity_check(1)').raw().get();
  const result = Array.isArray(row) ? String(row[0]) : '';
  if (result !== 'ok') throw new StorageError(`${finalPath} is damaged: ${result.replaceAll('\n', ' ')}`);
}

/**
 * Gives a file of version 1 checksums, which its records get when they change. Returns false if it cannot be
 * written now.
 */
export function upgrade(db: Database.Database): boolean {
  try {
    db.exec('BEGIN IMMEDIATE');
    // Another process may have done it since the check.
    if (scalar(db, 'PRAGMA user_version') === 1) db.exec(UPGRADE);
    db.exec('COMMIT');
    return true;
  } catch {
    // In use, read-only or on a full disk: records are written without checksums.
    if (db.inTransaction) db.exec('ROLLBACK');
    return scalar(db, 'PRAGMA user_version') === SCHEMA_VERSION;
  }
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function scalar(db: Database.Database, sql: string): number {
  const row = db.prepare(sql).raw().get();
  return Array.isArray(row) ? Number(row[0]) : Number.NaN;
}

/** Returns the first bytes of the file; undefined if there is no file. */
export function headOf(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    const stats = statSync(path);
    if (!stats.isFile())
      throw new StorageError(
        `${path} is a ${stats.isDirectory() ? 'directory' : 'special file'}, not a database file`,
      );
    file = openSync(path, 'r');
    const head = Buffer.alloc(64);
    return head.subarray(0, readSync(file, head));
  } catch (cause) {
    if (cause instanceof StorageError) throw cause;
    if (errorCode(cause) === 'ENOENT') return undefined;
    throw new StorageError(`${path} cannot be read: ${errorCode(cause) ?? String(cause)}`, { cause });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_READONLY: 'cannot be written',
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_NOTADB: 'is damaged',
  SQLITE_FULL: 'cannot grow: the disk is full',
};

function unopened(path: string, cause: unknown): StorageError {
  const { message } = cause as Error;
  const code = errorCode(cause);
  // Without a code it is SQLite's own error: the file can be opened again.
  const why = code === undefined ? 'its directory is not writable, or the disk is full' : message;
  return new StorageError(`${path} cannot be opened: ${why}`, { cause });
}

/** Turns SQLite's errors into a {@link StorageError} that names the file. */
export function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof KitError) throw cause;
    const message = messageOf(cause);
    if (isUnopened(message, errorCode(cause))) throw unopened(path, openFailure(path) ?? cause);
    const code = /^SQLITE_[A-Z]+/.exec(errorCode(cause) ?? '')?.[0] ?? '';
    const reason = code === 'SQLITE_BUSY' ? `is in use by ${lockHolder(`${path}-shm`, path)}` : REASONS[code];
    throw new StorageError(`${path} ${reason ?? 'cannot be used'} (${message})`, { cause });
  }
}
