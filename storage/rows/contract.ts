// What the stores ask of a database: rows in the order of their keys, read by keys and by pages, written by
// atomic batches. LevelDB is one (`../level`), PostgreSQL another (`../postgres`).
import type { KeyRange } from './keys.js';

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

/** A moment of a database, for reads that may last. Close it: until then the database keeps what is replaced. */
export interface RowsSnapshot {
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** Like {@link RowReader.page}: a walk over a snapshot sees one moment. */
  page(range: KeyRange, options?: PageOptions): Promise<Row[]>;
  close(): Promise<void>;
}

/** Reads rows. A walk is a sequence of pages and not a snapshot. */
export interface RowReader {
  /** The place of the rows, for messages: a directory, or a URL without its password. */
  readonly place: string;
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** Reads rows in one call; the results are in the order of the keys. */
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /** Reads rows of the range, in order, up to the limits; at least one if there is one. */
  page(range: KeyRange, options?: PageOptions): Promise<Row[]>;
  /** Like {@link page}, without the values. */
  pageOfKeys(range: KeyRange, options?: PageOptions): Promise<Uint8Array[]>;
  /** The present rows; of a change in progress, those with what it wrote. */
  snapshot(): Promise<RowsSnapshot>;
  /**
   * The time by the clock of the database, milliseconds: one clock for all processes, whatever the clocks of their hosts
   * say. Only differences have a meaning.
   */
  time(): Promise<number>;
}

/** Reads and writes rows. */
export interface RowWriter extends RowReader {
  /**
   * Writes all changes or none. Of two changes of the same row the later one counts.
   *
   * @param sync make this and all earlier batches durable. Without it a killed process loses nothing, a power
   *   failure may lose the last batches.
   */
  write(changes: Iterable<RowChange>, sync?: boolean): Promise<void>;
  /** Deletes a range. Need not be atomic: a partial deletion must be a valid state. */
  clear(range: KeyRange): Promise<void>;
}

/** A change in progress. */
export interface RowTransaction extends RowWriter {
  /** Reads rows, like `getMany`, and keeps others from a {@link Rows.claim} of them until the change ends. */
  hold(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
}

export interface ClaimOptions {
  /**
   * The caller has what the rows stand for already: the claim waits for other claims of them, and does not mind that
   * a change holds them. Rows that do not exist are left out. Default false: rows that another has are left out.
   */
  readonly asHolder?: boolean;
}

/** The kind of a store. */
export type StoreKind = 'gatherer' | 'broker';

/** What a store is opened with, whatever its database. */
export interface RowsOptions {
  readonly kind: StoreKind;
  /** Create the store if the place does not have one. Default true. */
  readonly create?: boolean;
  /**
   * Makes an earlier version of the tables the current one, for an owner that writes rows of the current one.
   * Default false.
   */
  readonly upgrade?: boolean;
}

/** Options of {@link Rows.exclusive}. */
export interface ExclusiveOptions {
  /**
   * Whether the change may be run again when the connection is lost, and it is not known whether it was written. Default
   * false: it fails.
   */
  readonly mayRepeat?: boolean;
}

/** A database of rows. */
export interface Rows extends RowWriter, AsyncDisposable {
  /**
   * Whether other processes may write the same rows. Then a change begins with what it depends on: rows that
   * were read before it may be out of date.
   */
  readonly isShared: boolean;
  /**
   * Runs a change, of which only one runs at a time, in all processes. If {@link isShared}, all that it writes is one
   * transaction: it is written when `work` has resolved, and none of it if `work` fails.
   *
   * In a database that is not shared, `write` and `clear` outside of it do not wait for it.
   */
  exclusive<T>(work: (rows: RowTransaction) => Promise<T>, options?: ExclusiveOptions): Promise<T>;
  /**
   * A secret of the store that is not among its rows, the same for all processes: the first one that is given stays.
   * Undefined for a database whose directory may have files beside it.
   *
   * @param replace whether this one takes the place of the present one
   */
  secret?(secret: Uint8Array, replace?: boolean): Promise<Uint8Array>;
  /**
   * Runs a short change of rows that only one claim at a time may have. If {@link isShared}, it is a transaction of its
   * own, which does not wait for an {@link exclusive} change.
   *
   * @param initial the value of rows that do not exist
   * @param work receives the values of the claimed rows, in the order of the keys; undefined: another has the row
   */
  claim<T>(
    keys: readonly Uint8Array[],
    initial: Uint8Array,
    work: (rows: RowTransaction, values: readonly (Uint8Array | undefined)[]) => Promise<T>,
    options?: ClaimOptions,
  ): Promise<T>;
  /**
   * After a failed write: makes the database usable again. Writes do so themselves; a caller with state of its
   * own calls it before it reads that state. Reads continue meanwhile.
   *
   * @param reload reads the caller's state again, if a write may have failed since the last call
   * @throws StorageError while the disk is full
   */
  recover(reload?: () => Promise<void>): Promise<void>;
  /** Whether a write that failed because the disk is full may succeed now. */
  hasRoom(): Promise<boolean>;
  /** Makes everything that was written durable: a power failure loses nothing of it. */
  flush(): Promise<void>;
  /** Rewrites the files without deleted and replaced rows. Reads and writes continue meanwhile. */
  compact(): Promise<void>;
  /** Waits for the calls in flight. */
  close(): Promise<void>;
}
