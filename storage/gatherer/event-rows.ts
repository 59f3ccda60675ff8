// Events of a crawl that are stored in the batch of their page, until the logs and the saved figures have them.
import { requireInteger, TABLE, tableRange } from '../level/keys.js';
import type { Level } from '../level/level.js';

/** An event and its place among all events. */
export interface StoredEvent {
  /** 0 to 2^48 - 1, in the order of the batches. */
  readonly sequence: number;
  /** JSON. */
  readonly text: string;
}

/** The stored events in the order of their sequence numbers. */
export class EventStore {
  readonly #level: Level;

  constructor(level: Level) {
    this.#level = level;
  }

  async *pages(): AsyncGenerator<StoredEvent[], void, undefined> {
    for await (const rows of this.#level.pages(tableRange(TABLE.events)))
      yield rows.map(([key, value]) => ({
        sequence: Buffer.from(key.buffer, key.byteOffset, key.byteLength).readUIntBE(1, 6),
        text: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(),
      }));
  }
}

/** The table's byte, sequence number (6 bytes). */
export function eventKey(sequence: number): Uint8Array {
  const key = Buffer.allocUnsafe(7);
  key[0] = TABLE.events;
  key.writeUIntBE(requireInteger(sequence, 'sequence', 2 ** 48 - 1), 1, 6);
  return key;
}
