import { ClassicLevel } from 'classic-level';
import { StorageError } from '../../protocols/errors.js';
import { SCHEMA_VERSION, schemaCodec } from '../records/records.js';
import { type KeyRange, TABLE, textKey } from './keys.js';
import { ReadWriteLock } from './read-write-lock.js';

/** The kind of store in a directory. */
type StoreKind = 'gatherer' | 'broker';

/** A change of one row; without `value` the row is deleted. */
export interface RowChange {
  readonly key: Uint8Array;
  readonly value?: Uint8Array;
}

export type Row = readonly [key: Uint8Array, value: Uint8Array];

export interface PageOptions {
  /** Maximum number of rows. Default 1000. */
  readonly limit?: number;
  /** The page ends with the row that exceeds this many bytes. Default 256 KiB. */
  readonly bytes?: number;
  /** Start after this key, i.e. the last row of the previous page. */
  readonly after?: Uint8Array | undefined;
  readonly reverse?: boolean;
}

export interface LevelOptions {
  readonly kind: StoreKind;
  /** Create the store if the directory does not have one. Default true. */
  readonly create?: boolean;
  /** Let worker threads of this process open the same directory. Default false. */
  readonly multithreading?: boolean;
  /** Size of the block cache in bytes. Default 8 MiB. */
  readonly cacheBytes?: number;
  /** Size up to which rows stay in memory and in the log before they become a table file, bytes. Default 4 MiB. */
  readonly writeBufferBytes?: number;
}

/** Key of the row with the store's kind and schema version. */
const SCHEMA_KEY = textKey(TABLE.system, 'schema');
const DEFAULT_PAGE_ROWS = 1000;
const DEFAULT_PAGE_BYTES = 256 * 1024;
const MIB = 1024 * 1024;

type Database = ClassicLevel<Uint8Array, Uint8Array>;

/**
 * One LevelDB directory with a schema row, read by keys and by pages, written by atomic batches.
 *
 * No iterator outlives a call: a long walk is a sequence of pages, each starting after the last key of the previous page. So
 * {@link Level.suspend} can close the files between two pages, and a walk is not a snapshot.
 */
export class Level implements AsyncDisposable {
  readonly #db: Database;
  readonly #lock: ReadWriteLock;

  private constructor(
    readonly directory: string,
    db: Database,
  ) {
    this.#db = db;
    this.#lock = new ReadWriteLock(`the store in ${directory}`);
  }

  /**
   * @throws StorageError if another process has the directory open, it is damaged, or it holds another kind of store or another schema.
   */
  static async open(directory: string, options: LevelOptions): Promise<Level> {
    const db: Database = new ClassicLevel(directory, {
      keyEncoding: 'view',
      valueEncoding: 'view',
      createIfMissing: options.create ?? true,
      multithreading: options.multithreading ?? false,
      cacheSize: options.cacheBytes ?? 8 * MIB,
      writeBufferSize: options.writeBufferBytes ?? 4 * MIB,
    });
    await guard(directory, () => db.open());
    try {
      await guard(directory, () => checkSchema(db, directory, options));
    } catch (error) {
      await db.close();
      throw error;
    }
    return new Level(directory, db);
  }

  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#use(() => this.#db.get(key));
  }

  /** Reads rows in one call to the thread pool; the results are in the order of the keys. */
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    if (keys.length === 0) return Promise.resolve([]);
    return this.#use(() => this.#db.getMany([...keys]));
  }

  /** Reads rows of the range, in order, up to the limits. */
  page(range: KeyRange, options: PageOptions = {}): Promise<Row[]> {
    const limit = options.limit ?? DEFAULT_PAGE_ROWS;
    return this.#use(async () => {
      const iterator = this.#db.iterator({ ...bounds(range, options), limit });
      try {
        return await iterator.nextv(limit);
      } finally {
        await iterator.close();
      }
    });
  }

  /** Like {@link page}, without the values. */
  pageOfKeys(range: KeyRange, options: PageOptions = {}): Promise<Uint8Array[]> {
    const limit = options.limit ?? DEFAULT_PAGE_ROWS;
    return this.#use(async () => {
      const iterator = this.#db.keys({ ...bounds(range, options), limit });
      try {
        return await iterator.nextv(limit);
      } finally {
        await iterator.close();
      }
    });
  }

  /** All rows of the range, in pages. */
  async *pages(range: KeyRange, options: PageOptions = {}): AsyncGenerator<Row[], void, undefined> {
    let { after } = options;
    for (;;) {
      const page = await this.page(range, { ...options, after });
      if (page.length === 0) return;
      after = page.at(-1)?.[0];
      yield page;
    }
  }

  /** Like {@link pages}, without the values. */
  async *pagesOfKeys(
    range: KeyRange,
    options: PageOptions = {},
  ): AsyncGenerator<Uint8Array[], void, undefined> {
    let { after } = options;
    for (;;) {
      const page = await this.pageOfKeys(range, { ...options, after });
      if (page.length === 0) return;
      after = page.at(-1);
      yield page;
    }
  }

  /**
   * Writes all changes or none. Of two changes of the same row the later one counts.
   *
   * @param sync flush to the disk. Without it a killed process loses nothing, a power failure may lose the last batches.
   */
  write(changes: Iterable<RowChange>, sync = false): Promise<void> {
    return this.#use(() => {
      const batch = this.#db.batch();
      for (const { key, value } of changes) {
        if (value === undefined) batch.del(key);
        else batch.put(key, value);
      }
      return batch.write({ sync });
    });
  }

  /** Deletes a range without reading it into JavaScript. Not atomic: a partial deletion must be a valid state. */
  clear(range: KeyRange): Promise<void> {
    return this.#use(() => this.#db.clear({ ...range }));
  }

  /** Rewrites the files without deleted and replaced rows. Reads and writes continue meanwhile. */
  compact(): Promise<void> {
    return this.#use(() => this.#db.compactRange(Uint8Array.of(0x00), Uint8Array.of(0xff)));
  }

  /** Closes the files, runs `work` on the directory, and opens the files again, also if `work` fails. */
  suspend<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.exclusive(() =>
      guard(this.directory, async () => {
        await this.#db.close();
        try {
          return await work();
        } finally {
          await this.#db.open();
        }
      }),
    );
  }

  /** Waits for the calls in flight, then closes the files. */
  close(): Promise<void> {
    return this.#lock.close(() => guard(this.directory, () => this.#db.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #use<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.shared(() => guard(this.directory, work));
  }
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
  if (schema.version !== SCHEMA_VERSION[options.kind]) {
    throw new StorageError(
      `${directory} has schema ${schema.version}; this program reads schema ${SCHEMA_VERSION[options.kind]}`,
    );
  }
}

/** Converts errors of the database to StorageErrors. */
async function guard<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isLevelError(error)) throw error;
    const locked =
      error.cause instanceof Error && 'code' in error.cause && error.cause.code === 'LEVEL_LOCKED';
    const problem = locked ? 'is in use by another process' : `cannot be used: ${reason(error)}`;
    throw new StorageError(`the store in ${directory} ${problem}`, { cause: error });
  }
}

function isLevelError(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    error.code.startsWith('LEVEL_')
  );
}

function reason(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
