import { ProtocolError } from '../../protocols/errors.js';
import { referenceUrl } from '../../protocols/urls/index.js';
import { keyOid, keyText, TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level, RowChange } from '../level/level.js';
import {
  type LinkCounters,
  linkCountersCodec,
  type ReferenceDocument,
  referenceDocumentCodec,
  referenceLinksCodec,
  referenceServerCodec,
} from '../records/records.js';
import type { DocumentInput } from '../references/contract.js';
import { splitUrl } from '../references/document-url.js';
import type { GatheredReferences, ReferenceChange } from './batch.js';
import {
  documentKey,
  type Former,
  LinkRowWriter,
  linksKey,
  NO_IDS,
  type Place,
  serverKey,
  serverOf,
} from './link-rows.js';
import { TableCache } from './table-cache.js';

/** URLs and servers whose IDs are remembered: a site's pages link to the same pages again and again. */
const RECENT_URLS = 65_536;
const RECENT_SERVERS = 8192;
const COUNTERS_KEY = textKey(TABLE.system, 'links');

/** The rows of a group of changes. */
export interface LinkRows {
  readonly rows: readonly RowChange[];
  /** To be called when the rows are written. */
  written(): void;
}

/**
 * The tables of the Gatherer's working store from which the references are published: documents' IDs, servers' IDs, and lists of
 * links. IDs are allotted by the store's one writer, from counters that are written with the rows: none is given twice.
 */
export class LinkTables {
  readonly #level: Level;
  readonly #places: TableCache<Place>;
  readonly #servers: TableCache<number>;
  #counters: LinkCounters;

  private constructor(level: Level, counters: LinkCounters) {
    this.#level = level;
    this.#counters = counters;
    this.#places = new TableCache(RECENT_URLS, counters.documents === 0);
    this.#servers = new TableCache(RECENT_SERVERS, counters.servers === 0);
  }

  static async open(level: Level): Promise<LinkTables> {
    const bytes = await level.get(COUNTERS_KEY);
    const none = { documents: 0, servers: 0, changes: 0 };
    return new LinkTables(level, bytes === undefined ? none : linkCountersCodec.decode(bytes));
  }

  /** Counts the changes that a publication would show, from the first one on. */
  get changes(): number {
    return this.#counters.changes;
  }

  /**
   * Turns changes into rows, each seeing those before it. Reads at most three times, however many changes there are, and not at
   * all for what was met lately. Only one call at a time.
   *
   * @throws StorageError when there are no IDs left
   */
  async rows(changes: readonly ReferenceChange[]): Promise<LinkRows> {
    if (changes.length === 0) return { rows: [], written: () => undefined };
    const named = changes.flatMap(nameChange);
    const spellings = new Map<string, string | undefined>();
    const places = await this.#knownPlaces(named, spellings);
    const servers = await this.#knownServers(places);
    const former = await this.#formerLists(named, places);
    const writer = new LinkRowWriter(places, servers, former, this.#counters);
    for (const { url, document } of named) {
      if (document === undefined) writer.drop(url);
      else writer.put(url, document, linkedNames(document, spellings));
    }
    const { counters } = writer;
    const { documents, servers: highest, changes: count } = this.#counters;
    if (counters.documents !== documents || counters.servers !== highest || counters.changes !== count)
      writer.rows.push({ key: COUNTERS_KEY, value: linkCountersCodec.encode(counters) });
    return { rows: writer.rows, written: () => this.#remember(writer) };
  }

  /** The ID of a URL, in the Gatherer's form or that of R-41; undefined when it has none. */
  async idOf(url: string): Promise<number | undefined> {
    const name = referenceUrl(url);
    const bytes = name === undefined ? undefined : await this.#level.get(documentKey(name));
    return bytes && referenceDocumentCodec.decode(bytes).id;
  }

  /** All URLs that have an ID, page by page, in URL order. Not a snapshot. */
  async *documents(): AsyncGenerator<Required<DocumentInput>[], void, undefined> {
    for await (const page of this.#level.pages(tableRange(TABLE.referenceDocuments))) {
      yield page.map(([key, value]) => {
        const { server, ...document } = referenceDocumentCodec.decode(value);
        return { ...document, serverId: server, url: keyText(key) };
      });
    }
  }

  /** All links, page by page, by ascending source, each document's in the order found: source, target, source, target ... */
  async *pairs(): AsyncGenerator<Uint32Array, void, undefined> {
    for await (const page of this.#level.pages(tableRange(TABLE.referenceLinks))) {
      for (const [key, value] of page) {
        const source = keyOid(key);
        const ids = decodeIds(referenceLinksCodec.decode(value).ids);
        const pairs = new Uint32Array(ids.length * 2);
        ids.forEach((id, i) => {
          pairs[2 * i] = source;
          pairs[2 * i + 1] = id;
        });
        yield pairs;
      }
    }
  }

  /** Places of all URLs of the changes, as far as they have one; undefined for those that have none yet. */
  async #knownPlaces(
    named: readonly NamedChange[],
    spellings: Map<string, string | undefined>,
  ): Promise<Map<string, Place | undefined>> {
    const places = new Map<string, Place | undefined>();
    const asked: string[] = [];
    const want = (name: string): void => {
      if (places.has(name)) return;
      const place = this.#places.get(name);
      places.set(name, place);
      if (place === undefined && !this.#places.complete) asked.push(name);
    };
    for (const { url, document } of named) {
      want(url);
      for (const link of document?.links ?? []) {
        if (spellings.has(link)) continue;
        // What was met lately under this very spelling is a name already.
        const name = this.#places.get(link) === undefined ? referenceName(link) : link;
        spellings.set(link, name);
        if (name !== undefined) want(name);
      }
    }
    const rows = await this.#level.getMany(asked.map(documentKey));
    asked.forEach((name, i) => {
      const bytes = rows[i];
      if (bytes !== undefined) places.set(name, placeOf(referenceDocumentCodec.decode(bytes)));
    });
    return places;
  }

  /** IDs of the servers of new URLs, as far as they have one. */
  async #knownServers(places: ReadonlyMap<string, Place | undefined>): Promise<Map<string, number>> {
    const servers = new Map<string, number>();
    const asked = new Set<string>();
    for (const [url, place] of places) {
      if (place !== undefined) continue;
      const name = serverOf(url);
      const id = this.#servers.get(name);
      if (id !== undefined) servers.set(name, id);
      else if (!this.#servers.complete) asked.add(name);
    }
    const names = [...asked];
    const rows = await this.#level.getMany(names.map(serverKey));
    names.forEach((name, i) => {
      const bytes = rows[i];
      if (bytes !== undefined) servers.set(name, referenceServerCodec.decode(bytes).id);
    });
    return servers;
  }

  /** What is stored of those of the documents that were fetched before. */
  async #formerLists(
    named: readonly NamedChange[],
    places: ReadonlyMap<string, Place | undefined>,
  ): Promise<Map<string, Former>> {
    const former = new Map<string, Former>();
    const again = [...new Set(named.map(({ url }) => url))].flatMap((url) => {
      const place = places.get(url);
      return place?.fetched === true ? { url, id: place.id } : [];
    });
    const rows = await this.#level.getMany(again.flatMap(({ url, id }) => [documentKey(url), linksKey(id)]));
    again.forEach(({ url }, i) => {
      const document = rows[2 * i];
      const links = rows[2 * i + 1];
      if (document === undefined) return;
      former.set(url, {
        document: referenceDocumentCodec.decode(document),
        links: links === undefined ? NO_IDS : referenceLinksCodec.decode(links).ids,
      });
    });
    return former;
  }

  #remember({ places, servers, counters }: LinkRowWriter): void {
    this.#counters = counters;
    for (const [url, place] of places) if (place !== undefined) this.#places.set(url, place);
    for (const [name, id] of servers) this.#servers.set(name, id);
  }
}

/** A change under the name of its document; without `document` its links are dropped. */
interface NamedChange {
  readonly url: string;
  readonly document?: GatheredReferences;
}

function nameChange(change: ReferenceChange): NamedChange[] {
  const document = change.kind === 'put' ? change.document : undefined;
  const url = referenceName(document?.url ?? (change.kind === 'drop' ? change.url : ''));
  if (url === undefined) return [];
  return [document === undefined ? { url } : { url, document }];
}

/** The name under which a URL has its ID; undefined when none can be published. */
function referenceName(url: string): string | undefined {
  const name = referenceUrl(url);
  if (name === undefined) return undefined;
  try {
    splitUrl(name);
    return name;
  } catch (error) {
    // E.g. port 0: a URL to the parser, but nothing that a server could be asked for.
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

/** the names of what a document links to, each once, where it stood first. */
function linkedNames(
  { links }: GatheredReferences,
  spellings: ReadonlyMap<string, string | undefined>,
): Set<string> {
  const names = new Set<string>();
  for (const link of links) {
    const name = spellings.get(link);
    if (name !== undefined) names.add(name);
  }
  return names;
}

function placeOf({ id, server, checkTime }: ReferenceDocument): Place {
  return { id, server, fetched: checkTime > 0 };
}

function decodeIds(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length >>> 2 }, (_, i) => view.getUint32(4 * i, true));
}
