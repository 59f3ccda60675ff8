// The tables of links of the Gatherer's working store: IDs of documents and servers, and the targets of each
// document.
import { LRUCache } from 'lru-cache';
import type { Complete } from '../../protocols/defined.js';
import { ProtocolError } from '../../protocols/errors.js';
import { referenceUrl } from '../../protocols/urls/index.js';
import type { LinkCounters, ReferenceDocument } from '../records/records.js';
import type { DocumentInput } from '../references/contract.js';
import { splitUrl } from '../references/document-url.js';
import type { RowChange, RowReader } from '../rows/contract.js';
import { Table } from '../rows/table.js';
import type { GatheredReferences, ReferenceChange } from './batch.js';
import { type Former, type KnownUrl, LinkRowWriter, NO_IDS, serverOf } from './link-rows.js';
import { LINK_COUNTERS, ROWS } from './tables.js';

/**
 * An LRU cache of a table's rows. It records whether it still holds all of them, so that a miss needs no read.
 */
export class TableCache<T extends object | number> {
  readonly #rows: LRUCache<string, T>;
  #complete: boolean;

  /**
   * @param max rows
   * @param complete the table is empty
   */
  constructor(max: number, complete: boolean) {
    this.#complete = complete;
    this.#rows = new LRUCache({
      max,
      dispose: (_value, _key, reason) => {
        if (reason === 'evict') this.#complete = false;
      },
    });
  }

  /** True until the first eviction: a key that the cache lacks is then not in the table either. */
  get complete(): boolean {
    return this.#complete;
  }

  /** The table has rows that were not set here. */
  addedElsewhere(): void {
    this.#complete = false;
  }

  get(key: string): T | undefined {
    return this.#rows.get(key);
  }

  set(key: string, value: T): void {
    this.#rows.set(key, value);
  }
}

/** Capacities of the caches of IDs. The pages of a site link to the same pages repeatedly. */
const RECENT_URLS = 65_536;
const RECENT_SERVERS = 8192;

/** The rows of a group of changes. */
export interface LinkRows {
  readonly rows: readonly RowChange[];
  /** To be called when the rows are written. */
  written(): void;
}

/**
 * The tables of the working store from which the references are published: IDs of documents, IDs of servers,
 * and lists of links. The store's one writer allocates IDs from counters that are written with the rows, so no
 * ID is given twice.
 */
export class LinkTables {
  readonly #database: RowReader;
  readonly #documents: Table<string, ReferenceDocument>;
  /** Whether another process has changed the tables, so that the cache does not know which documents have links. */
  #isForeign = false;
  #urls: TableCache<KnownUrl>;
  #servers: TableCache<number>;
  #counters: LinkCounters;

  private constructor(database: RowReader, counters: LinkCounters) {
    this.#database = database;
    this.#documents = documentsOf(database);
    this.#counters = counters;
    this.#urls = new TableCache(RECENT_URLS, counters.documents === 0);
    this.#servers = new TableCache(RECENT_SERVERS, counters.servers === 0);
  }

  static async open(database: RowReader): Promise<LinkTables> {
    return new LinkTables(database, await LINK_COUNTERS.read(database));
  }

  /**
   * Reads the counters again and forgets the cached IDs, after a write of which is not known whether it took
   * effect.
   */
  async reload(): Promise<void> {
    this.#counters = await LINK_COUNTERS.read(this.#database);
    this.#urls = new TableCache(RECENT_URLS, this.#counters.documents === 0);
    this.#servers = new TableCache(RECENT_SERVERS, this.#counters.servers === 0);
  }

  /**
   * The counters as a change of a shared store reads them: if another process has counted, more rows exist than the
   * caches know of. The IDs that they have stay right.
   */
  adopt(counters: LinkCounters): void {
    const { documents, servers, changes } = this.#counters;
    if (counters.documents === documents && counters.servers === servers && counters.changes === changes)
      return;
    this.#counters = counters;
    this.#isForeign = true;
    this.#urls.addedElsewhere();
    this.#servers.addedElsewhere();
  }

  /** Number of changes, since the store was made, that a publication would show. */
  get changes(): number {
    return this.#counters.changes;
  }

  /**
   * Turns changes into rows; each change sees those before it. Reads at most four times, whatever the number of
   * changes, and not at all for new URLs that are cached. Only one call at a time.
   *
   * @param database the rows within the change that writes the result
   * @throws StorageError if there are no IDs left
   */
  async rows(changes: readonly ReferenceChange[], database: RowReader): Promise<LinkRows> {
    if (changes.length === 0) return { rows: [], written: () => undefined };
    const { checked, named } = await this.#separateChecked(changes.flatMap(nameChange), database);
    const spellings = new Map<string, string | undefined>();
    const known = await this.#lookUpUrls(named, spellings, database);
    const servers = await this.#lookUpServers(known, database);
    const former = await this.#readFormer(named, known, database);
    const writer = new LinkRowWriter(known, servers, former, this.#counters);
    for (const { url, row, document } of checked) writer.check(url, row, document);
    for (const { url, document, links } of named) {
      if (document === undefined) writer.drop(url);
      else writer.put(url, { ...document, links }, linkedNames(links, spellings));
    }
    const { counters } = writer;
    const { documents, servers: highest, changes: count } = this.#counters;
    if (counters.documents !== documents || counters.servers !== highest || counters.changes !== count)
      writer.rows.push(LINK_COUNTERS.put(counters));
    return { rows: writer.rows, written: () => this.#remember(writer) };
  }

  /**
   * Separates the documents whose links the tables have, if no other change of the group names them; all others
   * are put or dropped.
   */
  async #separateChecked(
    changes: readonly NamedChange[],
    database: RowReader,
  ): Promise<{ readonly checked: readonly Checked[]; readonly named: readonly NamedChange[] }> {
    const count = new Map<string, number>();
    for (const { url } of changes) count.set(url, (count.get(url) ?? 0) + 1);
    const candidates = changes.filter(
      ({ url, formerLinks }) => formerLinks !== undefined && count.get(url) === 1,
    );
    const rows = await documentsOf(database).getMap(candidates.map(({ url }) => url));
    const checked: Checked[] = [];
    const named: NamedChange[] = [];
    for (const change of changes) {
      const { url, document, formerLinks } = change;
      const row = rows.get(url);
      if (document !== undefined && row !== undefined && row.checkTime > 0)
        checked.push({ url, row, document });
      else
        named.push(formerLinks === undefined ? change : { url, document: document!, links: formerLinks() });
    }
    return { checked, named };
  }

  /** The ID of a URL in the Gatherer's form or that of R-41; undefined if it has none. */
  async idOf(url: string): Promise<number | undefined> {
    const name = referenceUrl(url);
    return name === undefined ? undefined : (await this.#documents.get(name))?.id;
  }

  /** All URLs that have an ID, in pages, in URL order. Not a snapshot. */
  async *documents(): AsyncGenerator<Complete<DocumentInput>[], void, undefined> {
    for await (const page of this.#documents.entryPages())
      yield page.map(([url, { server, ...document }]) => ({ ...document, serverId: server, url }));
  }

  /**
   * All links in pages, by ascending source, those of a document in the order found: source, target, source,
   * target ...
   */
  async *pairs(): AsyncGenerator<Uint32Array, void, undefined> {
    for await (const page of new Table(this.#database, ROWS.referenceLinks).entryPages())
      for (const [source, { ids }] of page) yield pairsOf(source, ids);
  }

  /**
   * The IDs of all URLs of the changes; undefined for a URL without one. Adds the names of links to
   * `spellings`.
   */
  async #lookUpUrls(
    named: readonly NamedChange[],
    spellings: Map<string, string | undefined>,
    database: RowReader,
  ): Promise<Map<string, KnownUrl | undefined>> {
    const known = new Map<string, KnownUrl | undefined>();
    const missing: string[] = [];
    const lookUp = (name: string): void => {
      if (known.has(name)) return;
      const cached = this.#urls.get(name);
      known.set(name, cached);
      if (cached === undefined && !this.#urls.complete) missing.push(name);
    };
    for (const { url, links } of named) {
      lookUp(url);
      for (const link of links) {
        if (spellings.has(link)) continue;
        // A spelling that is in the cache is a name already.
        const name = this.#urls.get(link) === undefined ? referenceName(link) : link;
        spellings.set(link, name);
        if (name !== undefined) lookUp(name);
      }
    }
    for (const [name, row] of await documentsOf(database).getMap(missing)) known.set(name, knownUrlOf(row));
    return known;
  }

  /** IDs of the servers of new URLs; servers without one are absent. */
  async #lookUpServers(
    known: ReadonlyMap<string, KnownUrl | undefined>,
    database: RowReader,
  ): Promise<Map<string, number>> {
    const servers = new Map<string, number>();
    const missing = new Set<string>();
    for (const [url, entry] of known) {
      if (entry !== undefined) continue;
      const name = serverOf(url);
      const id = this.#servers.get(name);
      if (id !== undefined) servers.set(name, id);
      else if (!this.#servers.complete) missing.add(name);
    }
    const rows = await new Table(database, ROWS.referenceServers).getMap(missing);
    for (const [name, { id }] of rows) servers.set(name, id);
    return servers;
  }

  /** Reads the stored state of the documents that were fetched before. */
  async #readFormer(
    named: readonly NamedChange[],
    known: Map<string, KnownUrl | undefined>,
    database: RowReader,
  ): Promise<Map<string, Former>> {
    const former = new Map<string, Former>();
    const again = [...new Set(named.map(({ url }) => url))].flatMap((url) => {
      const entry = known.get(url);
      return entry !== undefined && (entry.fetched || this.#isForeign) ? [{ url, ...entry }] : [];
    });
    const { referenceDocuments, referenceLinks } = ROWS;
    const rows = await database.getMany(
      again.flatMap(({ url, id }) => [referenceDocuments.keys.encode(url), referenceLinks.keys.encode(id)]),
    );
    again.forEach(({ url, id, server }, i) => {
      const links = rows[2 * i + 1];
      const row = rows[2 * i];
      if (row === undefined) return;
      const document = referenceDocuments.decode(row, url);
      known.set(url, { id, server, fetched: document.checkTime > 0 });
      if (document.checkTime === 0) return;
      former.set(url, {
        document,
        links: links === undefined ? NO_IDS : referenceLinks.decode(links, id).ids,
      });
    });
    return former;
  }

  #remember({ known, servers, counters }: LinkRowWriter): void {
    this.#counters = counters;
    for (const [url, entry] of known) if (entry !== undefined) this.#urls.set(url, entry);
    for (const [name, id] of servers) this.#servers.set(name, id);
  }
}

function documentsOf(database: RowReader): Table<string, ReferenceDocument> {
  return new Table(database, ROWS.referenceDocuments);
}

/** A change with the name of its document; without `document` the links are deleted. */
interface NamedChange {
  readonly url: string;
  readonly document?: Omit<GatheredReferences, 'links'>;
  readonly links: readonly string[];
  /** Those of a document that has the links that it had before. */
  readonly formerLinks?: () => readonly string[];
}

/** A document with the links that it had before, and its row. */
interface Checked {
  readonly url: string;
  readonly row: ReferenceDocument;
  readonly document: Omit<GatheredReferences, 'links'>;
}

function nameChange(change: ReferenceChange): NamedChange[] {
  const url = referenceName(change.kind === 'drop' ? change.url : change.document.url);
  if (url === undefined) return [];
  if (change.kind === 'drop') return [{ url, links: [] }];
  const { document } = change;
  return change.kind === 'put'
    ? [{ url, document, links: change.document.links }]
    : [{ url, document, links: [], formerLinks: change.links }];
}

/** The form of R-41, under which a URL has its ID; undefined if it cannot be published. */
function referenceName(url: string): string | undefined {
  const name = referenceUrl(url);
  if (name === undefined) return undefined;
  try {
    splitUrl(name);
    return name;
  } catch (error) {
    // E.g. port 0: the parser accepts the URL, but no server can listen on it.
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

/** the names of a document's targets, each once, in the order of their first occurrence. */
function linkedNames(
  links: readonly string[],
  spellings: ReadonlyMap<string, string | undefined>,
): Set<string> {
  const names = new Set<string>();
  for (const link of links) {
    const name = spellings.get(link);
    if (name !== undefined) names.add(name);
  }
  return names;
}

function knownUrlOf({ id, server, checkTime }: ReferenceDocument): KnownUrl {
  return { id, server, fetched: checkTime > 0 };
}

/** The source and each target. */
function pairsOf(source: number, targets: Uint8Array): Uint32Array {
  const view = new DataView(targets.buffer, targets.byteOffset, targets.byteLength);
  const pairs = new Uint32Array(2 * (targets.length >>> 2));
  for (let i = 0; i < pairs.length; i += 2) {
    pairs[i] = source;
    pairs[i + 1] = view.getUint32(2 * i, true);
  }
  return pairs;
}
