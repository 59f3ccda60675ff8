// A table of keys with lists of IDs: three flat files, written in key order and read by key (see format.ts).
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import type { LinkList } from './contract.js';
import { FileAppender, FlatFile, type MemoryBudget, readWords } from './files.js';
import { MAX_U32, readLong, TABLE_PARTS, type TableName, writeLong } from './format.js';
import { KeyIndex } from './key-index.js';

/** The number of IDs read at a time from a list that may not be read to its end. */
const PAGE = 1 << 12;
/** The same for one that is. */
const LARGE_PAGE = 1 << 16;

/** Writes a table of keys in ascending order, each with its list of IDs. */
export class TableWriter implements Disposable {
  readonly #keys: FileAppender;
  readonly #starts: FileAppender;
  readonly #ids: FileAppender;
  readonly #pair = new Uint32Array(2);
  #total = 0;
  #key = -1;

  constructor(directory: string, name: TableName) {
    this.#keys = new FileAppender(join(directory, `${name}.keys`));
    this.#starts = new FileAppender(join(directory, `${name}.starts`));
    this.#ids = new FileAppender(join(directory, `${name}.ids`));
  }

  /** The number of IDs written so far. */
  get total(): number {
    return this.#total;
  }

  /** Appends an ID to the list of a key. @param key not less than the previous key */
  add(key: number, id: number): void {
    if (key !== this.#key) {
      this.#key = key;
      this.#keys.word(key);
      this.#start();
    }
    this.#ids.word(id);
    this.#total++;
  }

  #start(): void {
    writeLong(this.#pair, 0, this.#total);
    this.#starts.words(this.#pair);
  }

  close(): void {
    this.#start();
    for (const file of [this.#keys, this.#starts, this.#ids]) file.close();
  }

  [Symbol.dispose](): void {
    for (const file of [this.#keys, this.#starts, this.#ids]) file[Symbol.dispose]();
  }
}

/** A list of a table. It reads the IDs when a page is requested. */
class TableList implements LinkList {
  readonly #ids: FlatFile;
  readonly #from: number;

  constructor(
    ids: FlatFile,
    from: number,
    readonly total: number,
  ) {
    this.#ids = ids;
    this.#from = from;
  }

  page(start: number, count: number): Uint32Array {
    const from = Math.min(Math.max(0, start), this.total);
    return this.#ids.words(this.#from + from, Math.min(Math.max(0, count), this.total - from));
  }
}

/** A table opened for reading. Keys and starts are in memory, the lists in memory or on the disk. */
export class LinkTable implements AsyncDisposable {
  readonly #index: KeyIndex;
  readonly #starts: Uint32Array | Float64Array;
  readonly #ids: FlatFile;

  private constructor(
    /** The keys, ascending. Do not write to the array. */
    readonly keys: Uint32Array,
    starts: Uint32Array | Float64Array,
    ids: FlatFile,
  ) {
    this.#index = new KeyIndex(keys);
    this.#starts = starts;
    this.#ids = ids;
  }

  /**
   * @param files file sizes by name, from the MANIFEST
   * @throws StorageError if the files are inconsistent
   */
  static async open(
    directory: string,
    name: TableName,
    files: Readonly<Record<string, number>>,
    budget: MemoryBudget,
  ): Promise<LinkTable> {
    const fileOf = (part: string): [string, number] => [
      join(directory, `${name}.${part}`),
      files[`${name}.${part}`] ?? -1,
    ];
    const keys = await readWords(...fileOf('keys'));
    const starts = joinWords(await readWords(...fileOf('starts')));
    const ids = await FlatFile.open(...fileOf('ids'), budget);
    if (starts.length !== keys.length + 1 || starts[keys.length] !== ids.length / 4) {
      await ids[Symbol.asyncDispose]();
      throw new StorageError(`the table ${name} in ${directory} is damaged: its files do not fit together`);
    }
    return new LinkTable(keys, starts, ids);
  }

  /** The number of IDs in all lists. */
  get total(): number {
    return this.#starts[this.keys.length] ?? 0;
  }

  has(key: number): boolean {
    return this.#index.find(key) >= 0;
  }

  list(key: number): LinkList | undefined {
    const index = this.#index.find(key);
    return index < 0 ? undefined : this.listAt(index);
  }

  /** Returns the list of the key at `index` in {@link keys}. */
  listAt(index: number): LinkList {
    const from = this.#starts[index] ?? 0;
    return new TableList(this.#ids, from, (this.#starts[index + 1] ?? 0) - from);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#ids[Symbol.asyncDispose]();
  }
}

/**
 * Converts pairs of words to one number each: to u32 if all fit, else to doubles, which are exact up to 2^53 -
 * 1.
 */
function joinWords(pairs: Uint32Array): Uint32Array | Float64Array {
  const count = pairs.length >>> 1;
  const large = count > 0 && readLong(pairs, 2 * (count - 1)) > MAX_U32;
  const numbers = large ? new Float64Array(count) : new Uint32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = readLong(pairs, 2 * i);
  return numbers;
}

/** Opens a table of an unpublished generation, which has no MANIFEST yet. */
export async function openUnpublished(
  directory: string,
  name: TableName,
  budget: MemoryBudget,
): Promise<LinkTable> {
  const sizes: Record<string, number> = {};
  for (const part of TABLE_PARTS) {
    const file = `${name}.${part}`;
    sizes[file] = (await stat(join(directory, file))).size;
  }
  return LinkTable.open(directory, name, sizes, budget);
}

/** Yields the IDs of a list in pages. */
export function* pagesOf(
  list: LinkList | undefined,
  size = LARGE_PAGE,
): Generator<Uint32Array, void, undefined> {
  for (let start = 0; list !== undefined && start < list.total; start += size) yield list.page(start, size);
}

/** Yields the IDs of a list, which it reads in pages. */
export function* idsOf(list: LinkList | undefined): Generator<number, void, undefined> {
  for (const page of pagesOf(list, PAGE)) for (const id of page) yield id;
}
