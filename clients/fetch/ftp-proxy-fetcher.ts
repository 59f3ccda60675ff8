// Fetches `ftp:` URLs through an HTTP proxy (G-84).
import { UsageError } from '../../protocols/errors.js';
import { HttpFetcher, type HttpFetcherOptions } from './http-fetcher.js';
import { parseProxy } from './proxy.js';
import { closeBodies } from './stored-body.js';
import type { Fetcher, FetchRequest, FetchResult } from './types.js';

/** Nothing tells the reader of an FTP file that it is compressed. */
const HEADERS = { 'accept-encoding': 'identity' };

/**
 * Fetches `ftp:` URLs through an HTTP proxy (G-84), which writes directories as HTML pages with links. Its responses
 * are read as those of any web server.
 */
export class FtpProxyFetcher implements Fetcher {
  readonly #address: string;
  readonly #http: HttpFetcher;

  /** @param hostAndPort the proxy */
  constructor(hostAndPort: string, options: HttpFetcherOptions) {
    this.#address = hostAndPort;
    // The logins of web sites are not those of files.
    this.#http = new HttpFetcher({ ...options, httpBasicAuth: [] });
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    if (parseProxy(this.#address).kind !== 'http') throw new UsageError('ftp URLs need an HTTP proxy');
    const { post: _, ...plain } = request;
    const own = { ...plain, extraHeaders: HEADERS, proxy: this.#address, proxyLogin: '' };
    const result = await this.#http.fetch(own);
    const { 'content-encoding': coding, 'transfer-encoding': transfer = '' } = result.headers;
    if (
      result.wire === undefined ||
      (coding === undefined && !/[a-z]/i.test(transfer.replace(/chunked/i, '')))
    )
      return result;
    // An archive of a file has no header that names the coding.
    await closeBodies(result);
    return { ...result, wire: undefined };
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
