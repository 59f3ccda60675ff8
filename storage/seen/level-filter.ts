import { Level } from '../level/level.js';
import type { RowChange, RowReader, Rows } from '../rows/contract.js';
import { NO_VALUE, TABLE, tableRange, textKey } from '../rows/keys.js';
import { countRows, pagesOfKeys } from '../rows/pages.js';
import { BloomBits } from './bloom-set.js';
import type { SeenOptions } from './contract.js';
import { type KeyWords, sortKeys, uriKeysOf } from './key-list.js';
import { KeyTable } from './key-table.js';
import { RecentKeys } from './recent-keys.js';
import { SerialFilter } from './serial-filter.js';

/** Row with the number of keys. */
export const SEEN_COUNT_KEY = textKey(TABLE.system, 'seen-count');

const PAGE_KEYS = 8192;
/** Capacity of the Bloom filter in memory, 8 MiB; beyond it more keys need a read. */
const BLOOM_KEYS = 11_000_000;
const BLOOM_HASHES = 4;
/** The same of a part of a store, 96 KiB. */
const PART_KEYS = 131_072;
/**
 * Up to this many stored keys are read into the Bloom filter when the store is opened, which takes some
 * seconds.
 */
const MAX_LOADED_KEYS = 5_000_000;
/** Options of a store for the filter alone. Keys arrive in random order, so larger buffers pay off. */
const OWN_STORE = { kind: 'gatherer', cacheBytes: 32 << 20, writeBufferBytes: 16 << 20 } as const;

type WriteRows = (rows: readonly RowChange[]) => Promise<void>;

/** Rows for the store's owner to write. */
export interface TakenChanges {
  readonly rows: readonly RowChange[];
  readonly written: () => void;
}

/**
 * CRAWL-4.6, the default: the rows of the Gatherer's `seen` table (CRAWL-3.7, 3.8), in a Gatherer's store or in
 * a separate directory. Uncommitted changes are in memory.
 */
export class LevelFilter extends SerialFilter {
  readonly kind = 'level';
  readonly #recent = new RecentKeys();
  /**
   * Contains every key that was ever added: a key that it lacks is new and needs no read. Undefined if the
   * store has too many keys.
   */
  readonly #bloom: BloomBits | undefined;
  /** Keys that were added and are not in the rows yet. */
  readonly #added = new KeyTable();
  /** Keys that were forgotten and are still in the rows. */
  readonly #deleted = new KeyTable();
  /** Additions that the store's owner has taken and may not have written yet. */
  readonly #addsInFlight = new KeyTable();
  /** Deletions that the store's owner has taken and may not have written yet. */
  readonly #deletesInFlight = new KeyTable();
  #count: number;
  readonly #database: RowReader;
  /** False if the rows belong to a store that the caller owns. */
  readonly hasOwnFiles: boolean;
  readonly #write: WriteRows;
  readonly #own: Rows | undefined;

  private constructor(
    database: RowReader,
    hasOwnFiles: boolean,
    options: Omit<SeenOptions, 'directory'>,
    write: WriteRows,
    count: number,
    bloom: BloomBits | undefined,
    own?: Rows,
  ) {
    super(options);
    this.#database = database;
    this.hasOwnFiles = hasOwnFiles;
    this.#write = write;
    this.#count = count;
    this.#bloom = bloom;
    this.#own = own;
  }

  /**
   * @param where a directory for this filter, or an open store, which the caller closes after the filter
   * @param write writes rows of a commit; default: as a batch
   * @throws StorageError if the directory is in use or holds another kind of store
   */
  static async open(
    where: string | Rows,
    options: Omit<SeenOptions, 'directory'> = {},
    write?: WriteRows,
  ): Promise<LevelFilter> {
    const isOwn = typeof where === 'string';
    const database = isOwn ? await Level.open(where, OWN_STORE) : where;
    const count = await storedCount(database);
    const commit: WriteRows = (rows) => database.write(rows, options.sync === true);
    const bloom = await loadBloom(database, count);
    return new LevelFilter(
      database,
      isOwn,
      options,
      write ?? commit,
      count,
      bloom,
      isOwn ? database : undefined,
    );
  }

  /** The filter of a part of a store, one of many: with less memory. */
  static async ofPart(rows: RowReader, write: WriteRows): Promise<LevelFilter> {
    const count = await storedCount(rows);
    const bloom = await loadBloom(rows, count, PART_KEYS, PART_KEYS);
    return new LevelFilter(rows, false, {}, write, count, bloom);
  }

  get count(): number {
    return this.#count;
  }

  get uncommitted(): number {
    return this.#added.size + this.#deleted.size;
  }

  get memoryBytes(): number {
    const tables = [this.#added, this.#deleted, this.#addsInFlight, this.#deletesInFlight, this.#recent];
    return tables.reduce((sum, { memoryBytes }) => sum + memoryBytes, this.#bloom?.memoryBytes ?? 0);
  }

  /**
   * The rows that {@link commit} would write, for a store's owner who writes them in one batch with the queue:
   * then "seen" and "queued" are one fact on disk. No other call may be in flight. The owner calls `written`
   * when the rows are written.
   */
  takeChanges(): TakenChanges {
    const added = this.#added.keys();
    const deleted = this.#deleted.keys();
    forEachKey(added, (low, high) => {
      this.#addsInFlight.add(low, high);
      this.#deletesInFlight.delete(low, high);
    });
    forEachKey(deleted, (low, high) => {
      this.#deletesInFlight.add(low, high);
      this.#addsInFlight.delete(low, high);
    });
    return {
      rows: this.#takeRows(),
      written: () => {
        forEachKey(added, (low, high) => this.#addsInFlight.delete(low, high));
        forEachKey(deleted, (low, high) => this.#deletesInFlight.delete(low, high));
      },
    };
  }

  protected async addUris(uris: readonly string[]): Promise<Uint8Array> {
    const keys = uriKeysOf(uris);
    const stored = await this.#lookUp(keys);
    const isNew = new Uint8Array(uris.length);
    for (let i = 0; i < isNew.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      const absent = stored[i] === 1 ? this.#deleted.delete(low, high) : this.#added.add(low, high);
      this.#recent.add(low, high);
      this.#bloom?.add(low, high);
      if (!absent) continue;
      isNew[i] = 1;
      this.#count++;
    }
    return isNew;
  }

  protected async forgetUris(uris: readonly string[]): Promise<void> {
    const keys = uriKeysOf(uris);
    const stored = await this.#lookUp(keys);
    for (let i = 0; i < stored.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      this.#recent.delete(low, high);
      const present = stored[i] === 1 ? this.#deleted.add(low, high) : this.#added.delete(low, high);
      if (present) this.#count--;
    }
  }

  protected async writeChanges(): Promise<void> {
    if (this.uncommitted > 0) await this.#write(this.#takeRows());
  }

  protected async release(): Promise<void> {
    await this.#own?.close();
  }

  /** Sets a 1 for each key that has a row. Reads the store once, for the keys that memory cannot answer. */
  async #lookUp(keys: KeyWords): Promise<Uint8Array> {
    const stored = new Uint8Array(keys.length / 2);
    const unknown: number[] = [];
    for (let i = 0; i < stored.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      if (this.#added.has(low, high) || this.#deletesInFlight.has(low, high)) continue;
      if (this.#bloom?.has(low, high) === false) continue;
      if (this.#recent.has(low, high) || this.#addsInFlight.has(low, high)) stored[i] = 1;
      else unknown.push(i);
    }
    // In the order of the rows, so that neighbors share a block.
    unknown.sort((a, b) => keys[2 * a + 1]! - keys[2 * b + 1]!);
    const rows = await this.#database.getMany(unknown.map((i) => rowKey(keys[2 * i]!, keys[2 * i + 1]!)));
    unknown.forEach((i, row) => {
      if (rows[row] !== undefined) stored[i] = 1;
    });
    return stored;
  }

  #takeRows(): RowChange[] {
    const rows: RowChange[] = [];
    const added = this.#added.keys();
    const deleted = this.#deleted.keys();
    sortKeys(added);
    forEachKey(added, (low, high) => rows.push({ key: rowKey(low, high), value: NO_VALUE }));
    forEachKey(deleted, (low, high) => rows.push({ key: rowKey(low, high) }));
    if (rows.length > 0) rows.push({ key: SEEN_COUNT_KEY, value: Buffer.from(String(this.#count)) });
    this.#added.clear();
    this.#deleted.clear();
    return rows;
  }
}

/** Reads all keys into a Bloom filter; undefined if there are too many. */
async function loadBloom(
  database: RowReader,
  count: number,
  maxLoaded = MAX_LOADED_KEYS,
  capacity = BLOOM_KEYS,
): Promise<BloomBits | undefined> {
  if (count > maxLoaded) return undefined;
  const bloom = new BloomBits(capacity, BLOOM_HASHES);
  if (count === 0) return bloom;
  for await (const page of pagesOfKeys(database, tableRange(TABLE.seen), { limit: PAGE_KEYS })) {
    for (const key of page) {
      const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
      bloom.add(bytes.readUInt32BE(5), bytes.readUInt32BE(1));
    }
  }
  return bloom;
}

function forEachKey(keys: KeyWords, work: (low: number, high: number) => unknown): void {
  for (let offset = 0; offset < keys.length; offset += 2) work(keys[offset]!, keys[offset + 1]!);
}

/** CRAWL-3.8: big-endian. The words from {@link uriKeysOf} are in signed order already. */
function rowKey(low: number, high: number): Uint8Array {
  const key = Buffer.allocUnsafe(9);
  key[0] = TABLE.seen;
  key.writeUInt32BE(high, 1);
  key.writeUInt32BE(low, 5);
  return key;
}

/** The count of the last commit; without one the rows are counted. */
async function storedCount(database: RowReader): Promise<number> {
  const row = await database.get(SEEN_COUNT_KEY);
  if (row !== undefined) return Number(Buffer.from(row).toString());
  return countRows(database, tableRange(TABLE.seen));
}
