import { UsageError } from '../protocols/errors.js';
import { bytesKey, TABLE, tableRange } from './keys.js';
import type { Level } from './level.js';

/** Bytes of a URI key (CRAWL-3.8). */
export const SEEN_KEY_BYTES = 8;
const PAGE_KEYS = 8192;

/** The URIs that were ever scheduled, as 8-byte keys. The frontier asks its own set in memory, built from {@link keys}. */
export class SeenStore {
  readonly #level: Level;

  constructor(level: Level) {
    this.#level = level;
  }

  /** All keys in byte order, many in a chunk: each chunk's length is a multiple of 8. */
  async *keys(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const page of this.#level.pagesOfKeys(tableRange(TABLE.seen), { limit: PAGE_KEYS })) {
      options.signal?.throwIfAborted();
      const chunk = new Uint8Array(page.length * SEEN_KEY_BYTES);
      page.forEach((key, i) => {
        chunk.set(key.subarray(1), i * SEEN_KEY_BYTES);
      });
      yield chunk;
    }
  }

  async has(key: Uint8Array): Promise<boolean> {
    return (await this.#level.get(seenKey(key))) !== undefined;
  }
}

export function seenKey(key: Uint8Array): Uint8Array {
  if (key.length !== SEEN_KEY_BYTES) {
    throw new UsageError(`a seen key has ${SEEN_KEY_BYTES} bytes, not ${key.length}`);
  }
  return bytesKey(TABLE.seen, key);
}
