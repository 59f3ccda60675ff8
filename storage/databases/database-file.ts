import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import Database from 'libsql';
import { errorCode, KitError, messageOf, StateError, StorageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { describeKind, kindOfHead } from './file-kind.js';
import type { DatabaseRecord } from './record.js';

/** How to open a {@link DatabaseFile}. */
export interface DatabaseFileOptions {
  /** Create the file if it is absent or empty. Default false. */
  readonly create?: boolean;
  /** Refuse to write. Default false. */
  readonly readOnly?: boolean;
  /** Milliseconds to wait for another process that writes. Default 5000. */
  readonly busyTimeoutMs?: number;
  /** Page cache, KiB: what a transaction changes beyond it waits in the file. Default 16 MiB. */
  readonly cacheKiB?: number;
}

/** How to walk a {@link DatabaseFile}. */
export interface WalkOptions {
  /** Begin behind this URL. */
  readonly after?: string;
  /** Bytes of objects read at once; one object is always read whole. Default 1 MiB. */
  readonly pageBytes?: number;
}

const APPLICATION_ID = 0x48_76_44_62;
const SCHEMA_VERSION = 1;
const PAGE_ROWS = 1024;
const DEFAULT_PAGE_BYTES = 1024 * 1024;

/*
 * url is compared byte by byte, so a walk by it is in the order of URLs. update_time is NULL where the object does not say.
 * A rollback journal instead of a write-ahead log: at rest a database is one file, which `mv` can put into place (G-140).
 */
const SCHEMA = `
CREATE TABLE object(
  url TEXT PRIMARY KEY NOT NULL,
  update_time INTEGER,
  time_to_live INTEGER NOT NULL,
  soif BLOB NOT NULL);
`;
const COLUMNS = 'url, update_time, time_to_live, soif';

/**
 * A database of summaries in one file (G-112 to G-114): `PRODUCTION.gdbm`, `annotations.gdbm`. Calls are synchronous; a killed
 * process leaves either all of a {@link transaction} or nothing of it, because the next one to open the file rolls back.
 */
export class DatabaseFile implements Disposable {
  readonly path: string;
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  #inTransaction = false;

  private constructor(path: string, db: Database.Database) {
    this.path = path;
    this.#db = db;
  }

  /**
   * Opens the database.
   * @throws StorageError there is none, the file is something else (the sentence says what it looks like), is damaged, or
   *   was made by a newer version.
   */
  static open(path: string, options: DatabaseFileOptions = {}): DatabaseFile {
    const head = headOf(path);
    const fresh = head === undefined || head.length === 0;
    if (fresh && options.create !== true) {
      throw new StorageError(
        head === undefined ? `there is no ${path}` : `${path} is ${describeKind('empty')}`,
      );
    }
    const kind = fresh ? 'database' : kindOfHead(head);
    if (kind !== 'database')
      throw new StorageError(`${path} is no database file: it is ${describeKind(kind)}`);
    return guarded(path, () => {
      // An absolute path: libsql takes `libsql:` and `http:` for addresses.
      const db = new Database(resolve(path));
      try {
        db.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? 5000}`);
        db.exec(`PRAGMA cache_size = -${options.cacheKiB ?? 16_384}`);
        if (fresh) createSchema(db);
        checkSchema(path, db);
        if (options.readOnly === true) db.exec('PRAGMA query_only = ON');
        return new DatabaseFile(path, db);
      } catch (error) {
        db.close();
        throw error;
      }
    });
  }

  get count(): number {
    return Number(this.#row('SELECT count(*) FROM object')?.[0] ?? 0);
  }

  /** The URL's record. */
  get(url: string): DatabaseRecord | undefined {
    const row = this.#row(`SELECT ${COLUMNS} FROM object WHERE url = ?`, url);
    return row === undefined ? undefined : this.#record(row);
  }

  has(url: string): boolean {
    return this.#row('SELECT 1 FROM object WHERE url = ?', url) !== undefined;
  }

  /** Stores a record in place of the URL's former one. */
  put(record: DatabaseRecord): void {
    const { url, updateTime, timeToLive, soif } = record;
    this.#run(
      `INSERT OR REPLACE INTO object(${COLUMNS}) VALUES(?, ?, ?, ?)`,
      url,
      updateTime ?? null,
      timeToLive,
      soif,
    );
  }

  /** Whether there was a record to delete. */
  delete(url: string): boolean {
    return this.#run('DELETE FROM object WHERE url = ?', url) > 0;
  }

  /** Deletes every record. @returns how many there were. */
  clear(): number {
    return this.#run('DELETE FROM object');
  }

  /**
   * Deletes the records that have expired (G-103, SOIF-6.8): never one with a Time-to-Live of 0 (SOIF-6.7), nor one without
   * an Update-Time.
   * @returns how many.
   */
  deleteExpired(now: UnixSeconds): number {
    return this.#run('DELETE FROM object WHERE time_to_live <> 0 AND update_time + time_to_live < ?', now);
  }

  /**
   * The records in the order of their URLs, compared as UTF-8. Changes after the current position are seen.
   */
  *entries(options: WalkOptions = {}): Generator<DatabaseRecord, void, undefined> {
    for (const page of this.pages(options)) yield* page;
  }

  /** {@link entries} in pages of at most `pageBytes`. */
  *pages(options: WalkOptions = {}): Generator<DatabaseRecord[], void, undefined> {
    const pageBytes = options.pageBytes ?? DEFAULT_PAGE_BYTES;
    let last = options.after;
    for (const sizes of this.#walk('url, length(soif)', last)) {
      for (const until of cutBySize(sizes, pageBytes)) {
        const rows = this.#all(
          `SELECT ${COLUMNS} FROM object WHERE ${last === undefined ? '' : 'url > ? AND'} url <= ? ORDER BY url`,
          ...(last === undefined ? [until] : [last, until]),
        );
        last = until;
        yield rows.map((row) => this.#record(row));
      }
    }
  }

  /** All URLs in order, in pages, without reading the objects. */
  *urls(options: Pick<WalkOptions, 'after'> = {}): Generator<string[], void, undefined> {
    for (const page of this.#walk('url', options.after)) yield page.map((row) => String(row[0]));
  }

  /**
   * Runs `work` as one transaction, which other processes see whole or not at all; an error of `work` undoes all of it.
   * All calls on this object meanwhile belong to it.
   * @throws StateError a transaction is under way. StorageError another process writes.
   */
  async transaction<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#inTransaction) throw new StateError(`${this.path}: a transaction is under way`);
    guarded(this.path, () => this.#db.exec('BEGIN IMMEDIATE'));
    this.#inTransaction = true;
    try {
      const result = await work();
      guarded(this.path, () => this.#db.exec('COMMIT'));
      return result;
    } catch (error) {
      // A full disk may have undone it already.
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
      this.#recover();
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  /** Rewrites the file without the space of deleted records (G-135). */
  reorganize(): void {
    if (this.#inTransaction) throw new StateError(`${this.path}: a transaction is under way`);
    guarded(this.path, () => this.#db.exec('VACUUM'));
  }

  /** A transaction under way is undone. */
  close(): void {
    if (this.#db.open) this.#db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** After a full disk SQLite undoes a transaction only when the file is read again; until then it would fill the disk. */
  #recover(): void {
    try {
      this.#db.prepare('SELECT count(*) FROM sqlite_master').raw().get();
    } catch {
      // The next one to open the file does it.
    }
  }

  *#walk(columns: string, after: string | undefined): Generator<unknown[][], void, undefined> {
    let last = after;
    for (;;) {
      const rows = this.#all(
        `SELECT ${columns} FROM object ${last === undefined ? '' : 'WHERE url > ?'} ORDER BY url LIMIT ${PAGE_ROWS}`,
        ...(last === undefined ? [] : [last]),
      );
      if (rows.length === 0) return;
      last = String(rows.at(-1)?.[0]);
      yield rows;
    }
  }

  #record(row: readonly unknown[]): DatabaseRecord {
    const [url, updateTime, timeToLive, soif] = row;
    if (typeof url !== 'string' || !(soif instanceof Uint8Array)) {
      throw new StorageError(`${this.path} is damaged: a record is not of its kind`);
    }
    return {
      url,
      updateTime: updateTime === null ? undefined : Number(updateTime),
      timeToLive: Number(timeToLive),
      soif,
    };
  }

  #statement(sql: string): Database.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #row(sql: string, ...parameters: unknown[]): unknown[] | undefined {
    return guarded(this.path, () => {
      const row = this.#statement(sql)
        .raw()
        .get(...parameters);
      return Array.isArray(row) ? row : undefined;
    });
  }

  #all(sql: string, ...parameters: unknown[]): unknown[][] {
    return guarded(this.path, () => {
      const rows = this.#statement(sql)
        .raw()
        .all(...parameters);
      return rows.filter((row): row is unknown[] => Array.isArray(row));
    });
  }

  #run(sql: string, ...parameters: unknown[]): number {
    return guarded(this.path, () => this.#statement(sql).run(...parameters).changes);
  }
}

function createSchema(db: Database.Database): void {
  db.exec('BEGIN IMMEDIATE');
  // Another process may have made it since the file was looked at.
  if (scalar(db, 'SELECT count(*) FROM sqlite_master') === 0) {
    db.exec(SCHEMA);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  }
  db.exec('COMMIT');
}

function checkSchema(path: string, db: Database.Database): void {
  if (scalar(db, 'PRAGMA application_id') !== APPLICATION_ID) {
    throw new StorageError(`${path} is a SQLite file, but no database of summaries`);
  }
  const version = scalar(db, 'PRAGMA user_version');
  if (version !== SCHEMA_VERSION) {
    throw new StorageError(
      `${path} has version ${version} of the tables, this program reads ${SCHEMA_VERSION}`,
    );
  }
}

function scalar(db: Database.Database, sql: string): number {
  const row = db.prepare(sql).raw().get();
  return Array.isArray(row) ? Number(row[0]) : Number.NaN;
}

/** URLs that end a page: as many rows as fit `pageBytes`, at least one. */
function* cutBySize(rows: readonly unknown[][], pageBytes: number): Generator<string> {
  let bytes = 0;
  let previous: string | undefined;
  for (const [url, length] of rows) {
    bytes += Number(length);
    if (bytes > pageBytes && previous !== undefined) {
      yield previous;
      bytes = Number(length);
    }
    previous = String(url);
  }
  if (previous !== undefined) yield previous;
}

/** The file's first bytes; undefined when there is no file. */
function headOf(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    if (statSync(path).isDirectory()) throw new StorageError(`${path} is a directory, not a database file`);
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
  SQLITE_BUSY: 'is in use by another process',
  SQLITE_READONLY: 'cannot be written',
  SQLITE_CANTOPEN: 'cannot be opened, or its directory not be written',
  SQLITE_CORRUPT: 'is damaged',
  SQLITE_NOTADB: 'is damaged',
  SQLITE_FULL: 'cannot grow: the disk is full',
};

/** Turns SQLite's errors into a {@link StorageError} that names the file. */
function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof KitError) throw cause;
    const code = /^SQLITE_[A-Z]+/.exec(errorCode(cause) ?? '')?.[0] ?? '';
    const message = messageOf(cause);
    throw new StorageError(`${path} ${REASONS[code] ?? 'cannot be used'} (${message})`, { cause });
  }
}
