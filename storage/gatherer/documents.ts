import type { LoginSeal, Sealing } from '../generations/login-seal.js';
import { keyText, TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level } from '../level/level.js';
import { type DocumentLink, type DocumentRecord, documentCodec } from '../records/records.js';

/** The documents' records, by URL. */
export class DocumentStore {
  readonly #level: Level;
  readonly #seal: LoginSeal;

  constructor(level: Level, seal: LoginSeal) {
    this.#level = level;
    this.#seal = seal;
  }

  async get(url: string): Promise<DocumentRecord | undefined> {
    const [document] = await this.getMany([url]);
    return document;
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
