import { LRUCache } from 'lru-cache';
import type { PartResponse } from './types.js';

/** Bytes of an entry without its body. */
const ENTRY_BYTES = 1024;

/** The responses that several pages use, so that scripts and styles of a site are fetched once in a run. */
export class PartCache {
  readonly #responses: LRUCache<string, PartResponse> | undefined;

  /** @param maxBytes 0: nothing is kept */
  constructor(maxBytes: number) {
    this.#responses =
      maxBytes === 0
        ? undefined
        : new LRUCache({
            maxSize: maxBytes,
            sizeCalculation: ({ body }) => body.length + ENTRY_BYTES,
          });
  }

  get(url: string): PartResponse | undefined {
    return this.#responses?.get(url);
  }

  /** Keeps a response, unless its server forbids that. */
  add(url: string, response: PartResponse): void {
    const { 'cache-control': control = '', vary = '' } = response.headers;
    const isPrivate = /\b(?:no-store|no-cache|private)\b/i.test(control) || /\*|cookie/i.test(vary);
    if (response.status === 200 && !isPrivate && response.headers['set-cookie'] === undefined)
      this.#responses?.set(url, response);
  }
}
