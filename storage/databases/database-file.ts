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
  /** Size of the page cache in KiB. Changes of a transaction beyond it are written to the file early. Default 16 MiB. */
  readonly cacheKiB?: number;
}

/** How to iterate over a {@link DatabaseFile}. */
export interface WalkOptions {
  /** Start after this URL. */
  readonly after?: string;
  /** Maximum bytes of objects in a page; a page has at least one object. Default 1 MiB. */
  readonly pageBytes?: number;
}

const APPLICATION_ID = 0x48_76_44_62;
const SCHEMA_VERSION = 1;
const PAGE_ROWS = 1024;
const DEFAULT_PAGE_BYTES = 1024 * 1024;

/*
 * SQLite compares url byte by byte, so iteration by it is in URL order. update_time is NULL if the object has none.
 * The rollback journal is used instead of a write-ahead log, because a closed database is then one file, which `mv` can replace (G-140).
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
 * A database of summaries in one file (G-112 to G-114): `PRODUCTION.gdbm`, `annotations.gdbm`. Calls are synchronous. If the process is
 * killed, either all of a {@link transaction} or nothing of it is applied: the next process that opens the file rolls it back.
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
   * @throws StorageError if the file is absent, of another kind (the message names the kind), damaged, or written by another version of
   *   this program.
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
      throw new StorageError(`${path} is not a database file, but ${describeKind(kind)}`);
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

  /** The number of records. */
  get count(): number {
    return Number(this.#row('SELECT count(*) FROM object')?.[0] ?? 0);
  }

  /** Returns the record of the URL; undefined if absent. */
  get(url: string): DatabaseRecord | undefined {
    const row = this.#row(`SELECT ${COLUMNS} FROM object WHERE url = ?`, url);
    return row === undefined ? undefined : this.#record(row);
  }

  has(url: string): boolean {
    return this.#row('SELECT 1 FROM object WHERE url = ?', url) !== undefined;
  }

  /** Stores a record. Replaces the previous record of the URL. */
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

  /** Deletes the record of the URL. Returns whether it existed. */
  delete(url: string): boolean {
    return this.#run('DELETE FROM object WHERE url = ?', url) > 0;
  }

  /** Deletes all records. @returns the number of deleted records */
  clear(): number {
    return this.#run('DELETE FROM object');
  }

  /**
   * Deletes the expired records (G-103, SOIF-6.8): the rule of `hasExpired` (protocols/soif) in SQL. A record with a Time-to-Live of 0 (SOIF-6.7) or without an Update-Time never expires.
   * @returns the number of deleted records
   */
  deleteExpired(now: UnixSeconds): number {
    return this.#run('DELETE FROM object WHERE time_to_live <> 0 AND update_time + time_to_live < ?', now);
  }

  /** Yields the records in the order of their URLs, compared as UTF-8. Sees changes after the current position. */
  *entries(options: WalkOptions = {}): Generator<DatabaseRecord, void, undefined> {
    for (const page of this.pages(options)) yield* page;
  }

  /** Yields {@link entries} in pages of at most `pageBytes`. */
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

  /** Yields all URLs in order, in pages, without reading the objects. */
  *urls(options: Pick<WalkOptions, 'after'> = {}): Generator<string[], void, undefined> {
    for (const page of this.#walk('url', options.after)) yield page.map((row) => String(row[0]));
  }

  /**
   * Runs `work` as one transaction, which is atomic for other processes. If `work` throws, the transaction is rolled back. All calls
   * on this object meanwhile are part of the transaction.
   * @throws StateError if a transaction is in progress
   * @throws StorageError if another process is writing
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
      // SQLite may have rolled back already, e.g. because the disk is full.
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

  /** Closes the file. Rolls back a transaction in progress. */
  close(): void {
    if (this.#db.open) this.#db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Reads the file, because after a full disk SQLite rolls a transaction back only at the next read; until then its data fills the disk. */
  #recover(): void {
    try {
      this.#db.prepare('SELECT count(*) FROM sqlite_master').raw().get();
    } catch {
      // The next process that opens the file rolls back.
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
      throw new StorageError(`${this.path} is damaged: a record has the wrong type`);
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
  // Another process may have created the schema since the check.
  if (scalar(db, 'SELECT count(*) FROM sqlite_master') === 0) {
    db.exec(SCHEMA);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  }
  db.exec('COMMIT');
}

function checkSchema(path: string, db: Database.Database): void {
  if (scalar(db, 'PRAGMA application_id') !== APPLICATION_ID) {
    throw new StorageError(`${path} is a SQLite file, but not a database of summaries`);
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

/** Yields the last URL of each page. A page has as many rows as fit in `pageBytes`, at least one. */
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

/** Returns the first bytes of the file; undefined if there is no file. */
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
  SQLITE_CANTOPEN: 'cannot be opened, or its directory is not writable',
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
