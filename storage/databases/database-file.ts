import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import Database from 'libsql';
import { StateError, StorageError } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';
import { describeKind, kindOfHead } from './file-kind.js';
import {
  checkSchema,
  comparePages,
  createSchema,
  guarded,
  headOf,
  isEmpty,
  SCHEMA_VERSION,
  upgrade,
} from './file-layout.js';
import type { DatabaseRecord } from './record.js';

/** How to open a {@link DatabaseFile}. */
export interface DatabaseFileOptions {
  /** Create the file if it is absent or empty. Default false. */
  readonly create?: boolean;
  /** Refuse to write. Default false. */
  readonly readOnly?: boolean;
  /** Milliseconds to wait for another process that writes. Default 5000. */
  readonly busyTimeoutMs?: number;
  /**
   * Size of the page cache in KiB. Changes of a transaction beyond it are written to the file early. Default 16
   * MiB.
   */
  readonly cacheKiB?: number;
  /** The path that errors name, for a file that gets this name later. Default: the path of the file. */
  readonly finalPath?: string;
}

/** How to iterate over a {@link DatabaseFile}. */
export interface WalkOptions {
  /** Start after this URL. */
  readonly after?: string;
  /** Maximum bytes of objects in a page; a page has at least one object. Default 1 MiB. */
  readonly pageBytes?: number;
}

const PAGE_ROWS = 1024;
const DEFAULT_PAGE_BYTES = 1024 * 1024;

const COLUMNS = 'url, update_time, time_to_live, soif';
/*
 * A damaged page may hold a value of any type, and libsql ends the process at a text that is not UTF-8: every
 * value is read as the type that it should have, and the URL as bytes.
 */
const URL_BYTES = 'CAST(url AS BLOB)';
const VALUES = `${URL_BYTES}, CAST(update_time AS INTEGER), CAST(time_to_live AS INTEGER), CAST(soif AS BLOB)`;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A database of summaries in one file (G-112 to G-114): `PRODUCTION.gdbm`, `annotations.gdbm`. Calls are
 * synchronous. If the process is killed, either all of a {@link transaction} or nothing of it is applied: the
 * next process that opens the file rolls it back.
 */
export class DatabaseFile implements Disposable {
  readonly path: string;
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  /** Whether records have checksums. */
  readonly #hasSums: boolean;
  readonly #values: string;
  #inTransaction = false;

  private constructor(path: string, db: Database.Database, hasSums: boolean) {
    this.path = path;
    this.#db = db;
    this.#hasSums = hasSums;
    this.#values = `${VALUES}, ${hasSums ? 'CAST(crc32 AS INTEGER)' : 'NULL'}`;
  }

  /**
   * Opens the database.
   * @throws StorageError if the file is absent, of another kind (the message names the kind), damaged, or
   *   written by another version of this program.
   */
  static open(path: string, options: DatabaseFileOptions = {}): DatabaseFile {
    const { finalPath = path } = options;
    const head = headOf(path);
    const absent = `there is no ${finalPath}`;
    const empty = `${finalPath} is ${describeKind('empty')}`;
    const fresh = head === undefined || head.length === 0;
    if (head === undefined && options.create !== true) throw new StorageError(absent);
    // A crash during the creation leaves zeros, which SQLite rolls back, like every unfinished transaction,
    // when it opens the file.
    const unfinished = existsSync(`${path}-journal`) && head?.every((byte) => byte === 0) === true;
    if (fresh && !unfinished && options.create !== true) throw new StorageError(empty);
    const kind = fresh || unfinished ? 'database' : kindOfHead(head);
    if (kind !== 'database')
      throw new StorageError(`${finalPath} is not a database file, but ${describeKind(kind)}`);
    return guarded(finalPath, () => {
      // An absolute path: libsql takes `libsql:` and `http:` for addresses.
      const db = new Database(resolve(path));
      try {
        db.exec(`PRAGMA busy_timeout = ${options.busyTimeoutMs ?? 5000}`);
        db.exec(`PRAGMA cache_size = -${options.cacheKiB ?? 16_384}`);
        // With FULL, a power failure soon after a commit may bring the journal back, and with it the state
        // before.
        db.exec('PRAGMA synchronous = EXTRA');
        if (isEmpty(db)) {
          if (options.create !== true) throw new StorageError(empty);
          createSchema(db);
        }
        const version = checkSchema(finalPath, db);
        comparePages(path, finalPath, db);
        if (options.readOnly === true) db.exec('PRAGMA query_only = ON');
        const hasSums = version === SCHEMA_VERSION || (options.readOnly !== true && upgrade(db));
        return new DatabaseFile(finalPath, db, hasSums);
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
    const row = this.#row(`SELECT ${this.#values} FROM object WHERE url = ?`, url);
    return row === undefined ? undefined : this.#record(row);
  }

  has(url: string): boolean {
    return this.#row('SELECT 1 FROM object WHERE url = ?', url) !== undefined;
  }

  /** Stores a record. Replaces the previous record of the URL. */
  put(record: DatabaseRecord): void {
    const { url, updateTime, timeToLive, soif } = record;
    const sum = this.#hasSums ? [sumOf(record)] : [];
    this.#run(
      `INSERT OR REPLACE INTO object(${COLUMNS}${this.#hasSums ? ', crc32' : ''}) VALUES(?, ?, ?, ?${this.#hasSums ? ', ?' : ''})`,
      url,
      updateTime ?? null,
      timeToLive,
      soif,
      ...sum,
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
   * Deletes the expired records (G-103, SOIF-6.8): the rule of `hasExpired` (protocols/soif) in SQL. A record
   * with a Time-to-Live of 0 (SOIF-6.7) or without an Update-Time never expires.
   * @returns the number of deleted records
   */
  deleteExpired(now: UnixSeconds): number {
    return this.#run('DELETE FROM object WHERE time_to_live <> 0 AND update_time + time_to_live < ?', now);
  }

  /**
   * Yields the records in the order of their URLs, compared as UTF-8. Sees changes after the current position.
   */
  *entries(options: WalkOptions = {}): Generator<DatabaseRecord, void, undefined> {
    for (const page of this.pages(options)) yield* page;
  }

  /** Yields {@link entries} in pages of at most `pageBytes`. */
  *pages(options: WalkOptions = {}): Generator<DatabaseRecord[], void, undefined> {
    const pageBytes = options.pageBytes ?? DEFAULT_PAGE_BYTES;
    let last = options.after;
    for (const sizes of this.#walk(', length(soif)', last)) {
      for (const until of cutBySize(sizes, pageBytes)) {
        const rows = this.#all(
          `SELECT ${this.#values} FROM object WHERE ${last === undefined ? '' : 'url > ? AND'} url <= ? ORDER BY url`,
          ...(last === undefined ? [until] : [last, until]),
        );
        last = until;
        yield rows.map((row) => this.#record(row));
      }
    }
  }

  /** Yields all URLs in order, in pages, without reading the objects. */
  *urls(options: Pick<WalkOptions, 'after'> = {}): Generator<string[], void, undefined> {
    for (const page of this.#walk('', options.after)) yield page.map((row) => String(row[0]));
  }

  /**
   * Runs `work` as one transaction, which is atomic for other processes. If `work` throws, the transaction is
   * rolled back. All calls on this object meanwhile are part of the transaction.
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

  /**
   * Reads the file, because after a full disk SQLite rolls a transaction back only at the next read; until then
   * its data fills the disk.
   */
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
        `SELECT ${URL_BYTES}${columns} FROM object ${last === undefined ? '' : 'WHERE url > ?'} ORDER BY url LIMIT ${PAGE_ROWS}`,
        ...(last === undefined ? [] : [last]),
      );
      if (rows.length === 0) return;
      const decoded = rows.map(([url, ...rest]) => [this.#url(url), ...rest]);
      last = String(decoded.at(-1)?.[0]);
      yield decoded;
    }
  }

  #record(row: readonly unknown[]): DatabaseRecord {
    const [bytes, updateTime, timeToLive, soif, sum] = row;
    const url = this.#url(bytes);
    if (!(soif instanceof Uint8Array))
      throw new StorageError(`${this.path} is damaged: ${url} has no object`);
    const record = {
      url,
      updateTime: updateTime === null ? undefined : Number(updateTime),
      timeToLive: Number(timeToLive),
      soif,
    };
    if (sum !== null && Number(sum) !== sumOf(record))
      throw new StorageError(`${this.path} is damaged: the record of ${url} does not match its checksum`);
    return record;
  }

  #url(bytes: unknown): string {
    try {
      if (bytes instanceof Uint8Array) return decoder.decode(bytes);
    } catch {
      // Not UTF-8.
    }
    throw new StorageError(`${this.path} is damaged: a record has no URL`);
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

function sumOf({ url, updateTime, timeToLive, soif }: DatabaseRecord): number {
  const head = crc32(`${url}\n${updateTime ?? ''}\n${timeToLive}\n`);
  // The sum over an empty value of SQLite would be 0: it has no address.
  return soif.length === 0 ? head : crc32(soif, head);
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
