import { createHash } from 'node:crypto';
import { messageOf } from '../../../protocols/errors.js';
import { userInfoOf } from '../../../protocols/urls/index.js';
import { publishDebug, publishNote } from '../debug-channel.js';
import { isPrivateAddress } from '../private-addresses.js';
import { DEFAULT_MAX_BYTES, type Fetcher, type FetchRequest, type FetchResult } from '../types.js';
import type { DiskCache } from './disk-cache.js';

/** A fetcher with the disk cache in front of it (G-98). */
export class CachingFetcher implements Fetcher {
  readonly #inner: Fetcher;
  readonly #cache: DiskCache;
  readonly #onWarning: (sentence: string) => void;

  /** @param onWarning called if an entry cannot be read or written; the retrieval succeeds nevertheless */
  constructor(inner: Fetcher, cache: DiskCache, onWarning: (sentence: string) => void = () => {}) {
    this.#inner = inner;
    this.#cache = cache;
    this.#onWarning = onWarning;
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    request.signal?.throwIfAborted();
    if (isPersonal(request)) return this.#inner.fetch(request);
    const key = keyOf(request);
    const mayUseCache = request.reload !== true;
    const found = mayUseCache ? await this.#attempt(() => this.#cache.get(key)) : undefined;
    const kept = found && { ...found, url: request.url };
    if (kept !== undefined && (request.publicOnly !== true || isFromPublicAddress(kept))) {
      publishDebug(22, 1, () => `${request.url}: in the cache, ${kept.body.length} bytes`);
      publishNote({ kind: 'cached', url: request.url });
      return applyConditions(kept, request);
    }
    publishDebug(
      22,
      1,
      () => `${request.url}: ${mayUseCache ? 'not in the cache' : 'the cache is bypassed'}`,
    );
    const result = await this.#inner.fetch(request);
    await this.#attempt(() => this.#cache.put({ ...result, url: key }));
    publishDebug(22, 5, () => `${request.url}: offered to the cache, status ${result.status}`);
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

/** Whether the response may be for this client only. */
function isPersonal({ url, login, extraHeaders, post }: FetchRequest): boolean {
  return (
    extraHeaders?.cookie !== undefined ||
    post !== undefined ||
    login !== undefined ||
    userInfoOf(url) !== undefined
  );
}

/** The URL, and a digest of whatever else may change the response. */
function keyOf({ url, userAgent, extraHeaders = {}, proxy = '' }: FetchRequest): string {
  const variant = Object.entries({
    ...extraHeaders,
    ...(userAgent && { 'user-agent': userAgent }),
    ...(proxy && { proxy }),
  });
  if (variant.length === 0) return url;
  const text = JSON.stringify(variant.sort(([a], [b]) => (a < b ? -1 : 1)));
  // No URL has a space.
  return `${url} ${createHash('sha256').update(text).digest('hex')}`;
}

/** G-174: a document whose address is not known may have come from a private one. */
function isFromPublicAddress({ remoteAddress }: FetchResult): boolean {
  return remoteAddress !== undefined && remoteAddress !== '' && !isPrivateAddress(remoteAddress);
}

/** Applies the request's conditions and limits to a cached document, as the server would have. */
function applyConditions(
  kept: FetchResult,
  { headers, maxBytes = DEFAULT_MAX_BYTES }: FetchRequest,
): FetchResult {
  const isSame = headers?.etag
    ? headers.etag === kept.etag
    : Boolean(headers?.lastModified) &&
      kept.lastModified !== 0 &&
      kept.lastModified === headers?.lastModified;
  if (isSame) {
    const { entries: _, links: __, ...rest } = kept;
    return { ...rest, status: 304, body: new Uint8Array(0) };
  }
  if (kept.body.length <= maxBytes) return kept;
  return { ...kept, body: kept.body.slice(0, maxBytes), truncated: true };
}
