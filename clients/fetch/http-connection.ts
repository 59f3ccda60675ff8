// A connection to a web server that carries one exchange after the other.
import type { Socket } from 'node:net';
import { onConfirmedEnd } from '../connection/index.js';
import type { PooledConnection } from './connection-pool.js';

/** A connection is not used again shortly before the server ends it: the request could come too late. */
const KEEP_MARGIN_MS = 1000;

/** Who uses a connection for one exchange. */
export interface ConnectionUser {
  /** @param chunk does not change after the call */
  onData(chunk: Uint8Array): void;
  /** The server sends no more bytes. */
  onEnd(): void;
  /** The connection is over, also after {@link onEnd}. */
  onClose(error: Error | undefined): void;
}

/**
 * A connection to a web server. Bytes that belong to no exchange end it: they could be taken for the response to
 * the next request.
 */
export class HttpConnection implements PooledConnection {
  readonly #socket: Socket;
  #user: ConnectionUser | undefined;
  #error: Error | undefined;
  /** Whether the server ended the connection. */
  #isEnded = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', (error) => {
      this.#isEnded = true;
      this.#error = error;
    });
    socket.on('data', (chunk: Uint8Array) => {
      if (this.#user === undefined) this.close();
      else this.#user.onData(chunk);
    });
    socket.on('end', () => {
      this.#isEnded = true;
    });
    onConfirmedEnd(socket, () => this.#user?.onEnd());
    socket.on('close', () => this.#user?.onClose(this.#error));
  }

  /** Bytes of all exchanges. TLS counts as far as it is decrypted. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get usable(): boolean {
    const isKept = this.keepMs === undefined || this.keepMs > 0;
    return this.#user === undefined && isKept && !this.#isEnded && !this.#socket.destroyed;
  }

  /**
   * False: a server that ends the connection after a request may have seen it, and a crawl counts and spaces its
   * requests.
   */
  readonly lost = false;

  keepMs: number | undefined;

  /** Reads no more until {@link resume}. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Sends a request; its response goes to `user` until {@link release}. @param request Latin-1 */
  use(request: string, user: ConnectionUser): void {
    this.#user = user;
    this.#socket.ref();
    this.#socket.write(request, 'latin1');
  }

  /**
   * The exchange is over. An idle connection does not keep the process running.
   * @param keepAlive the response's header of this name: how long the server keeps the connection
   */
  release(keepAlive = ''): void {
    this.#user = undefined;
    const seconds = /\btimeout=(\d{1,9})/i.exec(keepAlive)?.[1];
    this.keepMs = seconds === undefined ? undefined : Number(seconds) * 1000 - KEEP_MARGIN_MS;
    this.#socket.unref();
  }
}
