import { keyText, TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level } from '../level/level.js';
import { type DocumentRecord, documentCodec } from '../records/records.js';

/** The documents' records, by URL. */
export class DocumentStore {
  readonly #level: Level;

  constructor(level: Level) {
    this.#level = level;
  }

  async get(url: string): Promise<DocumentRecord | undefined> {
    const [document] = await this.getMany([url]);
    return document;
  }

  /** Reads records in one call to the thread pool; the results are in the order of the URLs. */
  async getMany(urls: readonly string[]): Promise<(DocumentRecord | undefined)[]> {
    const rows = await this.#level.getMany(urls.map(documentKey));
    return rows.map((bytes, i) => bytes && { url: urls[i] ?? '', ...documentCodec.decode(bytes) });
  }

  /** All documents in URL order. Not a snapshot: changes after the current position are seen. */
  async *iterate(
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<DocumentRecord, void, undefined> {
    for await (const page of this.#level.pages(tableRange(TABLE.documents))) {
      options.signal?.throwIfAborted();
      for (const [key, value] of page) yield { url: keyText(key), ...documentCodec.decode(value) };
    }
  }
}

export function documentKey(url: string): Uint8Array {
  return textKey(TABLE.documents, url);
}
