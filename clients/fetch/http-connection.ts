// A connection to a web server that carries one exchange after the other.
import type { Socket } from 'node:net';
import type { PooledConnection } from './connection-pool.js';

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
  /** Whether the current exchange has got a byte. */
  #hasBytes = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', (error) => {
      this.#isEnded = true;
      this.#error = error;
    });
    socket.on('data', (chunk: Uint8Array) => {
      this.#hasBytes = true;
      if (this.#user === undefined) this.close();
      else this.#user.onData(chunk);
    });
    socket.on('end', () => {
      this.#isEnded = true;
      this.#user?.onEnd();
    });
    socket.on('close', () => this.#user?.onClose(this.#error));
  }

  /** Bytes of all exchanges. TLS counts as far as it is decrypted. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get usable(): boolean {
    return this.#user === undefined && !this.#isEnded && !this.#socket.destroyed;
  }

  /** Whether the server ended it before the response began: it had not seen the request. */
  get lost(): boolean {
    return this.#isEnded && !this.#hasBytes;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Sends a request; its response goes to `user` until {@link release}. @param request Latin-1 */
  use(request: string, user: ConnectionUser): void {
    this.#user = user;
    this.#hasBytes = false;
    this.#socket.ref();
    this.#socket.write(request, 'latin1');
  }

  /** The exchange is over. An idle connection does not keep the process running. */
  release(): void {
    this.#user = undefined;
    this.#socket.unref();
  }
}
