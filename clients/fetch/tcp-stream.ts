import { connect, type Socket } from 'node:net';
import { ConnectionError } from '../../protocols/errors.js';
import { asConnectionError, asError } from '../connection/index.js';
import { resolveHost } from './private-addresses.js';
import { DEFAULT_CONNECT_MS, silenceOf, type TransferOptions } from './transfer.js';
import type { FetchRequest } from './types.js';

/** A TCP connection that is read piece by piece; nothing is read ahead beyond the socket's own buffer. */
export class TcpStream {
  /** For messages: as the URL names it. */
  readonly host: string;
  /** The server's address. */
  readonly remoteAddress: string;
  readonly #socket: Socket;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #failure: Error | undefined;

  private constructor(host: string, socket: Socket) {
    this.host = host;
    this.remoteAddress = socket.remoteAddress ?? '';
    this.#socket = socket;
    this.#pieces = socket[Symbol.asyncIterator]();
    // An error may come while nobody reads; the next read or write tells of it.
    socket.on('error', (error) => {
      this.#failure ??= asConnectionError(host, error);
    });
    socket.setNoDelay(true);
  }

  /**
   * @throws ConnectionError when no connection can be made in time
   * @throws UsageError when `publicOnly` refuses the address
   */
  static async open(
    host: string,
    port: number,
    request: FetchRequest,
    options: TransferOptions,
  ): Promise<TcpStream> {
    const { signal } = request;
    const address = await resolveHost(host, request.publicOnly === true, signal);
    signal?.throwIfAborted();
    const socket = connect({ host: address, port });
    const ms = options.connectTimeoutMs ?? DEFAULT_CONNECT_MS;
    const timer = setTimeout(() => {
      socket.destroy(new ConnectionError(`${host}: the connection could not be made in time`));
    }, ms);
    const onAbort = () => socket.destroy(asError(signal?.reason));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve).once('error', reject);
      });
      return new TcpStream(host, socket);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw asConnectionError(host, error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** The connection was broken by {@link destroy}, the server or the network. */
  get closed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  /** Begins to count silence (G-85) as the request wants it; without a request the connection rests. */
  watchSilence(request: FetchRequest | undefined): void {
    this.#socket.removeAllListeners('timeout');
    if (request === undefined) {
      this.#socket.setTimeout(0);
      return;
    }
    const ms = silenceOf(request);
    this.#socket.setTimeout(ms, () => {
      this.destroy(new ConnectionError(`${this.host}: nothing came for ${ms} ms (G-85)`));
    });
  }

  /**
   * @returns `undefined` at the connection's end
   * @throws ConnectionError, or what {@link destroy} was called with
   */
  async read(): Promise<Uint8Array | undefined> {
    try {
      const { done, value } = await this.#pieces.next();
      if (this.#failure !== undefined) throw this.#failure;
      return done === true ? undefined : value;
    } catch (error) {
      throw this.#failure ?? asConnectionError(this.host, error);
    }
  }

  /** Sends bytes, once the system takes them. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    await new Promise<void>((resolve, reject) => {
      this.#socket.write(bytes, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(this.#failure ?? asConnectionError(this.host, error));
      });
    });
  }

  /** Breaks the connection; a read that waits fails with `reason`. */
  destroy(reason?: Error): void {
    this.#failure ??= reason;
    this.#socket.destroy(reason);
  }
}
