// The records of the documents and servers of an open generation.
import { join } from 'node:path';
import { CloseStack } from '../../protocols/close-stack.js';
import { StorageError } from '../../protocols/errors.js';
import type { ServerRecord, UrlRecord } from './contract.js';
import { joinUrl } from './document-url.js';
import { FlatFile, type MemoryBudget, readWords } from './files.js';
import {
  DOCUMENT,
  DOCUMENT_WORDS,
  FILE,
  type Manifest,
  PORT_WRITTEN,
  readLong,
  SERVER,
  SERVER_WORDS,
} from './format.js';
import { KeyIndex } from './key-index.js';

const SCHEME_MASK = PORT_WRITTEN - 1;

/** The servers of a generation. IDs and records are in memory, the names in memory or on the disk. */
export class ServerDirectory implements AsyncDisposable {
  readonly #index: KeyIndex;
  readonly #records: Uint32Array;
  readonly #names: FlatFile;
  readonly #schemes: readonly string[];

  private constructor(
    /** The IDs, ascending. Do not write to the array. */
    readonly ids: Uint32Array,
    records: Uint32Array,
    names: FlatFile,
    schemes: readonly string[],
  ) {
    this.#index = new KeyIndex(ids);
    this.#records = records;
    this.#names = names;
    this.#schemes = schemes;
  }

  static async open(
    directory: string,
    { files, schemes, servers }: Manifest,
    budget: MemoryBudget,
  ): Promise<ServerDirectory> {
    const ids = await readWords(join(directory, FILE.serverIds), 4 * servers);
    const records = await readWords(join(directory, FILE.serverRecords), 4 * SERVER_WORDS * servers);
    const names = await FlatFile.open(
      join(directory, FILE.serverNames),
      files[FILE.serverNames] ?? -1,
      budget,
    );
    return new ServerDirectory(ids, records, names, schemes);
  }

  byId(id: number): ServerRecord | undefined {
    const index = this.#index.find(id);
    return index < 0 ? undefined : this.recordAt(index);
  }

  /** Returns the record of the ID at `index` in {@link ids}. */
  recordAt(index: number): ServerRecord {
    const base = index * SERVER_WORDS;
    const name = this.#names.latin1(
      readLong(this.#records, base + SERVER.nameStart),
      this.#records[base + SERVER.nameLength] ?? 0,
    );
    return {
      id: this.ids[index] ?? 0,
      protocol: this.#schemes[this.#records[base + SERVER.scheme] ?? 0] ?? '',
      name,
      port: this.#records[base + SERVER.port] ?? 0,
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#names[Symbol.asyncDispose]();
  }
}

/** The documents of a generation. IDs are in memory, records and paths in memory or on the disk. */
export class DocumentDirectory implements AsyncDisposable {
  readonly #index: KeyIndex;
  readonly #records: FlatFile;
  readonly #paths: FlatFile;
  readonly #schemes: readonly string[];
  readonly #servers: ServerDirectory;

  private constructor(
    /** The IDs, ascending. Do not write to the array. */
    readonly ids: Uint32Array,
    files: { readonly records: FlatFile; readonly paths: FlatFile },
    schemes: readonly string[],
    servers: ServerDirectory,
  ) {
    this.#index = new KeyIndex(ids);
    this.#records = files.records;
    this.#paths = files.paths;
    this.#schemes = schemes;
    this.#servers = servers;
  }

  static async open(
    directory: string,
    { files, schemes, documents }: Manifest,
    servers: ServerDirectory,
    budget: MemoryBudget,
  ): Promise<DocumentDirectory> {
    const ids = await readWords(join(directory, FILE.documentIds), 4 * documents);
    await using resources = new CloseStack();
    const recordBytes = 4 * DOCUMENT_WORDS * documents;
    const records = resources.use(
      await FlatFile.open(join(directory, FILE.documentRecords), recordBytes, budget),
    );
    const pathBytes = files[FILE.documentPaths] ?? -1;
    const paths = await FlatFile.open(join(directory, FILE.documentPaths), pathBytes, budget);
    resources.move();
    return new DocumentDirectory(ids, { records, paths }, schemes, servers);
  }

  has(id: number): boolean {
    return this.#index.find(id) >= 0;
  }

  byId(id: number): UrlRecord | undefined {
    const index = this.#index.find(id);
    return index < 0 ? undefined : this.recordAt(index);
  }

  /** Returns the record of the ID at `index` in {@link ids}. */
  recordAt(index: number): UrlRecord {
    const record = this.#records.words(index * DOCUMENT_WORDS, DOCUMENT_WORDS);
    const scheme = record[DOCUMENT.scheme] ?? 0;
    const serverId = record[DOCUMENT.server] ?? 0;
    const server = this.#servers.byId(serverId);
    const uri = this.#paths.latin1(readLong(record, DOCUMENT.pathStart), record[DOCUMENT.pathLength] ?? 0);
    const protocol = this.#schemes[scheme & SCHEME_MASK] ?? '';
    const url = joinUrl({
      scheme: protocol,
      host: server?.name ?? '',
      port: server?.port ?? 0,
      portWritten: (scheme & PORT_WRITTEN) !== 0,
      path: uri,
    });
    return {
      id: this.ids[index] ?? 0,
      url,
      serverId,
      protocol,
      uri,
      time: readLong(record, DOCUMENT.time),
      checkTime: readLong(record, DOCUMENT.checkTime),
      length: readLong(record, DOCUMENT.length),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using files = new CloseStack();
    files.use(this.#records);
    files.use(this.#paths);
  }
}

/** The PageRank of every known ID, in memory: 12 to 16 bytes each. */
export class RankTable {
  readonly #index: KeyIndex;
  readonly #values: Float32Array;

  private constructor(ids: Uint32Array, values: Float32Array) {
    this.#index = new KeyIndex(ids);
    this.#values = values;
  }

  /** Returns undefined if the generation has no ranks. @throws StorageError if its files are inconsistent */
  static async open(
    directory: string,
    files: Readonly<Record<string, number>>,
  ): Promise<RankTable | undefined> {
    const size = files[FILE.rankIds];
    if (size === undefined) return undefined;
    if (files[FILE.rankValues] !== size) throw new StorageError(`the ranks in ${directory} are damaged`);
    const ids = await readWords(join(directory, FILE.rankIds), size);
    const values = await readWords(join(directory, FILE.rankValues), size);
    return new RankTable(ids, new Float32Array(values.buffer));
  }

  rank(id: number): number | undefined {
    const index = this.#index.find(id);
    return index < 0 ? undefined : this.#values[index];
  }

  /** Returns the `count` highest ranks in descending order; equal ranks are ordered by ID. */
  highest(count: number): { readonly id: number; readonly rank: number }[] {
    const values = this.#values;
    const order = (a: number, b: number): number => (values[b] ?? 0) - (values[a] ?? 0) || a - b;
    let candidates: number[] = [];
    let threshold = -1;
    // Collects twice the requested number, then keeps the better half. This needs no heap and few sorts.
    for (let index = 0; index < values.length; index++) {
      if ((values[index] ?? 0) <= threshold) continue;
      candidates.push(index);
      if (candidates.length < 2 * count) continue;
      candidates = candidates.sort(order).slice(0, count);
      threshold = values[candidates.at(-1) ?? 0] ?? -1;
    }
    return candidates
      .sort(order)
      .slice(0, count)
      .map((index) => ({ id: this.#index.keys[index] ?? 0, rank: values[index] ?? 0 }));
  }
}
