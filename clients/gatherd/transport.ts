import { connect, type Socket } from 'node:net';
import { ConnectionError } from '../../protocols/errors.js';

export interface TransportOptions {
  readonly host: string;
  readonly port: number;
  /** Milliseconds to wait for the connection. */
  readonly connectTimeoutMs: number;
  /** Milliseconds one read or write may wait. */
  readonly idleTimeoutMs: number;
  readonly signal?: AbortSignal;
}

/**
 * A TCP connection that is read when somebody asks: what the server sends meanwhile waits in one socket buffer
 * and then at the server.
 */
export class Transport {
  readonly #socket: Socket;
  readonly #idleTimeoutMs: number;
  readonly #where: string;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket, options: TransportOptions) {
    this.#socket = socket;
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#where = `${options.host}:${options.port}`;
    const wake = () => this.#wake?.();
    for (const event of ['connect', 'readable', 'end', 'drain', 'close'] as const) socket.on(event, wake);
    socket.on('error', (error) => {
      this.#failure ??= new ConnectionError(`${this.#where}: ${error.message}`, { cause: error });
      wake();
    });
  }

  /** Connects. Rejects with {@link ConnectionError}, or with the signal's reason. */
  static async open(options: TransportOptions): Promise<Transport> {
    options.signal?.throwIfAborted();
    const socket = connect({ host: options.host, port: options.port, noDelay: true, keepAlive: true });
    const transport = new Transport(socket, options);
    try {
      while (socket.connecting) {
        await transport.#wait('no connection', options.connectTimeoutMs, options.signal);
      }
      if (transport.#failure !== undefined) throw transport.#failure;
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return transport;
  }

  /** Whether the connection broke, as opposed to the server closing it, or being silent for too long. */
  get broken(): boolean {
    return this.#failure !== undefined;
  }

  /** The next bytes, or undefined when the server has closed. */
  async read(signal?: AbortSignal): Promise<Uint8Array | undefined> {
    const socket = this.#socket;
    for (;;) {
      signal?.throwIfAborted();
      const chunk: Uint8Array | null = socket.readableEnded ? null : socket.read();
      if (chunk !== null) return chunk;
      if (this.#failure !== undefined) throw this.#failure;
      if (socket.readableEnded) return undefined;
      if (socket.destroyed) throw new ConnectionError(`${this.#where}: the connection is closed`);
      await this.#wait('nothing received', this.#idleTimeoutMs, signal);
    }
  }

  /** Sends a command. Commands are short, so only a server that reads nothing at all makes this wait. */
  async write(bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#socket.destroyed) throw new ConnectionError(`${this.#where}: the connection is closed`);
    this.#socket.write(bytes);
    while (this.#socket.writableNeedDrain) {
      await this.#wait('nothing accepted', this.#idleTimeoutMs, signal);
      if (this.#failure !== undefined) throw this.#failure;
    }
  }

  /** Drops the connection; resolves when it is gone. */
  async close(): Promise<void> {
    if (this.#socket.closed) return;
    await new Promise<void>((resolve) => {
      this.#socket.once('close', () => resolve());
      this.#socket.destroy();
    });
  }

  /** Waits until something happened to the socket; the caller looks what it was. */
  #wait(problem: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#wake = undefined;
      };
      const abort = () => {
        settle();
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        settle();
        reject(new ConnectionError(`${this.#where}: ${problem} for ${timeoutMs} ms`));
      }, timeoutMs);
      signal?.addEventListener('abort', abort, { once: true });
      this.#wake = () => {
        settle();
        resolve();
      };
    });
  }
}
