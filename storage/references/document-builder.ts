// Builds the files of documents and servers of a references generation.
import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import type { DocumentInput } from './contract.js';
import { DistinctIds } from './distinct-ids.js';
import { splitUrl, textHash, type UrlParts } from './document-url.js';
import { FileAppender, FlatFile } from './files.js';
import {
  DOCUMENT,
  DOCUMENT_WORDS,
  FILE,
  MAX_SCHEMES,
  MAX_U32,
  PORT_WRITTEN,
  readLong,
  SERVER,
  SERVER_WORDS,
  writeLong,
} from './format.js';
import { KeyIndex } from './key-index.js';
import { TableWriter } from './link-table.js';
import { type ProgressOptions, ProgressReporter } from './progress-reporter.js';
import { type RecordCursor, RecordSorter } from './record-sorter.js';

interface BuiltServer {
  readonly id: number;
  readonly host: string;
  readonly port: number;
  readonly scheme: number;
}

/** The word after the record, present only while sorting: the document's ordinal in the input. */
const ORDINAL = DOCUMENT_WORDS;

/**
 * Maps each document to its server and records which documents a site list already contains. Decides R-29 and
 * R-32 for each link.
 */
export class SiteMembers {
  readonly #index: KeyIndex;
  readonly #servers: Uint32Array;
  /** For each document, the number of the last site list that includes it, from 1. */
  readonly #lastSite: Uint32Array;
  /** The IDs in the current list that have no document. */
  readonly #others = new DistinctIds();
  #site = 0;
  #server = 0;

  /**
   * @param ids the IDs of all documents, ascending
   * @param servers the server ID of each document, in the same order
   */
  constructor(ids: Uint32Array, servers: Uint32Array) {
    this.#index = new KeyIndex(ids);
    this.#servers = servers;
    this.#lastSite = new Uint32Array(ids.length);
  }

  /** Starts the list of a server. Call it once for each server. */
  begin(server: number): void {
    this.#server = server;
    this.#site++;
    this.#others.clear();
  }

  /**
   * Adds the ID to the current list. Returns false if it is inside the site or in the list already
   * (R-29).
   */
  tryAdd(id: number): boolean {
    const index = this.#index.find(id);
    // an ID without a URL record is outside every site.
    if (index < 0) return this.#others.add(id);
    if (this.#servers[index] === this.#server || this.#lastSite[index] === this.#site) return false;
    this.#lastSite[index] = this.#site;
    return true;
  }

  /** Forgets all lists, so that the lists of another kind can start. */
  reset(): void {
    this.#lastSite.fill(0);
    this.#site = 0;
  }
}

/**
 * Takes documents in any order and writes the files of the documents and of their servers. Records that do not
 * fit in memory are sorted on the disk. Servers and their names stay in memory.
 */
export class DocumentBuilder implements Disposable {
  readonly #directory: string;
  readonly #scratch: string;
  readonly #memoryBytes: number;
  readonly #sorter: RecordSorter;
  readonly #paths: FileAppender;
  readonly #schemes = new Map<string, number>();
  readonly #servers = new Map<string, BuiltServer>();
  readonly #serverIds = new Set<number>();
  #nextServer = 1;

  /**
   * @param directory the temporary directory of the new generation
   * @param scratch the directory of the sorted runs
   * @param memoryBytes the memory for sorting
   */
  constructor(directory: string, scratch: string, memoryBytes: number) {
    this.#directory = directory;
    this.#scratch = scratch;
    this.#memoryBytes = memoryBytes;
    this.#sorter = new RecordSorter(DOCUMENT_WORDS + 1, memoryBytes / 2, join(scratch, 'documents'));
    this.#paths = new FileAppender(join(directory, FILE.documentPaths));
  }

  get count(): number {
    return this.#sorter.count;
  }

  get servers(): number {
    return this.#servers.size;
  }

  /** The schemes, in the order of their numbers in the records. */
  get schemes(): string[] {
    return [...this.#schemes.keys()];
  }

  /**
   * @throws ProtocolError with rule R-41 if the URL is not canonical
   * @throws StorageError if a number is out of range or the server ID contradicts another document's
   */
  add(document: DocumentInput): void {
    const parts = splitUrl(document.url);
    const id = requireId(document.id, 'the document ID');
    const times = [document.time ?? 0, document.checkTime ?? 0, document.length ?? 0];
    for (const value of times) {
      if (!Number.isSafeInteger(value) || value < 0)
        throw new StorageError(`${value} is not a valid time or length of document ${id}`);
    }
    const scheme = this.#schemeOf(parts.scheme);
    const server = this.#serverOf(parts, scheme, document.serverId);
    const offset = this.#sorter.add(id);
    const { words } = this.#sorter;
    words[offset + DOCUMENT.server] = server.id;
    writeLong(words, offset + DOCUMENT.pathStart, this.#paths.length);
    words[offset + DOCUMENT.pathLength] = parts.path.length;
    words[offset + DOCUMENT.scheme] = parts.portWritten ? scheme | PORT_WRITTEN : scheme;
    words[offset + DOCUMENT.urlHash] = textHash(document.url);
    writeLong(words, offset + DOCUMENT.time, times[0] ?? 0);
    writeLong(words, offset + DOCUMENT.checkTime, times[1] ?? 0);
    writeLong(words, offset + DOCUMENT.length, times[2] ?? 0);
    words[offset + ORDINAL] = this.#sorter.count;
    this.#paths.latin1(parts.path);
  }

  #schemeOf(scheme: string): number {
    const known = this.#schemes.get(scheme);
    if (known !== undefined) return known;
    if (this.#schemes.size === MAX_SCHEMES)
      throw new StorageError(`URLs have more than ${MAX_SCHEMES} different schemes`);
    this.#schemes.set(scheme, this.#schemes.size);
    return this.#schemes.size - 1;
  }

  /** host and port are the server's identity. */
  #serverOf({ host, port }: UrlParts, scheme: number, requestedId: number | undefined): BuiltServer {
    const name = `${host}:${port}`;
    const known = this.#servers.get(name);
    if (known !== undefined) {
      if (requestedId !== undefined && requestedId !== known.id)
        throw new StorageError(`the server ${name} has two IDs: ${known.id} and ${requestedId}`);
      return known;
    }
    if (requestedId === undefined) while (this.#serverIds.has(this.#nextServer)) this.#nextServer++;
    const id = requireId(requestedId ?? this.#nextServer, 'the server ID');
    if (this.#serverIds.has(id))
      throw new StorageError(`the server ID ${id} is given to ${name} and to another server`);
    const server = { id, host, port, scheme };
    this.#servers.set(name, server);
    this.#serverIds.add(id);
    return server;
  }

  /**
   * Writes all files of documents and servers.
   *
   * @throws StorageError if a document ID or a URL was added twice
   */
  async finish(options: ProgressOptions): Promise<SiteMembers> {
    this.#paths.close();
    const count = this.#sorter.count;
    using byUrl = new RecordSorter(1, this.#memoryBytes / 4, join(this.#scratch, 'urls'));
    using byServer = new RecordSorter(1, this.#memoryBytes / 4, join(this.#scratch, 'sitedocs'));
    const ids = new Uint32Array(count);
    const servers = new Uint32Array(count);
    {
      using sorted = this.#sorter.sorted();
      using records = new FileAppender(join(this.#directory, FILE.documentRecords));
      const progress = new ProgressReporter('documents', count, options);
      let lastOrdinal = 0;
      for (let index = 0; sorted.next(); index++) {
        const { key, words, offset } = sorted;
        const ordinal = words[offset + ORDINAL] ?? 0;
        if (index > 0 && ids[index - 1] === key)
          throw new StorageError(
            `the document ID ${key} is used twice: by documents ${lastOrdinal} and ${ordinal}`,
          );
        lastOrdinal = ordinal;
        ids[index] = key;
        servers[index] = words[offset + DOCUMENT.server] ?? 0;
        for (let i = 0; i < DOCUMENT_WORDS; i++) records.word(words[offset + i] ?? 0);
        const url = byUrl.add(words[offset + DOCUMENT.urlHash] ?? 0);
        byUrl.words[url] = index;
        const site = byServer.add(servers[index] ?? 0);
        byServer.words[site] = key;
        if (progress.step()) await progress.yield();
      }
      records.close();
    }
    using idFile = new FileAppender(join(this.#directory, FILE.documentIds));
    idFile.words(ids);
    idFile.close();
    {
      using urls = byUrl.sorted();
      await this.#writeUrls(urls, ids);
    }
    using sites = byServer.sorted();
    writeTable(this.#directory, 'sitedocs', sites);
    this.#writeServers();
    return new SiteMembers(ids, servers);
  }

  /**
   * Writes the table from URL hashes to the indexes of documents. Compares the URLs of equal hashes, because a
   * lookup finds only the first of two documents with the same URL.
   */
  async #writeUrls(sorted: RecordCursor, ids: Uint32Array): Promise<void> {
    // Both files are read from the disk.
    const budget = { remainingBytes: 0 };
    const size = ids.length * 4 * DOCUMENT_WORDS;
    await using records = await FlatFile.open(join(this.#directory, FILE.documentRecords), size, budget);
    await using paths = await FlatFile.open(
      join(this.#directory, FILE.documentPaths),
      this.#paths.length,
      budget,
    );
    const keyOf = (index: number): string => {
      const record = records.words(index * DOCUMENT_WORDS, DOCUMENT_WORDS);
      const start = readLong(record, DOCUMENT.pathStart);
      const path = paths.latin1(start, record[DOCUMENT.pathLength] ?? 0);
      return `${record[DOCUMENT.server]} ${record[DOCUMENT.scheme]} ${path}`;
    };
    using table = new TableWriter(this.#directory, 'urls');
    let hash = -1;
    let first = 0;
    // The documents with this hash by their URL; filled when the hash occurs a second time.
    const indexByUrl = new Map<string, number>();
    while (sorted.next()) {
      const index = sorted.words[sorted.offset] ?? 0;
      if (sorted.key === hash) {
        if (indexByUrl.size === 0) indexByUrl.set(keyOf(first), first);
        const key = keyOf(index);
        const other = indexByUrl.get(key);
        if (other !== undefined)
          throw new StorageError(`documents ${ids[other]} and ${ids[index]} have the same URL`);
        indexByUrl.set(key, index);
      } else {
        hash = sorted.key;
        first = index;
        indexByUrl.clear();
      }
      table.add(hash, index);
    }
    table.close();
  }

  #writeServers(): void {
    const servers = [...this.#servers.values()].sort((a, b) => a.id - b.id);
    using ids = new FileAppender(join(this.#directory, FILE.serverIds));
    using records = new FileAppender(join(this.#directory, FILE.serverRecords));
    using names = new FileAppender(join(this.#directory, FILE.serverNames));
    using byName = new RecordSorter(1, this.#memoryBytes / 4, join(this.#scratch, 'servernames'));
    const record = new Uint32Array(SERVER_WORDS);
    for (const [index, { id, host, port, scheme }] of servers.entries()) {
      ids.word(id);
      writeLong(record, SERVER.nameStart, names.length);
      record[SERVER.nameLength] = host.length;
      record[SERVER.port] = port;
      record[SERVER.scheme] = scheme;
      records.words(record);
      names.latin1(host);
      const offset = byName.add(textHash(`${host}:${port}`));
      byName.words[offset] = index;
    }
    for (const file of [ids, records, names]) file.close();
    using sorted = byName.sorted();
    writeTable(this.#directory, 'servernames', sorted);
  }

  [Symbol.dispose](): void {
    this.#sorter[Symbol.dispose]();
    this.#paths[Symbol.dispose]();
  }
}

function writeTable(directory: string, name: 'sitedocs' | 'servernames', sorted: RecordCursor): void {
  using table = new TableWriter(directory, name);
  while (sorted.next()) table.add(sorted.key, sorted.words[sorted.offset] ?? 0);
  table.close();
}

/** Returns the value. @throws StorageError if it is not a u32 */
export function requireId(value: number, what: string): number {
  if (Number.isInteger(value) && value >= 0 && value <= MAX_U32) return value;
  throw new StorageError(`${what} must be 0 to ${MAX_U32}, not ${value}`);
}
