// The typed tables of a database: how the keys and rows of each are encoded, and how they are read.
import type { PageOptions, Row, RowChange, RowReader } from './contract.js';
import { type KeyCodec, type KeyRange, TABLE, textKey } from './keys.js';
import { countRows, pagesOf, pagesOfKeys } from './pages.js';

/** Converts the values of a table to the bytes of its rows and back. */
export interface RowCodec<K, V> {
  encode(value: V): Uint8Array;
  /** @throws StorageError for damaged bytes */
  decode(bytes: Uint8Array, key: K): V;
}

/** The bytes of a table's keys and rows. Makes the changes of its rows, for a batch. */
export class TableFormat<K, V> implements RowCodec<K, V> {
  readonly keys: KeyCodec<K>;
  readonly #rows: RowCodec<K, V>;

  constructor(keys: KeyCodec<K>, rows: RowCodec<K, V>) {
    this.keys = keys;
    this.#rows = rows;
  }

  encode(value: V): Uint8Array {
    return this.#rows.encode(value);
  }

  decode(bytes: Uint8Array, key: K): V {
    return this.#rows.decode(bytes, key);
  }

  decodeRow([key, value]: Row): V {
    return this.#rows.decode(value, this.keys.decode(key));
  }

  put(key: K, value: V): RowChange {
    return { key: this.keys.encode(key), value: this.encode(value) };
  }

  delete(key: K): RowChange {
    return { key: this.keys.encode(key) };
  }

  /** The same rows as other values, e.g. with what their keys say. */
  map<W>(from: (value: V, key: K) => W, to: (value: W) => V): TableFormat<K, W> {
    return new TableFormat<K, W>(this.keys, {
      encode: (value) => this.encode(to(value)),
      decode: (bytes, key) => from(this.decode(bytes, key), key),
    });
  }
}

export interface TablePageOptions<K> extends Omit<PageOptions, 'after'> {
  /** The part of the table. Default: all of it. */
  readonly range?: KeyRange;
  /** Start after this key. */
  readonly after?: K | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the rows of a table. A walk is a sequence of pages and not a snapshot. */
export class Table<K, V> {
  protected readonly rows: RowReader;
  protected readonly format: TableFormat<K, V>;

  constructor(rows: RowReader, format: TableFormat<K, V>) {
    this.rows = rows;
    this.format = format;
  }

  async get(key: K): Promise<V | undefined> {
    const bytes = await this.rows.get(this.format.keys.encode(key));
    return bytes && this.format.decode(bytes, key);
  }

  async has(key: K): Promise<boolean> {
    return (await this.rows.get(this.format.keys.encode(key))) !== undefined;
  }

  /** Reads rows in one call to the thread pool; the results are in the order of the keys. */
  async getMany(keys: readonly K[]): Promise<(V | undefined)[]> {
    const rows = await this.rows.getMany(keys.map((key) => this.format.keys.encode(key)));
    return rows.map((bytes, i) => bytes && this.format.decode(bytes, keys[i]!));
  }

  /** Reads rows in one call; the result has those that exist. */
  async getMap(keys: Iterable<K>): Promise<Map<K, V>> {
    const wanted = [...keys];
    const rows = await this.getMany(wanted);
    const found = new Map<K, V>();
    rows.forEach((value, i) => {
      if (value !== undefined) found.set(wanted[i]!, value);
    });
    return found;
  }

  /** Reads a page of values, in the order of their keys. */
  async page(options: TablePageOptions<K> = {}): Promise<V[]> {
    const { keys } = this.format;
    const rows = await this.rows.page(options.range ?? keys.range, this.#after(options));
    return rows.map((row) => this.format.decodeRow(row));
  }

  /** All rows in pages, in the order of their keys. */
  async *entryPages(options: TablePageOptions<K> = {}): AsyncGenerator<(readonly [K, V])[], void, undefined> {
    const { keys } = this.format;
    for await (const rows of pagesOf(this.rows, options.range ?? keys.range, this.#after(options))) {
      options.signal?.throwIfAborted();
      yield rows.map(([bytes, value]) => {
        const key = keys.decode(bytes);
        return [key, this.format.decode(value, key)] as const;
      });
    }
  }

  /** All values in pages, in the order of their keys. */
  async *pages(options: TablePageOptions<K> = {}): AsyncGenerator<V[], void, undefined> {
    for await (const page of this.entryPages(options)) yield page.map(([, value]) => value);
  }

  /** All values, one after the other. */
  async *iterate(options: TablePageOptions<K> = {}): AsyncGenerator<V, void, undefined> {
    for await (const page of this.pages(options)) yield* page;
  }

  /** All keys in pages, without reading the values. */
  async *keyPages(options: TablePageOptions<K> = {}): AsyncGenerator<K[], void, undefined> {
    const { keys } = this.format;
    for await (const page of pagesOfKeys(this.rows, options.range ?? keys.range, this.#after(options))) {
      options.signal?.throwIfAborted();
      yield page.map((key) => keys.decode(key));
    }
  }

  /** Number of rows. Costs a walk over all keys. */
  count(): Promise<number> {
    return countRows(this.rows, this.format.keys.range);
  }

  #after({ after, ...options }: TablePageOptions<K>): PageOptions {
    return { ...options, after: after === undefined ? undefined : this.format.keys.encode(after) };
  }
}

/** A row of its own, e.g. a store's counters. `I` is its value in a store that does not have it yet. */
export class SingleRow<V, I = V> {
  readonly key: Uint8Array;
  readonly codec: RowCodec<void, V>;
  readonly #initial: I;

  constructor(name: string, codec: RowCodec<void, V>, initial: I) {
    this.key = textKey(TABLE.system, name);
    this.codec = codec;
    this.#initial = initial;
  }

  async read(rows: RowReader): Promise<V | I> {
    return this.of(await rows.get(this.key));
  }

  /** The value of the row's bytes. */
  of(bytes: Uint8Array | undefined): V | I {
    return bytes === undefined ? this.#initial : this.codec.decode(bytes);
  }

  put(value: V): RowChange {
    return { key: this.key, value: this.codec.encode(value) };
  }
}
