// The server's side of one connection: reading on demand, backpressure, an orderly close.
import type { Duplex } from 'node:stream';
import { ConnectionError, StateError } from '../../protocols/errors.js';
import type { Peer } from './peer.js';

/** One connection of a session: a TCP connection, or standard input and output. */
export interface HostConnection {
  readonly peer: Peer;
  /** Aborted when the peer is gone, or at the end of the host's grace period. */
  readonly signal: AbortSignal;
  /**
   * Chunks from the peer. Reading pauses until the session asks for the next chunk, which is backpressure for the peer. Ends
   * when the peer has finished sending (it may still read), or when the host is stopping. Throws {@link ConnectionError}
   * when the connection broke, and after `idleTimeoutMs` without a byte; after the latter the connection is still
   * writable. May be called again to continue reading.
   */
  chunks(): AsyncIterable<Uint8Array>;
  /**
   * Resolves when the connection can accept more. The bytes must not change afterwards. Rejects with
   * {@link ConnectionError} when the peer is gone or accepted nothing for `drainTimeoutMs`.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Like {@link write}, but resolves when the system has accepted the bytes: then their memory may be reused. */
  deliver(bytes: Uint8Array): Promise<void>;
  /** Sends the buffered bytes and ends our direction. */
  end(): Promise<void>;
  /** Drops the connection immediately. */
  destroy(): void;
}

/** Limits of one connection, in milliseconds and bytes. */
export interface ConnectionLimits {
  readonly idleTimeoutMs: number;
  readonly drainTimeoutMs: number;
  /** How long input is discarded after our last byte. */
  readonly lingerMs: number;
}

/** Maximum number of bytes discarded while lingering; then the connection is dropped. */
const LINGER_BYTES = 1 << 20;

/** The methods of `net.Socket` that a connection uses. */
export interface ByteStream extends Duplex {
  readonly bytesRead: number;
  /** Emits `timeout` after this many milliseconds without a byte; 0 disables it. */
  setTimeout(milliseconds: number): unknown;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** {@link HostConnection} over a socket created with `allowHalfOpen`. */
export class SocketConnection implements HostConnection {
  readonly peer: Peer;
  readonly #socket: ByteStream;
  readonly #limits: ConnectionLimits;
  readonly #goneController = new AbortController();
  /** Resolves once the socket is closed for good. */
  readonly closed: Promise<void>;
  #failure: Error | undefined;
  #stopping = false;
  #lingering = false;
  #wakeReader: (() => void) | undefined;
  #writers: Waiter[] = [];

  constructor(socket: ByteStream, peer: Peer, limits: ConnectionLimits) {
    this.peer = peer;
    this.#socket = socket;
    this.#limits = limits;
    socket.on('readable', () => this.#wakeReader?.());
    socket.on('end', () => this.#wakeReader?.());
    socket.on('drain', () => this.#resolveWriters());
    socket.on('timeout', () => {
      this.#fail(new ConnectionError(`peer accepted no data for ${limits.drainTimeoutMs} ms`));
    });
    socket.on('error', (error) => {
      this.#failure ??= new ConnectionError(`connection failed: ${error.message}`, { cause: error });
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#handleClose();
        resolve();
      });
    });
  }

  get signal(): AbortSignal {
    return this.#goneController.signal;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = await this.#nextChunk();
      if (chunk === undefined) return;
      yield chunk;
    }
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#socket.destroyed) return Promise.reject(this.#closeReason());
    if (this.#socket.writableEnded) return Promise.reject(new StateError('write after end'));
    if (this.#socket.write(bytes)) return Promise.resolve();
    return this.#waitForDrain();
  }

  async deliver(bytes: Uint8Array): Promise<void> {
    if (this.#socket.destroyed) throw this.#closeReason();
    if (this.#socket.writableEnded) throw new StateError('write after end');
    const accepted = this.#waitForDrain();
    this.#socket.write(bytes, (error) => {
      if (error == null) this.#resolveWriters();
    });
    await accepted;
  }

  async end(): Promise<void> {
    if (this.#socket.destroyed) throw this.#closeReason();
    if (this.#socket.writableFinished) return;
    const finished = this.#waitForDrain();
    this.#socket.end((error?: Error | null) => {
      if (error == null) this.#resolveWriters();
    });
    await finished;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Called when the host stops: input ends for a session that waits for its peer; one that sends may finish. */
  stop(): void {
    this.#stopping = true;
    if (this.#lingering) this.#socket.destroy();
    this.#wakeReader?.();
  }

  /** Called when the grace period of the host is over. */
  cut(): void {
    this.#fail(new ConnectionError('the server is stopping'));
  }

  /**
   * Closes after the session. If our direction was ended, input is read and discarded for a while: closing over unread input
   * makes TCP reset the connection, and a reset can destroy our last bytes before the peer has read them.
   */
  async finish(): Promise<void> {
    const socket = this.#socket;
    if (!socket.destroyed && socket.writableFinished && !socket.readableEnded && !this.#stopping) {
      this.#lingering = true;
      const timer = setTimeout(() => socket.destroy(), this.#limits.lingerMs);
      const until = socket.bytesRead + LINGER_BYTES;
      const discard = () => {
        while (socket.read() !== null) if (socket.bytesRead > until) socket.destroy();
      };
      socket.on('end', () => socket.destroy());
      socket.on('readable', discard);
      discard();
      await this.closed;
      clearTimeout(timer);
    }
    socket.destroy();
    await this.closed;
  }

  async #nextChunk(): Promise<Uint8Array | undefined> {
    const socket = this.#socket;
    for (;;) {
      const chunk: Uint8Array | null = socket.readableEnded ? null : socket.read();
      if (chunk !== null) return chunk;
      if (this.#failure !== undefined) throw this.#failure;
      if (socket.readableEnded || this.#stopping) return undefined;
      if (socket.destroyed) throw this.#closeReason();
      await this.#waitForInput();
    }
  }

  #waitForInput(): Promise<void> {
    if (this.#wakeReader !== undefined) throw new StateError('two readers on one connection');
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        clearTimeout(timer);
        this.#wakeReader = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
      const { idleTimeoutMs } = this.#limits;
      const timer = setTimeout(
        () => settle(new ConnectionError(`nothing received for ${idleTimeoutMs} ms`)),
        idleTimeoutMs,
      );
      this.#wakeReader = () => settle();
    });
  }

  /** Waits for the socket's buffer to empty. Node's socket timeout counts from the last byte read or written. */
  #waitForDrain(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#writers.length === 0) this.#socket.setTimeout(this.#limits.drainTimeoutMs);
      this.#writers.push({ resolve, reject });
    });
  }

  #resolveWriters(): void {
    const waiting = this.#writers;
    this.#writers = [];
    this.#socket.setTimeout(0);
    for (const waiter of waiting) waiter.resolve();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
  }

  #handleClose(): void {
    const error = this.#closeReason();
    this.#goneController.abort(error);
    const waiting = this.#writers;
    this.#writers = [];
    for (const waiter of waiting) waiter.reject(error);
    this.#wakeReader?.();
  }

  #closeReason(): Error {
    return this.#failure ?? new ConnectionError('the connection is closed');
  }
}
