import { StorageError } from '../../protocols/errors.js';
import { oidKey, TABLE, textKey } from '../level/keys.js';
import type { RowChange } from '../level/level.js';
import {
  type LinkCounters,
  type ReferenceDocument,
  referenceDocumentCodec,
  referenceLinksCodec,
  referenceServerCodec,
} from '../records/records.js';
import { splitUrl } from '../references/document-url.js';
import type { GatheredReferences } from './batch.js';

/** What is known of a URL without reading its record. */
export interface Place {
  readonly id: number;
  readonly server: number;
  /** It was fetched and is not gone: it has a record of its own, and perhaps links. */
  readonly fetched: boolean;
}

/** What a fetched document had before. */
export interface Former {
  readonly document: ReferenceDocument;
  /** Its list, as stored. */
  readonly links: Uint8Array;
}

export const NO_IDS = new Uint8Array(0);
/** */
const MAX_ID = 0xffff_ffff;

/**
 * Makes the rows of one group of changes, one change after the other. URLs are those of R-41. What it is given is what was
 * known before the group; it keeps that in step with the rows.
 */
export class LinkRowWriter {
  readonly rows: RowChange[] = [];
  readonly #former: Map<string, Former>;
  #lastDocument: number;
  #lastServer: number;
  #changes: number;

  /**
   * @param places of all URLs that the changes name; undefined: it has no ID yet
   * @param servers IDs of the servers of those without
   * @param former of the documents that were fetched before
   */
  constructor(
    readonly places: Map<string, Place | undefined>,
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

  /** Another check time alone is no change: looking at an unchanged document again publishes nothing new. */
  put(url: string, { time, checkTime, length }: GatheredReferences, targets: ReadonlySet<string>): void {
    const { id, server } = this.#place(url);
    const links = this.#ids(targets);
    const former = this.#former.get(url);
    const document = { id, server, time, checkTime, length };
    const same = former !== undefined && Buffer.compare(former.links, links) === 0;
    if (!same || former.document.time !== time || former.document.length !== length) this.#changes++;
    this.#putDocument(url, document);
    if (!same && links.length > 0)
      this.rows.push({ key: linksKey(id), value: referenceLinksCodec.encode({ ids: links }) });
    else if (!same && former !== undefined) this.rows.push({ key: linksKey(id) });
    this.places.set(url, { id, server, fetched: true });
    this.#former.set(url, { document, links });
  }

  drop(url: string): void {
    const place = this.places.get(url);
    if (place?.fetched !== true) return;
    const { id, server } = place;
    this.#changes++;
    this.#putDocument(url, { id, server, time: 0, checkTime: 0, length: 0 });
    this.rows.push({ key: linksKey(id) });
    this.places.set(url, { id, server, fetched: false });
    this.#former.delete(url);
  }

  #ids(targets: ReadonlySet<string>): Uint8Array {
    const ids = Buffer.allocUnsafe(4 * targets.size);
    let at = 0;
    for (const target of targets) at = ids.writeUInt32LE(this.#place(target).id, at);
    return ids;
  }

  /** The place of a URL; a new one gets an ID here. */
  #place(url: string): Place {
    const known = this.places.get(url);
    if (known !== undefined) return known;
    const server = this.#server(serverOf(url));
    if (this.#lastDocument === MAX_ID) throw new StorageError('there are no document IDs left (R-9)');
    const place = { id: ++this.#lastDocument, server, fetched: false };
    this.places.set(url, place);
    this.#putDocument(url, { id: place.id, server, time: 0, checkTime: 0, length: 0 });
    return place;
  }

  #server(name: string): number {
    const known = this.servers.get(name);
    if (known !== undefined) return known;
    if (this.#lastServer === MAX_ID) throw new StorageError('there are no server IDs left');
    const id = ++this.#lastServer;
    this.servers.set(name, id);
    this.rows.push({ key: serverKey(name), value: referenceServerCodec.encode({ id }) });
    return id;
  }

  #putDocument(url: string, document: ReferenceDocument): void {
    this.rows.push({ key: documentKey(url), value: referenceDocumentCodec.encode(document) });
  }
}

/** `host:port` of a canonical URL; port 0 where the scheme has none. */
export function serverOf(url: string): string {
  const { host, port } = splitUrl(url);
  return `${host}:${port}`;
}

export function documentKey(url: string): Uint8Array {
  return textKey(TABLE.referenceDocuments, url);
}

export function serverKey(name: string): Uint8Array {
  return textKey(TABLE.referenceServers, name);
}

export function linksKey(id: number): Uint8Array {
  return oidKey(TABLE.referenceLinks, id);
}
