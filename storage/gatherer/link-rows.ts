// The rows that a group of link changes writes: documents, servers and lists of targets, with the IDs that it
// allocates.
import { StorageError } from '../../protocols/errors.js';
import type { LinkCounters, ReferenceDocument } from '../records/records.js';
import { splitUrl } from '../references/document-url.js';
import type { RowChange } from '../rows/contract.js';
import type { GatheredReferences } from './batch.js';
import { ROWS } from './tables.js';

/** The part of a URL's record that the cache holds. */
export interface KnownUrl {
  readonly id: number;
  readonly server: number;
  /** Whether it was fetched and still exists, so that it may have links. */
  readonly fetched: boolean;
}

/** The stored state of a document that was fetched before. */
export interface Former {
  readonly document: ReferenceDocument;
  /** Its list of target IDs, as stored. */
  readonly links: Uint8Array;
}

export const NO_IDS = new Uint8Array(0);
/** The largest document ID. */
const MAX_ID = 0xffff_ffff;

/**
 * Makes the rows of a group of changes, one change after the other. URLs have the form of R-41. Its maps hold
 * the state before the group and are updated with each change.
 */
export class LinkRowWriter {
  readonly #former: Map<string, Former>;
  readonly rows: RowChange[] = [];
  #lastDocument: number;
  #lastServer: number;
  #changes: number;

  /**
   * @param known all URLs that the changes name; undefined if the URL has no ID yet
   * @param servers IDs of the servers of URLs without an ID
   * @param former state of the documents that were fetched before
   */
  constructor(
    readonly known: Map<string, KnownUrl | undefined>,
    readonly servers: Map<string, number>,
    former: Map<string, Former>,
    counters: LinkCounters,
  ) {
    this.#former = former;
    this.#lastDocument = counters.documents;
    this.#lastServer = counters.servers;
    this.#changes = counters.changes;
  }

  get counters(): LinkCounters {
    return { documents: this.#lastDocument, servers: this.#lastServer, changes: this.#changes };
  }

  /** A new check time alone does not count as a change: it would publish nothing new. */
  put(url: string, { time, checkTime, length }: GatheredReferences, targets: ReadonlySet<string>): void {
    const { id, server } = this.#idOf(url);
    const links = this.#ids(targets);
    const former = this.#former.get(url);
    const document = { id, server, time, checkTime, length };
    const same = former !== undefined && Buffer.compare(former.links, links) === 0;
    if (!same || former.document.time !== time || former.document.length !== length) this.#changes++;
    this.#putDocument(url, document);
    if (!same && links.length > 0) this.rows.push(ROWS.referenceLinks.put(id, { ids: links }));
    else if (!same && former !== undefined) this.rows.push(ROWS.referenceLinks.delete(id));
    this.known.set(url, { id, server, fetched: true });
    this.#former.set(url, { document, links });
  }

  /** As {@link put} of a document that has the same links. @param former its row */
  check(
    url: string,
    former: ReferenceDocument,
    { time, checkTime, length }: Omit<GatheredReferences, 'links'>,
  ): void {
    if (former.time !== time || former.length !== length) this.#changes++;
    this.#putDocument(url, { ...former, time, checkTime, length });
  }

  drop(url: string): void {
    const known = this.known.get(url);
    if (known?.fetched !== true) return;
    const { id, server } = known;
    this.#changes++;
    this.#putDocument(url, { id, server, time: 0, checkTime: 0, length: 0 });
    this.rows.push(ROWS.referenceLinks.delete(id));
    this.known.set(url, { id, server, fetched: false });
    this.#former.delete(url);
  }

  #ids(targets: ReadonlySet<string>): Uint8Array {
    const ids = Buffer.allocUnsafe(4 * targets.size);
    let offset = 0;
    for (const target of targets) offset = ids.writeUInt32LE(this.#idOf(target).id, offset);
    return ids;
  }

  /** The ID of a URL, allocated here if it has none. */
  #idOf(url: string): KnownUrl {
    const known = this.known.get(url);
    if (known !== undefined) return known;
    const server = this.#server(serverOf(url));
    if (this.#lastDocument === MAX_ID) throw new StorageError('there are no document IDs left (R-9)');
    const added = { id: ++this.#lastDocument, server, fetched: false };
    this.known.set(url, added);
    this.#putDocument(url, { id: added.id, server, time: 0, checkTime: 0, length: 0 });
    return added;
  }

  #server(name: string): number {
    const known = this.servers.get(name);
    if (known !== undefined) return known;
    if (this.#lastServer === MAX_ID) throw new StorageError('there are no server IDs left');
    const id = ++this.#lastServer;
    this.servers.set(name, id);
    this.rows.push(ROWS.referenceServers.put(name, { id }));
    return id;
  }

  #putDocument(url: string, document: ReferenceDocument): void {
    this.rows.push(ROWS.referenceDocuments.put(url, document));
  }
}

/** `host:port` of a canonical URL; port 0 if the scheme has no default port. */
export function serverOf(url: string): string {
  const { host, port } = splitUrl(url);
  return `${host}:${port}`;
}
