import type { ClassicLevel, IteratorOptions } from 'classic-level';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { Mutex } from '../../protocols/mutex.js';
import { OLDEST_SCHEMA, SCHEMA_VERSION, schemaCodec } from '../records/records.js';
import type {
  ClaimOptions,
  PageOptions,
  Row,
  RowChange,
  Rows,
  RowsOptions,
  RowsSnapshot,
  RowTransaction,
  StoreKind,
} from '../rows/contract.js';
import { type KeyRange, SCHEMA_KEY, TABLE, type TableByte, tableRange } from '../rows/keys.js';
import { countRows, pagesOf, pagesOfKeys } from '../rows/pages.js';
import { flushLogs, flushOpening, prepareCreation } from './creation.js';
import { fullError, guardDatabase, type OpenDatabase, openDatabase } from './open-database.js';
import { ReadWriteLock } from './read-write-lock.js';
import { clearLengths, LogLengths, measureLogs } from './verify/log-lengths.js';
import { writeBatch } from './write-batch.js';
import { hasRoomToOpen, SharedDatabase } from './write-recovery.js';

export interface LevelOptions extends RowsOptions {
  /** Let worker threads of this process open the same directory. Default false. */
  readonly multithreading?: boolean;
  /** Size of the block cache in bytes. Default 8 MiB. */
  readonly cacheBytes?: number;
  /**
   * Size up to which rows stay in memory and in the log before they become a table file, bytes. Default 4 MiB.
   */
  readonly writeBufferBytes?: number;
}

/** Tables that only one kind of store has, and has rows in as soon as it is used. */
const KIND_TABLES: readonly (readonly [TableByte, StoreKind])[] = [
  [TABLE.entries, 'broker'],
  [TABLE.objects, 'broker'],
  [TABLE.summaries, 'gatherer'],
  [TABLE.documents, 'gatherer'],
  [TABLE.queues, 'gatherer'],
  [TABLE.seen, 'gatherer'],
];
const VIEWS = { keyEncoding: 'view', valueEncoding: 'view' } as const;
const DEFAULT_PAGE_ROWS = 1000;
const DEFAULT_PAGE_BYTES = 256 * 1024;
const MIB = 1024 * 1024;
/** Milliseconds between a write and the record of the logs' lengths: a few calls for thousands of writes. */
const RECORD_LENGTHS_MS = 250;

type Database = ClassicLevel<Uint8Array, Uint8Array>;

/**
 * One LevelDB directory with a schema row, read by keys and by pages, written by atomic batches.
 *
 * No iterator outlives a call: a long walk is a sequence of pages, each starting after the last key of the
 * previous page. So {@link Level.suspend} can close the files between two pages, and a walk is not a snapshot.
 */
export class Level implements Rows, RowTransaction {
  /** One process owns the directory. */
  readonly isShared = false;
  readonly #changes = new Mutex();
  readonly #opened: OpenDatabase<Uint8Array, Uint8Array>;
  readonly #db: Database;
  readonly #lock: ReadWriteLock;
  readonly #shared: SharedDatabase | undefined;
  /** Why the last write failed. LevelDB refuses, or loses, every later write until it is opened again. */
  #failure: StorageError | undefined;
  #recovering: Promise<void> | undefined;
  #recoveries = 0;
  /** Number of recoveries at the last reload by the caller. */
  #reloads = 0;
  readonly #lengths: LogLengths;
  #recording: NodeJS.Timeout | undefined;

  private constructor(
    readonly directory: string,
    opened: OpenDatabase<Uint8Array, Uint8Array>,
    multithreading: boolean,
  ) {
    this.#opened = opened;
    this.#db = opened.db;
    this.#lengths = new LogLengths(directory);
    this.#lock = new ReadWriteLock(`the store in ${directory}`);
    if (multithreading)
      this.#shared = new SharedDatabase(directory, (reopened) => this.#releaseUntil(reopened));
  }

  /**
   * @throws StorageError if another process has the directory open, it is damaged, or it holds another kind of
   *   store or another schema.
   */
  static async open(directory: string, options: LevelOptions): Promise<Level> {
    const { create = true, multithreading = false } = options;
    if (create) await prepareCreation(directory);
    const opened = await openDatabase<Uint8Array, Uint8Array>(directory, {
      ...VIEWS,
      createIfMissing: create,
      multithreading,
      cacheSize: options.cacheBytes ?? 8 * MIB,
      writeBufferSize: options.writeBufferBytes ?? 4 * MIB,
    });
    try {
      await flushOpening(directory);
      await guardDatabase(directory, () => checkSchema(opened.db, directory, options));
    } catch (error) {
      await opened.close();
      throw error;
    }
    const level = new Level(directory, opened, multithreading);
    await level.#lengths.record();
    return level;
  }

  /**
   * The kind of the store in a directory; undefined if it has no readable schema row. @throws StorageError if
   * it cannot be opened
   */
  static async kindOf(directory: string): Promise<StoreKind | undefined> {
    const opened = await openExisting(directory);
    try {
      const bytes = await opened.db.get(SCHEMA_KEY);
      const kind = bytes && schemaCodec.decode(bytes).kind;
      return kind === 'gatherer' || kind === 'broker' ? kind : undefined;
    } finally {
      await opened.close();
    }
  }

  /**
   * Writes the schema row of a store that has lost it, by the tables that it has.
   *
   * @returns the kind of the store; undefined if it has no table of either kind
   */
  static async restoreKind(directory: string): Promise<StoreKind | undefined> {
    const kind = await Level.kindOf(directory);
    if (kind !== undefined) return kind;
    const opened = await openExisting(directory);
    try {
      for (const [table, owner] of KIND_TABLES) {
        const [first] = await opened.db.keys({ ...tableRange(table), limit: 1 }).all();
        if (first === undefined) continue;
        await opened.db.put(SCHEMA_KEY, schemaCodec.encode({ kind: owner, version: SCHEMA_VERSION[owner] }));
        return owner;
      }
      return undefined;
    } finally {
      await opened.close();
    }
  }

  get place(): string {
    return this.directory;
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#use(() => this.#db.get(key));
  }

  /**
   * The present rows, for reads that may last, of rows that the block cache does not keep. Close it: until then LevelDB
   * keeps the rows that are replaced. A read from a snapshot fails with a StorageError when the database was closed and
   * opened meanwhile.
   */
  async snapshot(): Promise<RowsSnapshot> {
    const snapshot = await this.#use(async () => this.#db.snapshot());
    return {
      get: (key) => this.#use(() => this.#db.get(key, { fillCache: false, snapshot })),
      page: (range, options = {}) => this.#page(range, options, { fillCache: false, snapshot }),
      close: () => snapshot.close(),
    };
  }

  /** What a change writes is written at once, each batch by itself. */
  exclusive<T>(work: (rows: RowTransaction) => Promise<T>): Promise<T> {
    return this.#changes.runExclusive(() => work(this));
  }

  /** Waits for the changes in progress. */
  claim<T>(
    keys: readonly Uint8Array[],
    initial: Uint8Array,
    work: (rows: RowTransaction, values: readonly (Uint8Array | undefined)[]) => Promise<T>,
    { asHolder = false }: ClaimOptions = {},
  ): Promise<T> {
    return this.exclusive(async () => {
      const values = await this.getMany(keys);
      return work(this, asHolder ? values : values.map((value) => value ?? initial));
    });
  }

  /** One change runs at a time, so that nothing else claims the rows. */
  hold(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    return this.getMany(keys);
  }

  /** The steady clock of this process, the only one that has the directory. */
  time(): Promise<number> {
    return Promise.resolve(Math.floor(performance.timeOrigin + performance.now()));
  }

  /** Reads rows in one call to the thread pool; the results are in the order of the keys. */
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    if (keys.length === 0) return Promise.resolve([]);
    return this.#use(() => this.#db.getMany([...keys]));
  }

  /** Reads rows of the range, in order, up to the limits. */
  page(range: KeyRange, options: PageOptions = {}): Promise<Row[]> {
    return this.#page(range, options, {});
  }

  #page(
    range: KeyRange,
    options: PageOptions,
    more: IteratorOptions<Uint8Array, Uint8Array>,
  ): Promise<Row[]> {
    const limit = options.limit ?? DEFAULT_PAGE_ROWS;
    return this.#use(async () => {
      await using iterator = this.#db.iterator({ ...more, ...bounds(range, options), limit });
      return await iterator.nextv(limit);
    });
  }

  /** Like {@link page}, without the values. */
  pageOfKeys(range: KeyRange, options: PageOptions = {}): Promise<Uint8Array[]> {
    const limit = options.limit ?? DEFAULT_PAGE_ROWS;
    return this.#use(async () => {
      await using iterator = this.#db.keys({ ...bounds(range, options), limit });
      return await iterator.nextv(limit);
    });
  }

  /** All rows of the range, in pages. */
  pages(range: KeyRange, options?: PageOptions): AsyncGenerator<Row[], void, undefined> {
    return pagesOf(this, range, options);
  }

  /** Like {@link pages}, without the values. */
  pagesOfKeys(range: KeyRange, options?: PageOptions): AsyncGenerator<Uint8Array[], void, undefined> {
    return pagesOfKeys(this, range, options);
  }

  /** Number of rows in the range. Costs a walk over all keys. */
  count(range: KeyRange): Promise<number> {
    return countRows(this, range);
  }

  /**
   * Writes all changes or none. Of two changes of the same row the later one counts.
   *
   * @param sync flush this and all earlier batches to the disk. Without it a killed process loses nothing, a
   *   power failure may lose the last batches.
   */
  write(changes: Iterable<RowChange>, sync = false): Promise<void> {
    return this.#change(async () => {
      await writeBatch(this.#db, [...changes]);
      if (sync) await this.#flush();
      else this.#recordLengths();
    });
  }

  /** Makes everything that was written durable: a power failure loses nothing of it. */
  flush(): Promise<void> {
    return this.#use(() => this.#flush());
  }

  async #flush(): Promise<void> {
    try {
      const before = await measureLogs(this.directory);
      await flushLogs(this.directory);
      this.#lengths.noteFlushed(before);
      await this.#lengths.record();
    } catch (cause) {
      throw new StorageError(`the store in ${this.directory} cannot be flushed: ${messageOf(cause)}`, {
        cause,
      });
    }
  }

  /** Records the lengths of the logs, a moment after the first of several writes. */
  #recordLengths(): void {
    this.#recording ??= setTimeout(() => {
      this.#recording = undefined;
      // A write that failed may have left a part of a record.
      if (this.#failure === undefined) void this.#lengths.record();
    }, RECORD_LENGTHS_MS).unref();
  }

  /** Before the files are closed: lengths that are written later would be those of files that are replaced. */
  async #endRecording(): Promise<void> {
    clearTimeout(this.#recording);
    this.#recording = undefined;
    await this.#lengths.settled();
  }

  /**
   * Deletes a range without reading it into JavaScript. Not atomic: a partial deletion must be a valid state.
   */
  clear(range: KeyRange): Promise<void> {
    return this.#change(() => this.#db.clear({ ...range }));
  }

  /** Rewrites the files without deleted and replaced rows. Reads and writes continue meanwhile. */
  compact(): Promise<void> {
    return this.#change(() => this.#db.compactRange(Uint8Array.of(0x00), Uint8Array.of(0xff)));
  }

  /**
   * After a failed write: opens the database again, without which LevelDB refuses every write, or appends to a
   * damaged log. Writes do so themselves; a caller with state of its own calls it before it reads that state.
   * Reads continue meanwhile.
   *
   * @param reload reads the caller's state again, if there was a recovery since the last call: the write that
   *   failed is either there or not
   * @throws StorageError while the disk is full
   */
  async recover(reload?: () => Promise<void>): Promise<void> {
    await this.#recover();
    if (reload === undefined || this.#reloads === this.#recoveries) return;
    await reload();
    this.#reloads = this.#recoveries;
  }

  async #recover(): Promise<void> {
    if (this.#isUsable()) return;
    // It is closed while it is suspended, too.
    await this.#lock.released();
    if (this.#isUsable()) return;
    this.#recovering ??= this.#reopen().finally(() => {
      this.#recovering = undefined;
    });
    await this.#recovering;
  }

  /** Whether there is room to {@link recover}. */
  hasRoom(): Promise<boolean> {
    return hasRoomToOpen(this.directory);
  }

  /** Closes the files, runs `work` on the directory, and opens the files again, also if `work` fails. */
  suspend<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.exclusive(() =>
      guardDatabase(this.directory, async () => {
        await this.#endRecording();
        await this.#db.close();
        try {
          return await work();
        } finally {
          // Its own files, closed a moment ago, are not compared again.
          await this.#openAgain();
        }
      }),
    );
  }

  /** Waits for the calls in flight, then closes the files. */
  close(): Promise<void> {
    return this.#lock.close(async () => {
      this.#shared?.[Symbol.dispose]();
      await this.#endRecording();
      await guardDatabase(this.directory, () => this.#opened.close());
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #isUsable(): boolean {
    return this.#failure === undefined && this.#db.status === 'open';
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    const { damage } = this.#opened;
    if (damage !== undefined) throw damage;
    if (this.#db.status !== 'open') {
      await this.#lock.released();
      // A recovery that failed left it closed.
      if (this.#db.status === 'closed' && !this.#lock.closed) await this.recover();
    }
    return this.#lock.shared(() => guardDatabase(this.directory, work));
  }

  async #change(work: () => Promise<void>): Promise<void> {
    await this.recover();
    try {
      await this.#lock.shared(() => guardDatabase(this.directory, work));
    } catch (error) {
      if (error instanceof StorageError) this.#failure = error;
      throw error;
    }
  }

  async #reopen(): Promise<void> {
    if (!(await hasRoomToOpen(this.directory))) throw this.#failure ?? fullError(this.directory, undefined);
    await this.#lock.exclusive(() =>
      guardDatabase(this.directory, async () => {
        await this.#endRecording();
        await this.#db.close();
        try {
          await this.#shared?.closeElsewhere();
          await this.#openAgain();
        } finally {
          this.#shared?.reopened();
        }
      }),
    );
    this.#failure = undefined;
    this.#recoveries++;
  }

  async #openAgain(): Promise<void> {
    await clearLengths(this.directory);
    await this.#db.open({ createIfMissing: false });
    await flushOpening(this.directory);
    await this.#lengths.record();
  }

  /** Another thread recovers the database. */
  #releaseUntil(reopened: Promise<void>): Promise<void> {
    return this.#lock.exclusive(async () => {
      await this.#db.close();
      await reopened;
      await this.#db.open({ createIfMissing: false });
    });
  }
}

function openExisting(directory: string): Promise<OpenDatabase<Uint8Array, Uint8Array>> {
  return openDatabase(directory, { ...VIEWS, createIfMissing: false });
}

function bounds(range: KeyRange, options: PageOptions) {
  const { gte, lt } = range;
  const { after, reverse = false, bytes = DEFAULT_PAGE_BYTES } = options;
  const common = { reverse, highWaterMarkBytes: bytes };
  if (after === undefined) return { gte, lt, ...common };
  return reverse ? { gte, lt: after, ...common } : { gt: after, lt, ...common };
}

async function checkSchema(db: Database, directory: string, options: LevelOptions): Promise<void> {
  const bytes = await db.get(SCHEMA_KEY);
  if (bytes === undefined) {
    const [first] = await db.keys({ limit: 1 }).all();
    if (first !== undefined || options.create === false) {
      throw new StorageError(`${directory} is not a ${options.kind} store`);
    }
    await db.put(
      SCHEMA_KEY,
      schemaCodec.encode({ kind: options.kind, version: SCHEMA_VERSION[options.kind] }),
    );
    return;
  }
  const schema = schemaCodec.decode(bytes);
  if (schema.kind !== options.kind) {
    throw new StorageError(`${directory} is a ${schema.kind} store, not a ${options.kind} store`);
  }
  const [oldest, current] = [OLDEST_SCHEMA[options.kind], SCHEMA_VERSION[options.kind]];
  if (schema.version < oldest || schema.version > current) {
    const known = oldest === current ? `schema ${current}` : `schemas ${oldest} to ${current}`;
    throw new StorageError(`${directory} has schema ${schema.version}; this program reads ${known}`);
  }
  // Programs of the earlier version would take the rows of this one for damage.
  if (schema.version < current && options.upgrade === true)
    await db.put(SCHEMA_KEY, schemaCodec.encode({ kind: options.kind, version: current }));
}
