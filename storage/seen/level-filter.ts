import { TABLE, tableRange, textKey } from '../level/keys.js';
import { Level, type RowChange } from '../level/level.js';
import { BloomBits } from './bloom-bits.js';
import { DEFAULT_MAX_UNCOMMITTED, type SeenFilter, type SeenOptions } from './contract.js';
import { type KeyWords, sortKeys, uriKeysOf } from './key-list.js';
import { KeyTable } from './key-table.js';
import { QuickCache } from './quick-cache.js';
import { Turns } from './turns.js';

/** Row with the number of keys. */
export const SEEN_COUNT_KEY = textKey(TABLE.system, 'seen-count');

const EMPTY = new Uint8Array(0);
const COUNT_PAGE = 8192;
/** Of the filter in memory: 8 MiB; beyond this many keys it says `new` more seldom, and the disk is asked. */
const MET_KEYS = 11_000_000;
const MET_HASHES = 4;
/** Keys that are walked over for it when a filter is opened: some seconds. */
const MET_WALK = 5_000_000;
/** Of a directory of its own: keys come in no order, so more of them are held back and cached than elsewhere. */
const OWN_STORE = { kind: 'gatherer', cacheBytes: 32 << 20, writeBufferBytes: 16 << 20 } as const;

/** Rows for the store's owner to write. */
export interface TakenChanges {
  readonly rows: readonly RowChange[];
  readonly written: () => void;
}

/**
 * CRAWL-4.6, the default: the rows of the Gatherer's `seen` table (CRAWL-3.7, 3.8), so that it works on a Gatherer's
 * store as well as on a directory of its own. What was added and not committed is in memory.
 */
export class LevelFilter implements SeenFilter {
  readonly kind = 'level';
  readonly #turns = new Turns();
  readonly #quick = new QuickCache();
  /** Everything that was ever added: a key that it has not is new, without a look at the disk. Undefined: there was too much. */
  readonly #met: BloomBits | undefined;
  /** Not in the rows yet. */
  readonly #fresh = new KeyTable();
  /** Handed to the store's owner, and perhaps not in the rows yet. */
  readonly #flying = new KeyTable();
  /** Handed to the store's owner to be deleted, and perhaps still in the rows. */
  readonly #leaving = new KeyTable();
  /** Still in the rows. */
  readonly #dropped = new KeyTable();
  #count: number;

  private constructor(
    private readonly level: Level,
    private readonly ownsLevel: boolean,
    private readonly options: Omit<SeenOptions, 'directory'>,
    count: number,
    met: BloomBits | undefined,
  ) {
    this.#count = count;
    this.#met = met;
  }

  /**
   * @param where a directory of its own, or a store that is open and stays its owner's
   * @throws StorageError when the directory is in use, or no such store
   */
  static async open(
    where: string | Level,
    options: Omit<SeenOptions, 'directory'> = {},
  ): Promise<LevelFilter> {
    const level = typeof where === 'string' ? await Level.open(where, OWN_STORE) : where;
    const count = await storedCount(level);
    return new LevelFilter(level, typeof where === 'string', options, count, await metKeys(level, count));
  }

  get count(): number {
    return this.#count;
  }

  get uncommitted(): number {
    return this.#fresh.size + this.#dropped.size;
  }

  get memoryBytes(): number {
    const tables = [this.#fresh, this.#flying, this.#leaving, this.#dropped, this.#quick];
    return tables.reduce((sum, { memoryBytes }) => sum + memoryBytes, this.#met?.memoryBytes ?? 0);
  }

  add(uris: readonly string[]): Promise<Uint8Array> {
    return this.#turns.take(async () => {
      const keys = uriKeysOf(uris);
      const stored = await this.#stored(keys);
      const fresh = new Uint8Array(uris.length);
      for (let i = 0; i < fresh.length; i++) {
        const low = keys[2 * i]!;
        const high = keys[2 * i + 1]!;
        const isNew = stored[i] === 1 ? this.#dropped.delete(low, high) : this.#fresh.add(low, high);
        this.#quick.add(low, high);
        this.#met?.add(low, high);
        if (!isNew) continue;
        fresh[i] = 1;
        this.#count++;
      }
      await this.#commitIfMany();
      return fresh;
    });
  }

  forget(uris: readonly string[]): Promise<void> {
    return this.#turns.take(async () => {
      const keys = uriKeysOf(uris);
      const stored = await this.#stored(keys);
      for (let i = 0; i < stored.length; i++) {
        const low = keys[2 * i]!;
        const high = keys[2 * i + 1]!;
        this.#quick.delete(low, high);
        const known = stored[i] === 1 ? this.#dropped.add(low, high) : this.#fresh.delete(low, high);
        if (known) this.#count--;
      }
      await this.#commitIfMany();
    });
  }

  /** False for the rows of a store that somebody else owns. */
  get hasOwnFiles(): boolean {
    return this.ownsLevel;
  }

  /**
   * The rows that {@link commit} would write, for an owner of the store who writes them in one batch with the queue:
   * then "seen" and "queued" are one fact on disk. No other call may be under way; `written` is to be called when they are on disk.
   */
  takeChanges(): TakenChanges {
    const keys = this.#fresh.keys();
    const dropped = this.#dropped.keys();
    eachKey(keys, (low, high) => {
      this.#flying.add(low, high);
      this.#leaving.delete(low, high);
    });
    eachKey(dropped, (low, high) => {
      this.#leaving.add(low, high);
      this.#flying.delete(low, high);
    });
    return {
      rows: this.#takeChanges(),
      written: () => {
        eachKey(keys, (low, high) => this.#flying.delete(low, high));
        eachKey(dropped, (low, high) => this.#leaving.delete(low, high));
      },
    };
  }

  commit(): Promise<void> {
    return this.#turns.take(() => this.#commit());
  }

  close(): Promise<void> {
    return this.#turns.last(async () => {
      try {
        await this.#commit();
      } finally {
        if (this.ownsLevel) await this.level.close();
      }
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Which keys have a row; one trip to the store for all that nothing in memory knows. */
  async #stored(keys: KeyWords): Promise<Uint8Array> {
    const stored = new Uint8Array(keys.length / 2);
    const asked: number[] = [];
    for (let i = 0; i < stored.length; i++) {
      const low = keys[2 * i]!;
      const high = keys[2 * i + 1]!;
      if (this.#fresh.has(low, high) || this.#leaving.has(low, high)) continue;
      if (this.#met?.has(low, high) === false) continue;
      if (this.#quick.has(low, high) || this.#flying.has(low, high)) stored[i] = 1;
      else asked.push(i);
    }
    // In the order of the rows, so that neighbors share a block.
    asked.sort((a, b) => keys[2 * a + 1]! - keys[2 * b + 1]!);
    const rows = await this.level.getMany(asked.map((i) => rowKey(keys[2 * i]!, keys[2 * i + 1]!)));
    asked.forEach((i, at) => {
      if (rows[at] !== undefined) stored[i] = 1;
    });
    return stored;
  }

  async #commitIfMany(): Promise<void> {
    if (this.uncommitted > (this.options.maxUncommitted ?? DEFAULT_MAX_UNCOMMITTED)) await this.#commit();
  }

  async #commit(): Promise<void> {
    if (this.uncommitted > 0) await this.level.write(this.#takeChanges(), this.options.sync === true);
  }

  #takeChanges(): RowChange[] {
    const changes: RowChange[] = [];
    const fresh = this.#fresh.keys();
    const dropped = this.#dropped.keys();
    sortKeys(fresh);
    for (let at = 0; at < fresh.length; at += 2)
      changes.push({ key: rowKey(fresh[at]!, fresh[at + 1]!), value: EMPTY });
    for (let at = 0; at < dropped.length; at += 2)
      changes.push({ key: rowKey(dropped[at]!, dropped[at + 1]!) });
    if (changes.length > 0) changes.push({ key: SEEN_COUNT_KEY, value: Buffer.from(String(this.#count)) });
    this.#fresh.clear();
    this.#dropped.clear();
    return changes;
  }
}

/** One walk over the keys when the filter is opened, unless it would take long. */
async function metKeys(level: Level, count: number): Promise<BloomBits | undefined> {
  if (count > MET_WALK) return undefined;
  const met = new BloomBits(MET_KEYS, MET_HASHES);
  if (count === 0) return met;
  for await (const page of level.pagesOfKeys(tableRange(TABLE.seen), { limit: COUNT_PAGE })) {
    for (const key of page) {
      const bytes = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
      met.add(bytes.readUInt32BE(5), bytes.readUInt32BE(1));
    }
  }
  return met;
}

function eachKey(keys: KeyWords, work: (low: number, high: number) => unknown): void {
  for (let at = 0; at < keys.length; at += 2) work(keys[at]!, keys[at + 1]!);
}

/** CRAWL-3.8: big-endian; the words are in signed order already. */
function rowKey(low: number, high: number): Uint8Array {
  const key = Buffer.allocUnsafe(9);
  key[0] = TABLE.seen;
  key.writeUInt32BE(high, 1);
  key.writeUInt32BE(low, 5);
  return key;
}

/** What the last commit counted; a store that others wrote is counted through. */
async function storedCount(level: Level): Promise<number> {
  const row = await level.get(SEEN_COUNT_KEY);
  if (row !== undefined) return Number(Buffer.from(row).toString());
  let count = 0;
  for await (const page of level.pagesOfKeys(tableRange(TABLE.seen), { limit: COUNT_PAGE }))
    count += page.length;
  return count;
}
