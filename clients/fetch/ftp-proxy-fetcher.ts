// Fetches `ftp:` URLs through an HTTP proxy (G-84).
import { once } from 'node:events';
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { ConnectionError, StateError } from '../../protocols/errors.js';
import { withoutBrackets, withoutUserInfo, withUserInfo } from '../../protocols/urls/index.js';
import { asConnectionError } from '../connection/index.js';
import { BoundedBody } from './bounded-body.js';
import { parseFtpUrl } from './ftp-url.js';
import { basicCredentials, parseHttpDate, plainHeaders, splitContentType } from './headers.js';
import { resolveHost } from './private-addresses.js';
import {
  DEFAULT_CONNECTIONS,
  DEFAULT_KEEP_ALIVE_MS,
  idleTimeoutOf,
  type TransferOptions,
  TransferWatch,
} from './transfer.js';
import { DEFAULT_MAX_BYTES, type Fetcher, type FetchRequest, type FetchResult, resultOf } from './types.js';

export interface FtpProxyOptions extends TransferOptions {
  readonly userAgent: string;
}

/**
 * Fetches `ftp:` URLs through an HTTP proxy (G-84), which writes directories as HTML pages with links. Uses
 * Node's HTTP client, because undici cannot send a request line with an `ftp:` URL.
 */
export class FtpProxyFetcher implements Fetcher {
  readonly #options: FtpProxyOptions;
  readonly #proxy: { readonly host: string; readonly port: number };
  readonly #agent: Agent;
  readonly #running = new Set<ClientRequest>();
  #closed = false;

  /** @param hostAndPort the proxy */
  constructor(hostAndPort: string, options: FtpProxyOptions) {
    this.#options = options;
    const { hostname, port } = new URL(`http://${hostAndPort}`);
    this.#proxy = { host: withoutBrackets(hostname), port: port === '' ? 80 : Number(port) };
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: options.maxConnectionsPerHost ?? DEFAULT_CONNECTIONS,
      timeout: options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
    });
  }

  async fetch(request: FetchRequest): Promise<FetchResult> {
    if (this.#closed) throw new StateError('the fetcher is closed');
    const { host, user, password } = parseFtpUrl(withUserInfo(request.url, request.login));
    // The proxy resolves the name itself; an address that is private here is refused nevertheless.
    if (request.publicOnly === true) await resolveHost(host, true, request.signal);
    request.signal?.throwIfAborted();
    const beginTime = Date.now();
    const headers: Record<string, string> = { 'user-agent': this.#options.userAgent, accept: '*/*' };
    const known = request.headers?.lastModified;
    if (known) headers['if-modified-since'] = new Date(known * 1000).toUTCString();
    if (user !== undefined) headers.authorization = basicCredentials(user, password ?? '');
    const path = withoutUserInfo(request.url);
    const sent = httpRequest({ ...this.#proxy, agent: this.#agent, method: 'GET', path, headers });
    const idleTimeoutMs = idleTimeoutOf(request);
    sent.setTimeout(idleTimeoutMs, () => {
      sent.destroy(new ConnectionError(`${host}: nothing received for ${idleTimeoutMs} ms`));
    });
    // `once` and the iteration report errors; a later one must not end the process.
    sent.on('error', () => {});
    // The socket is known once the request has one.
    let bytesBefore = 0;
    sent.once('socket', (socket) => {
      bytesBefore = socket.bytesRead;
    });
    using watch = new TransferWatch(host, request, this.#options, {
      get bytesRead() {
        return Math.max(0, (sent.socket?.bytesRead ?? 0) - bytesBefore);
      },
      destroy: (reason) => void sent.destroy(reason),
    });
    this.#running.add(sent);
    try {
      sent.end();
      const [response]: IncomingMessage[] = await once(sent, 'response');
      const body = new BoundedBody(request.maxBytes ?? DEFAULT_MAX_BYTES);
      for await (const chunk of response!) {
        body.push(chunk);
        if (body.truncated) break;
      }
      // A document without a length ends with its connection, whichever side closed it.
      if (watch.reason !== undefined) throw watch.reason;
      const responseHeaders = plainHeaders(response!.headers);
      return resultOf(request.url, beginTime, {
        status: response!.statusCode ?? 0,
        headers: responseHeaders,
        ...splitContentType(responseHeaders['content-type']),
        lastModified: parseHttpDate(responseHeaders['last-modified']),
        body: body.bytes(),
        truncated: body.truncated,
      });
    } catch (error) {
      throw watch.causeOf(asConnectionError(host, error));
    } finally {
      this.#running.delete(sent);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const sent of this.#running) sent.destroy(new ConnectionError('the fetcher was closed'));
    this.#agent.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
