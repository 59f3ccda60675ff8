import { messageOf } from '../../../protocols/errors.js';
import { tell } from '../debug-channel.js';
import { note } from '../notes.js';
import { DEFAULT_MAX_BYTES, type Fetcher, type FetchRequest, type FetchResult } from '../types.js';
import type { DiskCache } from './disk-cache.js';

/** A fetcher in front of which stands the disk cache (G-98). */
export class CachingFetcher implements Fetcher {
  readonly #inner: Fetcher;
  readonly #cache: DiskCache;
  readonly #onWarning: (sentence: string) => void;

  /** @param onWarning told when the disk does not take an entry; the retrieval succeeds all the same */
  constructor(inner: Fetcher, cache: DiskCache, onWarning: (sentence: string) => void = () => {}) {
    this.#inner = inner;
    this.#cache = cache;
    this.#onWarning = onWarning;
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    request.signal?.throwIfAborted();
    // G-174: whether an address is private is found out by going there.
    const mayAsk = request.reload !== true && request.publicOnly !== true;
    const kept = mayAsk ? await this.#attempt(() => this.#cache.get(request.url)) : undefined;
    if (kept !== undefined) {
      tell(22, 1, () => `${request.url}: in the cache, ${kept.body.length} bytes`);
      note({ kind: 'cached', url: request.url });
      return answer(kept, request);
    }
    tell(22, 1, () => `${request.url}: ${mayAsk ? 'not in the cache' : 'the cache is not asked'}`);
    const result = await this.#inner.fetch(request);
    await this.#attempt(() => this.#cache.put(result));
    tell(22, 5, () => `${request.url}: offered to the cache, status ${result.status}`);
    return result;
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #attempt<T>(operation: () => Promise<T>): Promise<T | undefined> {
    try {
      return await operation();
    } catch (error) {
      this.#onWarning(`the disk cache: ${messageOf(error)}`);
      return undefined;
    }
  }
}

/** What the server would have said to the request's conditions, and within its limits. */
function answer(kept: FetchResult, { headers, maxBytes = DEFAULT_MAX_BYTES }: FetchRequest): FetchResult {
  const isSame = headers?.etag
    ? headers.etag === kept.etag
    : Boolean(headers?.lastModified) &&
      kept.lastModified !== 0 &&
      kept.lastModified <= (headers?.lastModified ?? 0);
  if (isSame) {
    const { entries: _, links: __, ...rest } = kept;
    return { ...rest, status: 304, body: new Uint8Array(0) };
  }
  if (kept.body.length <= maxBytes) return kept;
  return { ...kept, body: kept.body.slice(0, maxBytes), truncated: true };
}
