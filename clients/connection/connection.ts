// A TCP connection as clients use it: time limits, abort, backpressure. Times are milliseconds.
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Clock } from '../../protocols/clock.js';
import { ConnectionError, StateError } from '../../protocols/errors.js';
import { authorityOf } from '../../protocols/urls/parse-url.js';
import { onConfirmedEnd } from './confirmed-end.js';
import { monotonicClock } from './monotonic-clock.js';
import { asConnectionError, asError } from './network-errors.js';

/** The beginning of the name of a host to which connections are made with TLS. */
const TLS = 'tls://';

/** What every client takes for its connections. */
export interface PeerOptions {
  /** A name or an address; `tls://` before it connects with TLS and checks the server's certificate. */
  readonly host: string;
  /** Default: the usual one of the protocol: 8500 (GATHERD-1.2), 8501 (BRK-1.2), 3324 (S-15). */
  readonly port?: number | undefined;
  /**
   * With TLS: the SHA-256 fingerprint that the server's certificate must have, as OpenSSL writes it. Signer and
   * names of the certificate are then not checked. Default: the certificate must be that of the host, by an
   * authority that is trusted here.
   */
  readonly fingerprint?: string | undefined;
  /** Milliseconds to wait for the connection. Default 30 000 for gatherd, 20 000 for Brokers, else 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Gives up connecting; once the connection is open the signal has no effect. */
  readonly signal?: AbortSignal | undefined;
  /** Called with our end of the connection when it is open, before anything is sent. */
  readonly onOpen?: ((local: { readonly address: string; readonly port: number }) => void) | undefined;
  /** The clock of the limits in milliseconds. Default: that of this process. */
  readonly clock?: Clock | undefined;
}

export interface AbortOptions {
  /** Gives up this call. A connection that other calls share stays open. */
  readonly signal?: AbortSignal | undefined;
}

/** One connection; its owner knows the defaults of the protocol. */
export interface ConnectionOptions extends PeerOptions {
  readonly port: number;
  /** The peer's name in error messages. Default `host:port`. */
  readonly name?: string;
  /** Additions to the message of an errno, by its code: for `ECONNREFUSED` e.g. the usual port. */
  readonly hints?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /**
   * Milliseconds that one read or one write may wait; 0 for no limit. Time between the calls does not count.
   */
  readonly idleTimeoutMs: number;
}

/**
 * A TCP connection as a client uses it. Reads on demand: one chunk is held while no read waits, then the socket
 * is paused and the peer's window fills. Every failure is a {@link ConnectionError} that names the peer.
 */
export class Connection implements AsyncDisposable, AsyncIterable<Uint8Array> {
  /** The peer's name in error messages. */
  readonly name: string;
  /** The peer's IP address. */
  readonly remoteAddress: string;
  /** Milliseconds that one read or one write may wait; 0 for no limit. Takes effect with the next call. */
  idleTimeoutMs: number;
  readonly #socket: Socket;
  readonly #clock: Clock;
  /** The chunk that arrived while no read waited. */
  #held: Uint8Array | undefined;
  #reading: Wait<Uint8Array | undefined> | undefined;
  #writing: Wait<void> | undefined;
  #inputEnded = false;
  #outputEnded = false;
  #lost = false;
  #timedOut = false;
  #failure: Error | undefined;

  private constructor(socket: Socket, name: string, options: ConnectionOptions) {
    this.name = name;
    this.remoteAddress = socket.remoteAddress ?? '';
    this.idleTimeoutMs = options.idleTimeoutMs;
    this.#socket = socket;
    this.#clock = options.clock ?? monotonicClock;
    socket.on('data', (chunk) => this.#receive(chunk));
    onConfirmedEnd(socket, () => this.#endInput());
    socket.on('drain', () => this.#writing?.resolve());
    socket.on('error', (cause) => {
      this.#lost ||= this.#failure === undefined;
      this.#fail(asConnectionError(name, cause, options.hints));
    });
  }

  /**
   * Connects.
   * @throws ConnectionError if the host is unknown, refuses or does not answer in time; the signal's reason
   */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const { port, connectTimeoutMs, signal, hints, clock = monotonicClock } = options;
    const secure = options.host.startsWith(TLS);
    const host = secure ? options.host.slice(TLS.length) : options.host;
    const address = authorityOf(host, port);
    const name = options.name ?? (secure ? `${TLS}${address}` : address);
    signal?.throwIfAborted();
    const target = { host, port, noDelay: true, keepAlive: true };
    // An address is no server name (RFC 6066, 3).
    const socket = secure
      ? connectTls({
          ...target,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          rejectUnauthorized: options.fingerprint === undefined,
        })
      : connect(target);
    const connected = new Wait<void>(connectTimeoutMs, signal, clock, () => {
      connected.reject(new ConnectionError(`${name}: no connection within ${connectTimeoutMs} ms`));
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => connected.resolve());
    // Stays for the life of the socket: an error event without a listener would end the process.
    socket.on('error', (cause) => connected.reject(asConnectionError(name, cause, hints)));
    try {
      await connected.promise;
      checkFingerprint(name, socket, options.fingerprint);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    options.onOpen?.({ address: socket.localAddress ?? '', port: socket.localPort ?? 0 });
    return new Connection(socket, name, options);
  }

  /** Bytes that the peer has sent so far. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /**
   * Whether the connection failed, was destroyed, or was ended by the peer and everything that it sent was
   * read.
   */
  get closed(): boolean {
    return this.#failure !== undefined || (this.#inputEnded && this.#held === undefined);
  }

  /** Whether the network or the peer broke the connection: not a time-out, an abort or {@link destroy}. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Whether a read or a write waited longer than {@link idleTimeoutMs}. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /**
   * The next bytes, or undefined once the peer has closed its direction. An abort ends this wait and leaves the
   * connection open. Not an async function, because that costs a References client a tenth of its time.
   * @throws ConnectionError, the reason of {@link destroy} or of the signal; StateError while another read
   *   waits
   */
  read(signal?: AbortSignal): Promise<Uint8Array | undefined> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const held = this.#held;
    if (held !== undefined) {
      this.#held = undefined;
      this.#socket.resume();
      return Promise.resolve(held);
    }
    // The input is whole, whatever becomes of the connection afterwards.
    if (this.#inputEnded) return Promise.resolve(undefined);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#reading?.settled === false) return Promise.reject(this.#misuse('another read waits already'));
    this.#reading = this.#wait('nothing received', signal);
    return this.#reading.promise;
  }

  /** Reads until the peer has closed its direction. Leaving the loop does not close the connection. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (let chunk = await this.read(); chunk !== undefined; chunk = await this.read()) yield chunk;
  }

  /**
   * Sends bytes; resolves when more may be sent. An abort ends this wait; the bytes are sent nevertheless.
   * @throws as {@link read}; StateError after {@link end} and while another write waits
   */
  write(bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#outputEnded) return Promise.reject(this.#misuse('write after end'));
    if (this.#writing?.settled === false) return Promise.reject(this.#misuse('another write waits already'));
    if (this.#socket.writableEnded) {
      this.#lost = true;
      return Promise.reject(new ConnectionError(`${this.name}: the server closed the connection`));
    }
    if (this.#socket.write(bytes)) return WRITTEN;
    this.#writing = this.#wait('nothing accepted', signal);
    return this.#writing.promise;
  }

  /** Closes our direction after everything written; the peer's stays open. */
  end(): void {
    this.#outputEnded = true;
    this.#socket.end();
  }

  /** Drops the connection; calls that wait, and later ones, reject with `reason`. */
  destroy(reason: Error = new ConnectionError(`${this.name}: the connection is closed`)): void {
    this.#held = undefined;
    this.#inputEnded = false;
    this.#fail(reason);
  }

  /** Drops the connection with a TCP reset. */
  reset(): void {
    this.#socket.resetAndDestroy();
    this.destroy();
  }

  /** Drops the connection; resolves when the socket is closed. */
  async close(): Promise<void> {
    this.destroy();
    if (!this.#socket.closed) await once(this.#socket, 'close');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #receive(chunk: Uint8Array): void {
    if (this.#reading?.settled === false) {
      this.#reading.resolve(chunk);
      return;
    }
    this.#held = chunk;
    this.#socket.pause();
  }

  #endInput(): void {
    this.#inputEnded = true;
    this.#reading?.resolve(undefined);
  }

  #fail(reason: Error): void {
    this.#failure ??= reason;
    this.#reading?.reject(this.#failure);
    this.#writing?.reject(this.#failure);
    this.#socket.destroy();
  }

  #misuse(problem: string): StateError {
    return new StateError(`${this.name}: ${problem}`);
  }

  #wait<T>(problem: string, signal: AbortSignal | undefined): Wait<T> {
    const ms = this.idleTimeoutMs;
    return new Wait(ms, signal, this.#clock, () => {
      this.#timedOut = true;
      this.#fail(new ConnectionError(`${this.name}: ${problem} for ${ms} ms`));
    });
  }
}

const WRITTEN = Promise.resolve();

/** @throws ConnectionError if the certificate is another one */
function checkFingerprint(name: string, socket: Socket, expected: string | undefined): void {
  if (expected === undefined || !(socket instanceof TLSSocket)) return;
  if (socket.getPeerX509Certificate()?.fingerprint256 !== expected)
    throw new ConnectionError(`${name}: the server has another certificate than expected`);
}

/** A promise that is settled by its owner, by a time limit or by an abort, whichever is first. */
class Wait<T> {
  readonly promise: Promise<T>;
  settled = false;
  readonly #signal: AbortSignal | undefined;
  readonly #cancelTimer: (() => void) | undefined;
  readonly #onAbort: (() => void) | undefined;
  #settle!: { readonly resolve: (value: T) => void; readonly reject: (reason: unknown) => void };

  /**
   * @param timeoutMs milliseconds until `onTimeout`, which settles the wait; 0 for no limit
   * @param signal must not be aborted yet; its abort rejects with its reason
   */
  constructor(timeoutMs: number, signal: AbortSignal | undefined, clock: Clock, onTimeout: () => void) {
    this.promise = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    if (timeoutMs > 0) this.#cancelTimer = clock.setTimer(onTimeout, timeoutMs);
    if (signal === undefined) return;
    this.#signal = signal;
    this.#onAbort = () => this.reject(signal.reason);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Has no effect after the wait is settled. */
  resolve(value: T): void {
    if (this.#release()) this.#settle.resolve(value);
  }

  /** Has no effect after the wait is settled. */
  reject(reason: unknown): void {
    if (this.#release()) this.#settle.reject(reason);
  }

  #release(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#cancelTimer?.();
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/**
 * Sends `request` over a new connection and yields the reply until the peer closes. An abort, and leaving the
 * loop, destroys the connection.
 * @throws ConnectionError if the peer cannot be reached, breaks the connection or is silent for too long; the
 *   signal's reason
 */
export async function* exchange(request: Uint8Array, options: ConnectionOptions): AsyncGenerator<Uint8Array> {
  const { signal } = options;
  await using connection = await Connection.open(options);
  const onAbort = () => connection.destroy(asError(signal?.reason));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    // A failed write fails the read too, which comes after the part of the reply that did arrive.
    connection.write(request).catch(() => {});
    yield* connection;
    signal?.throwIfAborted();
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
