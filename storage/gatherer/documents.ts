import type { DocumentRecord } from '../records/records.js';
import { Table } from '../rows/table.js';

/** A record that somebody waits for. */
interface WantedDocument {
  readonly url: string;
  readonly resolve: (document: DocumentRecord | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The documents' records, by URL. */
export class DocumentStore extends Table<string, DocumentRecord> {
  #wanted: WantedDocument[] = [];

  /**
   * Reads a record; those that are asked for in the same turn of the event loop are read in one call to the
   * thread pool.
   */
  override get(url: string): Promise<DocumentRecord | undefined> {
    return new Promise((resolve, reject) => {
      this.#wanted.push({ url, resolve, reject });
      if (this.#wanted.length === 1) setImmediate(() => void this.#readWanted());
    });
  }

  async #readWanted(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    try {
      const rows = await this.rows.getMany(wanted.map(({ url }) => this.format.keys.encode(url)));
      wanted.forEach(({ url, resolve, reject }, i) => {
        try {
          const bytes = rows[i];
          resolve(bytes && this.format.decode(bytes, url));
        } catch (error) {
          reject(error);
        }
      });
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
