// Creates one fetcher for all schemes, with the disk cache and Local-Mapping in front.
import { UsageError } from '../../protocols/errors.js';
import { CachingFetcher } from './cache/caching-fetcher.js';
import type { DiskCache } from './cache/disk-cache.js';
import { publishDebug } from './debug-channel.js';
import { FileFetcher, type FileFetcherOptions } from './file-fetcher.js';
import { FtpFetcher, type FtpFetcherOptions } from './ftp-fetcher.js';
import { FtpProxyFetcher } from './ftp-proxy-fetcher.js';
import { GopherFetcher } from './gopher-fetcher.js';
import { HttpFetcher, type HttpFetcherOptions } from './http-fetcher.js';
import { LocalMapper, type LocalMapping } from './local-mapping.js';
import { NewsFetcher, type NewsFetcherOptions } from './news-fetcher.js';
import type { Fetcher, FetchRequest, FetchResult } from './types.js';

export interface FetcherOptions
  extends HttpFetcherOptions,
    FileFetcherOptions,
    FtpFetcherOptions,
    NewsFetcherOptions {
  /** G-71: the first mapping whose prefix matches is tried before the network. */
  readonly localMappings?: readonly LocalMapping[] | undefined;
  /** `host:port` of an HTTP proxy that `ftp:` URLs go through (G-84). */
  readonly ftpProxy?: string | undefined;
  /** Used for the network (G-98), not for local files; several fetchers can share it. */
  readonly cache?: DiskCache | undefined;
  /** Called for a problem that does not fail a retrieval. */
  readonly onWarning?: ((sentence: string) => void) | undefined;
  /**
   * Fetchers of other schemes, or instead of the built-in ones, by scheme without the colon; closed with this
   * fetcher.
   */
  readonly schemes?: Readonly<Record<string, Fetcher>> | undefined;
}

/**
 * Creates a fetcher for http, https, FTP, Gopher, news and `file:` URLs, mapped URLs, and the schemes in
 * `schemes`.
 */
export function createFetcher(options: FetcherOptions): Fetcher {
  const http = new HttpFetcher(options);
  const news = new NewsFetcher(options);
  const ftp =
    options.ftpProxy === undefined ? new FtpFetcher(options) : new FtpProxyFetcher(options.ftpProxy, options);
  const gopher = new GopherFetcher(options);
  const network = { http, https: http, ftp, gopher, news, nntp: news, ...options.schemes };
  const schemes = new Map<string, Fetcher>([['file', new FileFetcher(options)]]);
  for (const [scheme, fetcher] of Object.entries(network)) {
    const { cache, onWarning } = options;
    schemes.set(scheme, cache === undefined ? fetcher : new CachingFetcher(fetcher, cache, onWarning));
  }
  return new SchemeFetcher(schemes, new LocalMapper(options.localMappings ?? []));
}

function describeConditions({ headers, publicOnly, reload }: FetchRequest): string {
  const words = [
    ...(headers?.etag ? [`unless it is still ${headers.etag}`] : []),
    ...(headers?.lastModified ? [`if modified since ${headers.lastModified}`] : []),
    ...(publicOnly === true ? ['public addresses only'] : []),
    ...(reload === true ? ['bypassing the cache'] : []),
  ];
  return words.length === 0 ? '' : `, ${words.join(', ')}`;
}

function describeResult(result: FetchResult): string {
  const { status, contentType, body, truncated, lastModified, location, local } = result;
  return [
    `status ${status}`,
    `${body.length} bytes${truncated ? ' (cut)' : ''}`,
    `type ${contentType ?? 'unknown'}`,
    `modified ${lastModified}`,
    ...(location === undefined ? [] : [`redirects to ${location}`]),
    ...(local ? ['local'] : []),
    `${result.endTime - result.beginTime} ms`,
  ].join(', ');
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
    publishDebug(20, 5, () => `${request.url}: requested by ${scheme}${describeConditions(request)}`);
    const result = await fetcher.fetch(request);
    publishDebug(20, 9, () => `${request.url}: ${describeResult(result)}`);
    return result;
  }

  async close(): Promise<void> {
    await Promise.all([...new Set(this.#schemes.values())].map((fetcher) => fetcher.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
