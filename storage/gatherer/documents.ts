import type { LoginSeal, Sealing } from '../generations/login-seal.js';
import { keyText, TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level } from '../level/level.js';
import { type DocumentLink, type DocumentRecord, documentCodec } from '../records/records.js';

/** A record that somebody waits for. */
interface WantedDocument {
  readonly url: string;
  readonly resolve: (document: DocumentRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The documents' records, by URL. */
export class DocumentStore {
  readonly #level: Level;
  readonly #seal: LoginSeal;
  #wanted: WantedDocument[] = [];

  constructor(level: Level, seal: LoginSeal) {
    this.#level = level;
    this.#seal = seal;
  }

  /** Reads a record; those that are asked for in the same turn of the event loop are read in one call to the thread pool. */
  get(url: string): Promise<DocumentRecord | undefined> {
    return new Promise((resolve, reject) => {
      this.#wanted.push({ url, resolve, reject });
      if (this.#wanted.length === 1) setImmediate(() => void this.#readWanted());
    });
  }

  async #readWanted(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    try {
      const rows = await this.#level.getMany(wanted.map(({ url }) => documentKey(url)));
      wanted.forEach(({ url, resolve, reject }, i) => {
        try {
          const bytes = rows[i];
          resolve(bytes && decodeDocument(url, bytes, this.#seal));
        } catch (error) {
          reject(error);
        }
      });
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }

  /** Reads records in one call to the thread pool; the results are in the order of the URLs. */
  async getMany(urls: readonly string[]): Promise<(DocumentRecord | undefined)[]> {
    const rows = await this.#level.getMany(urls.map(documentKey));
    return rows.map((bytes, i) => bytes && decodeDocument(urls[i] ?? '', bytes, this.#seal));
  }

  /** All documents in URL order. Not a snapshot: changes after the current position are seen. */
  async *iterate(
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<DocumentRecord, void, undefined> {
    for await (const page of this.#level.pages(tableRange(TABLE.documents))) {
      options.signal?.throwIfAborted();
      for (const [key, value] of page) yield decodeDocument(keyText(key), value, this.#seal);
    }
  }
}

export function encodeDocument(document: DocumentRecord, seal: Sealing): Uint8Array {
  const links = mapLinks(document.links, (url) => seal.seal(url));
  return documentCodec.encode(links === document.links ? document : { ...document, links });
}

function decodeDocument(url: string, bytes: Uint8Array, seal: LoginSeal): DocumentRecord {
  const record = documentCodec.decode(bytes);
  return { url, ...record, links: mapLinks(record.links, (link) => seal.open(link)) };
}

/** Returns the same list if no URL changes, as nearly always. */
function mapLinks(links: readonly DocumentLink[], map: (url: string) => string): readonly DocumentLink[] {
  if (links.every(({ url }) => map(url) === url)) return links;
  return links.map((link) => ({ ...link, url: map(link.url) }));
}

export function documentKey(url: string): Uint8Array {
  return textKey(TABLE.documents, url);
}
