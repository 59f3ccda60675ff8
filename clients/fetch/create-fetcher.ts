import { UsageError } from '../../protocols/errors.js';
import { FileFetcher, type FileFetcherOptions } from './file-fetcher.js';
import { HttpFetcher, type HttpFetcherOptions } from './http-fetcher.js';
import { LocalMapper, type LocalMapping } from './local-mapping.js';
import type { Fetcher, FetchRequest, FetchResult } from './types.js';

export interface FetcherOptions extends HttpFetcherOptions, FileFetcherOptions {
  /** G-71; the first whose prefix fits is tried before the network. */
  readonly localMappings?: readonly LocalMapping[] | undefined;
  /** Fetchers of further schemes, by scheme without the colon; they are closed with this one. */
  readonly schemes?: Readonly<Record<string, Fetcher>> | undefined;
}

/** A fetcher for `http:`, `https:` and `file:` URLs, for mapped URLs of any scheme, and for what `schemes` adds. */
export function createFetcher(options: FetcherOptions): Fetcher {
  const http = new HttpFetcher(options);
  const schemes = { http, https: http, file: new FileFetcher(options), ...options.schemes };
  return new SchemeFetcher(new Map(Object.entries(schemes)), new LocalMapper(options.localMappings ?? []));
}

class SchemeFetcher implements Fetcher {
  readonly #schemes: ReadonlyMap<string, Fetcher>;
  readonly #mapper: LocalMapper;

  constructor(schemes: ReadonlyMap<string, Fetcher>, mapper: LocalMapper) {
    this.#schemes = schemes;
    this.#mapper = mapper;
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    const mapped = await this.#mapper.fetch(request);
    if (mapped !== undefined) return mapped;
    const scheme = request.url.slice(0, Math.max(0, request.url.indexOf(':')));
    const fetcher = this.#schemes.get(scheme);
    if (fetcher === undefined) throw new UsageError(`${scheme}: URLs are not supported by this version`);
    return await fetcher.fetch(request);
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(this.#schemes.values())].map((fetcher) => fetcher.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
