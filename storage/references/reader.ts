import { join } from 'node:path';
import { CloseStack } from '../../protocols/close-stack.js';
import { messageOf, StorageError } from '../../protocols/errors.js';
import { adviceFor } from '../files/advice.js';
import { requireSums, stampOf } from '../files/checksums.js';
import { readRegular } from '../files/regular-file.js';
import { openNewest } from '../generations/directory.js';
import type {
  LinkKind,
  LinkList,
  LinkStore,
  References,
  ReferencesCounts,
  ServerRecord,
  ServerStore,
  UrlRecord,
  UrlStore,
} from './contract.js';
import { DocumentDirectory, RankTable, ServerDirectory } from './directory-reader.js';
import { textHash } from './document-url.js';
import {
  FILE,
  type Manifest,
  parseManifest,
  referencesDirectory,
  requireLittleEndian,
  TABLES,
  type TableName,
} from './format.js';
import { idsOf, LinkTable } from './link-table.js';

export interface ReferencesReaderOptions {
  /**
   * Files are loaded into memory as long as they fit in this number of bytes, the links first; default 256 MiB.
   * Keys and offsets, about 20 bytes for each document, are always in memory.
   */
  readonly residentBytes?: number | undefined;
}

const DEFAULT_RESIDENT_BYTES = 256 * 1024 * 1024;

interface Parts {
  readonly tables: ReadonlyMap<TableName, LinkTable>;
  readonly documents: DocumentDirectory;
  readonly servers: ServerDirectory;
  readonly ranks: RankTable | undefined;
}

/**
 * An open, published generation. Its files stay open until it is closed, even if the generation is removed
 * meanwhile.
 */
export class ReferencesReader implements References {
  readonly counts: ReferencesCounts;
  readonly ranked: boolean;
  readonly refdb: LinkStore;
  readonly hubsdb: LinkStore;
  readonly urldb: UrlStore;
  readonly srvdb: ServerStore;
  readonly #parts: Parts;
  readonly #files: CloseStack;
  readonly #lists: Readonly<Record<LinkKind, LinkTable>>;
  readonly #sitedocs: LinkTable;
  readonly #urls: LinkTable;
  readonly #names: LinkTable;

  private constructor(
    readonly generation: number,
    readonly stamp: number,
    /** The generation's directory. */
    readonly directory: string,
    readonly manifest: Manifest,
    parts: Parts,
    files: CloseStack,
  ) {
    const { documents, servers, links, repeated } = manifest;
    this.counts = { documents, servers, links, repeated };
    this.#parts = parts;
    this.#files = files;
    const table = (name: TableName): LinkTable => {
      const found = parts.tables.get(name);
      if (found === undefined) throw new StorageError(`${directory} has no table ${name}`);
      return found;
    };
    this.#lists = {
      refs: table('refs'),
      hubs: table('hubs'),
      siterefs: table('siterefs'),
      sitehubs: table('sitehubs'),
    };
    this.#sitedocs = table('sitedocs');
    this.#urls = table('urls');
    this.#names = table('servernames');
    this.ranked = parts.ranks !== undefined;
    this.refdb = { duplicates: (key) => idsOf(this.links('refs', key)) };
    this.hubsdb = { duplicates: (key) => idsOf(this.links('hubs', key)) };
    this.urldb = {
      byUrl: (url) => this.documentByUrl(url),
      byId: (id) => this.document(id),
      idsOfServer: (id) => idsOf(this.documentsOfServer(id)),
    };
    this.srvdb = { byName: (name) => this.serverByName(name), byId: (id) => this.server(id) };
  }

  /**
   * Opens the newest generation of a data directory.
   *
   * @throws StorageError if nothing was published yet or the generation is damaged
   */
  static async openCurrent(data: string, options: ReferencesReaderOptions = {}): Promise<ReferencesReader> {
    requireLittleEndian();
    const generations = referencesDirectory(data);
    const reader = await openNewest(generations, async (number, directory) => {
      try {
        return await ReferencesReader.#open(number, directory, options);
      } catch (cause) {
        if (cause instanceof StorageError) throw cause;
        throw new StorageError(
          `the references ${number} in ${data} cannot be opened: ${messageOf(cause)}; ${adviceFor(generations)}`,
          { cause },
        );
      }
    });
    if (reader !== undefined) return reader;
    throw new StorageError(`no references were published in ${data} yet`);
  }

  static async #open(
    generation: number,
    directory: string,
    { residentBytes = DEFAULT_RESIDENT_BYTES }: ReferencesReaderOptions,
  ): Promise<ReferencesReader> {
    await requireSums(directory);
    const path = join(directory, FILE.manifest);
    const manifest = parseManifest((await readRegular(path)).toString('utf8'), path);
    const budget = { remainingBytes: residentBytes };
    const tables = new Map<TableName, LinkTable>();
    await using resources = new CloseStack();
    // The most frequently used tables first: later ones may not fit in the budget.
    for (const name of TABLES) {
      const table = await LinkTable.open(directory, name, manifest.files, budget);
      tables.set(name, resources.use(table));
    }
    const servers = resources.use(await ServerDirectory.open(directory, manifest, budget));
    const documents = resources.use(await DocumentDirectory.open(directory, manifest, servers, budget));
    const ranks = await RankTable.open(directory, manifest.files);
    const parts = { tables, servers, documents, ranks };
    // An earlier version wrote no sums; its generations differ by their numbers.
    const stamp = (await stampOf(directory)) ?? generation;
    return new ReferencesReader(generation, stamp, directory, manifest, parts, resources.move());
  }

  links(kind: LinkKind, id: number): LinkList | undefined {
    return this.#lists[kind].list(id);
  }

  /** Returns the keys of a table, ascending. Do not write to the array. */
  keys(kind: LinkKind): Uint32Array {
    return this.#lists[kind].keys;
  }

  /** Returns the number of links of the key at this index of {@link keys}. */
  degree(kind: LinkKind, index: number): number {
    return this.#lists[kind].listAt(index).total;
  }

  /** The IDs of all documents, ascending. Do not write to the array. */
  get documentIds(): Uint32Array {
    return this.#parts.documents.ids;
  }

  knows(id: number): boolean {
    return this.#parts.documents.has(id) || this.#lists.refs.has(id) || this.#lists.hubs.has(id);
  }

  document(id: number): UrlRecord | undefined {
    return this.#parts.documents.byId(id);
  }

  documentByUrl(canonicalUrl: string): UrlRecord | undefined {
    const indexes = this.#urls.list(textHash(canonicalUrl));
    for (const index of idsOf(indexes)) {
      const document = this.#parts.documents.recordAt(index);
      if (document.url === canonicalUrl) return document;
    }
    return undefined;
  }

  idByUrl(canonicalUrl: string): number | undefined {
    return this.documentByUrl(canonicalUrl)?.id;
  }

  server(id: number): ServerRecord | undefined {
    return this.#parts.servers.byId(id);
  }

  serverByName(nameAndPort: string): ServerRecord | undefined {
    const indexes = this.#names.list(textHash(nameAndPort));
    for (const index of idsOf(indexes)) {
      const server = this.#parts.servers.recordAt(index);
      if (`${server.name}:${server.port}` === nameAndPort) return server;
    }
    return undefined;
  }

  documentsOfServer(serverId: number): LinkList | undefined {
    return this.#sitedocs.list(serverId);
  }

  rank(id: number): number | undefined {
    return this.#parts.ranks?.rank(id);
  }

  /**
   * Returns the highest ranks in descending order, equal ones ordered by ID; empty if the generation has no
   * ranks.
   */
  highestRanks(count: number): readonly { readonly id: number; readonly rank: number }[] {
    return this.#parts.ranks?.highest(count) ?? [];
  }

  /** Yields all documents, ascending by ID. */
  *documents(): Generator<UrlRecord, void, undefined> {
    const { documents } = this.#parts;
    for (let index = 0; index < documents.ids.length; index++) yield documents.recordAt(index);
  }

  /** Yields all servers, ascending by ID. */
  *servers(): Generator<ServerRecord, void, undefined> {
    const { servers } = this.#parts;
    for (let index = 0; index < servers.ids.length; index++) yield servers.recordAt(index);
  }

  close(): Promise<void> {
    return this.#files[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
