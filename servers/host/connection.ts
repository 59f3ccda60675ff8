// The server's side of one connection: reading on demand, backpressure, an orderly close.
import type { Duplex, Writable } from 'node:stream';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { ConnectionError, KitError, StateError } from '../../protocols/errors.js';
import type { ConnectionSlot } from './connection-table.js';
import { type SessionShare, threadShare } from './fair-share.js';
import { CONNECTION_COST_MS, chargeSent, chargeStep, InputPieces } from './input-pieces.js';
import type { PeerLog } from './log-limit.js';
import type { Peer } from './peer.js';
import { acceptedBytes, type SendLimits, SendWatch } from './send-watch.js';

/** One connection of a session: a TCP connection, or standard input and output. */
export interface HostConnection {
  readonly peer: Peer;
  /** Its number since the start of the server, as in lines of the log in JSON. */
  readonly id?: number | undefined;
  /** The log of this connection; its lines are bounded. */
  readonly log: PeerLog;
  /** Aborted when the peer is gone, or at the end of the host's grace period. */
  readonly signal: AbortSignal;
  /**
   * Its share of the event loop. Reading and writing are charged and wait for their turns here; a session adds
   * the cost of work that neither shows.
   */
  readonly share: SessionShare;
  /**
   * Chunks from the peer, of at most a kibibyte; each is charged and waits for its turn. Reading pauses until the session asks for the next chunk, which is backpressure for
   * the peer. Ends when the peer has finished sending (it may still read), or when the host is stopping. Throws
   * {@link ConnectionError} when the connection broke, and after `idleTimeoutMs` without a byte; after the
   * latter the connection is still writable. May be called again to continue reading.
   */
  chunks(): AsyncIterable<Uint8Array>;
  /**
   * Resolves when the connection can accept more and has its turn. The bytes must not change afterwards. Rejects with
   * {@link ConnectionError} when the peer is gone or accepts less than `minBytesPerSecond`.
   */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Like {@link write}, but resolves when the system has accepted the bytes: then their memory may be reused.
   */
  deliver(bytes: Uint8Array): Promise<void>;
  /**
   * Finds out whether the peer has ended its direction, without reading: while a session works, it requests no
   * input. A peer that is gone answers what it receives after that with a reset, which aborts `signal` at a
   * later call.
   */
  pollEnd(): boolean;
  /**
   * Expects no more of the peer: from now on what arrives is discarded, so that the end of its direction and a
   * reset are noticed while the session works. Calls back once the peer has ended its direction.
   */
  watchEnd(onEnd: () => void): void;
  /** Sends the buffered bytes and ends our direction. */
  end(): Promise<void>;
  /** Drops the connection immediately. */
  destroy(): void;
}

/** Limits of one connection, in milliseconds and bytes. */
export interface ConnectionLimits extends SendLimits {
  readonly idleTimeoutMs: number;
  /** How long input is discarded after our last byte. */
  readonly lingerMs: number;
}

/** Maximum number of bytes that are discarded; then the connection is dropped. */
const LINGER_BYTES = 1 << 20;

const NOTHING = new Uint8Array(0);

/** The members of `net.Socket` that a connection uses. */
export interface ByteStream extends Duplex {
  readonly bytesRead: number;
  /** The stream that passes output to the system, if it is another one. */
  readonly output?: Writable;
}

/** The options of a connection besides its socket. */
export interface ConnectionContext {
  readonly peer: Peer;
  readonly limits: ConnectionLimits;
  readonly log: PeerLog;
  readonly id?: number;
  /** Its place among the server's connections. Default: it has none, as under inetd. */
  readonly slot?: ConnectionSlot;
  /** Its share of the event loop. Default: one of this thread's. */
  readonly share?: SessionShare | undefined;
  /** Default: that of this process. */
  readonly clock?: Clock | undefined;
  /**
   * Sent to a client that must make room while the server waits for its next request. Default: it is dropped
   * without a word.
   */
  readonly lastWords?: Uint8Array | undefined;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** {@link HostConnection} over a socket created with `allowHalfOpen`. */
export class SocketConnection implements HostConnection {
  readonly peer: Peer;
  readonly id: number | undefined;
  readonly log: PeerLog;
  readonly share: SessionShare;
  readonly #socket: ByteStream;
  readonly #pieces: InputPieces;
  readonly #limits: ConnectionLimits;
  readonly #slot: ConnectionSlot | undefined;
  readonly #clock: Clock;
  readonly #sendWatch: SendWatch;
  readonly #goneController = new AbortController();
  /** Resolves once the socket is closed for good. */
  readonly closed: Promise<void>;
  #failure: Error | undefined;
  readonly #lastWords: Uint8Array | undefined;
  #stopping = false;
  /** The last words are said: the session ends, and the connection when they have arrived. */
  #leaving = false;
  #lingering = false;
  #wakeReader: (() => void) | undefined;
  /** Whether the session expects no more input. */
  #discards = false;
  #leaveDiscarding: (() => void) | undefined;
  #writers: Waiter[] = [];
  #written = 0;
  /** Value of the socket's `bytesRead` above which discarded input ends the connection. */
  #maxBytesRead = Number.POSITIVE_INFINITY;
  /** Value of `#written` when input last arrived. More has been written since: a greeting, or an answer. */
  #writtenAtInput = 0;

  constructor(
    socket: ByteStream,
    { peer, id, limits, log, slot, share, lastWords, clock = monotonicClock }: ConnectionContext,
  ) {
    this.peer = peer;
    this.id = id;
    this.log = log;
    this.share = share ?? threadShare.join(peer.address);
    this.#socket = socket;
    this.#pieces = new InputPieces(socket, this.share);
    this.#limits = limits;
    this.#slot = slot;
    // Until the session waits for input.
    slot?.work();
    this.#lastWords = lastWords;
    this.#clock = clock;
    this.#sendWatch = new SendWatch(
      limits,
      () => acceptedBytes(socket.output ?? socket, this.#written),
      (reason) => this.#fail(new ConnectionError(reason)),
      clock,
    );
    socket.on('readable', () => {
      if (this.#wakeReader !== undefined) this.#wakeReader();
      else if (this.#discards) this.#discardLater();
    });
    socket.on('end', () => this.#wakeReader?.());
    socket.on('drain', () => this.#resolveWriters());
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
    if (this.#socket.destroyed || this.#leaving) return Promise.reject(this.#closeReason());
    if (this.#socket.writableEnded) return Promise.reject(new StateError('write after end'));
    this.#countWritten(bytes);
    if (!this.#socket.write(bytes)) return this.#waitForDrain().then(() => this.#waitForTurn());
    return this.#waitForTurn();
  }

  async deliver(bytes: Uint8Array): Promise<void> {
    if (this.#socket.destroyed || this.#leaving) throw this.#closeReason();
    if (this.#socket.writableEnded) throw new StateError('write after end');
    this.#countWritten(bytes);
    const accepted = this.#waitForDrain();
    this.#socket.write(bytes, (error) => {
      if (error == null) this.#resolveWriters();
    });
    await accepted;
    await this.#waitForTurn();
  }

  pollEnd(): boolean {
    const socket = this.#socket;
    if (socket.destroyed) return true;
    // Notices an end that has arrived, and consumes nothing.
    if (!socket.readableEnded) socket.read(0);
    // A stream is not polled after its end. An empty write sends nothing, and fails after a reset.
    else if (!socket.writableEnded && socket.writableLength === 0) socket.write(NOTHING);
    return socket.readableEnded;
  }

  watchEnd(onEnd: () => void): void {
    this.#discardInput();
    if (this.#socket.readableEnded) onEnd();
    else this.#socket.once('end', onEnd);
  }

  async end(): Promise<void> {
    if (this.#socket.destroyed || this.#leaving) throw this.#closeReason();
    if (this.#socket.writableFinished) return;
    const finished = this.#waitForDrain();
    this.#socket.end((error?: Error | null) => {
      if (error == null) this.#resolveWriters();
    });
    await finished;
  }

  destroy(): void {
    if (!this.#leaving) this.#socket.destroy();
  }

  /**
   * Called when the host stops: input ends for a session that waits for its peer; one that sends may finish.
   */
  stop(): void {
    this.#stopping = true;
    if (this.#lingering) this.#socket.destroy();
    this.#wakeReader?.();
  }

  /** Called when the connection must make room for another. */
  evict(waitedMs: number): void {
    const seconds = Math.round(waitedMs / 1000);
    const error = new ConnectionError(`closed for a newcomer, it has waited for ${seconds} s`);
    // What a peer has not accepted yet would be cut by further words.
    const isReading = this.#wakeReader !== undefined && this.#socket.writableLength === 0;
    if (this.#lastWords === undefined || !isReading || this.#socket.writableEnded) {
      this.#fail(error);
      return;
    }
    this.#failure ??= error;
    this.#leaving = true;
    const cancelTimer = this.#clock.setTimer(() => this.#socket.destroy(), this.#limits.lingerMs);
    this.#socket.once('close', cancelTimer);
    this.#socket.end(this.#lastWords);
    this.#wakeReader?.();
  }

  /** Called when the grace period of the host is over. */
  cut(): void {
    this.#fail(new ConnectionError('the server is stopping'));
  }

  /**
   * Closes after the session. If our direction was ended, input is read and discarded for a while: closing over
   * unread input makes TCP reset the connection, and a reset can destroy our last bytes before the peer has
   * read them.
   */
  async finish(): Promise<void> {
    const socket = this.#socket;
    if (this.#leaving && !socket.destroyed && !socket.writableFinished) {
      await new Promise<void>((resolve) => {
        socket.once('finish', resolve);
        socket.once('close', resolve);
      });
    }
    if (!socket.destroyed && socket.writableFinished && !socket.readableEnded && !this.#stopping) {
      this.#lingering = true;
      const cancelTimer = this.#clock.setTimer(() => socket.destroy(), this.#limits.lingerMs);
      socket.on('end', () => socket.destroy());
      this.#discardInput();
      await this.closed;
      cancelTimer();
    }
    socket.destroy();
    await this.closed;
  }

  async #nextChunk(): Promise<Uint8Array | undefined> {
    const socket = this.#socket;
    for (;;) {
      if (this.#leaving) throw this.#closeReason();
      if (this.#pieces.available) {
        await this.#waitForTurn();
        return this.#pieces.take();
      }
      if (this.#failure !== undefined) throw this.#failure;
      if (socket.readableEnded || this.#stopping) return undefined;
      if (socket.destroyed) throw this.#closeReason();
      await this.#waitForInput();
    }
  }

  /** From now on, what arrives is discarded. A peer that sends too much of it is dropped. */
  #discardInput(): void {
    this.#discards = true;
    this.#maxBytesRead = this.#socket.bytesRead + LINGER_BYTES;
    this.#discard();
  }

  /** The stream stops reading when its buffer is full: in each turn of the session one buffer is discarded. */
  #discardLater(): void {
    this.#leaveDiscarding ??= this.share.whenTurn(() => {
      this.#leaveDiscarding = undefined;
      this.#discard();
    });
  }

  #discard(): void {
    const socket = this.#socket;
    for (let chunk = this.#read(); chunk !== null; chunk = this.#read()) {
      chargeStep(this.share, chunk.length);
      if (socket.bytesRead > this.#maxBytesRead) socket.destroy();
    }
  }

  #read(): Uint8Array | null {
    const { destroyed, readableEnded } = this.#socket;
    return destroyed || readableEnded ? null : this.#socket.read();
  }

  #countWritten(bytes: Uint8Array): void {
    this.#written += bytes.length;
    chargeSent(this.share, bytes.length);
  }

  /** Resolves when the session may continue, or its connection is closed. */
  #waitForTurn(): Promise<void> {
    return this.share.mayContinue() ? Promise.resolve() : this.share.turn(this.signal);
  }

  #waitForInput(): Promise<void> {
    if (this.#wakeReader !== undefined) throw new StateError('two readers on one connection');
    this.#slot?.waitForInput(this.#written > this.#writtenAtInput);
    return new Promise((resolve, reject) => {
      const settle = (error?: Error) => {
        cancelTimer();
        this.#wakeReader = undefined;
        this.#writtenAtInput = this.#written;
        this.#slot?.work();
        if (error === undefined) resolve();
        else reject(error);
      };
      const { idleTimeoutMs } = this.#limits;
      const cancelTimer = this.#clock.setTimer(
        () => settle(new ConnectionError(`nothing received for ${idleTimeoutMs} ms`)),
        idleTimeoutMs,
      );
      this.#wakeReader = () => settle();
    });
  }

  /** Waits for the socket's buffer to empty. */
  #waitForDrain(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#writers.length === 0) {
        this.#sendWatch.start();
        this.#slot?.waitForOutput();
      }
      this.#writers.push({ resolve, reject });
    });
  }

  #resolveWriters(): void {
    const waiting = this.#writers;
    this.#writers = [];
    this.#sendWatch.stop();
    if (waiting.length > 0 && this.#wakeReader === undefined) this.#slot?.work();
    for (const waiter of waiting) waiter.resolve();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
  }

  #handleClose(): void {
    this.#sendWatch.close();
    this.#leaveDiscarding?.();
    this.#slot?.release();
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

/**
 * Runs one session: closes the connection when the handler returns, drops it when the handler throws. It begins in its
 * turn, and pays for its connection: the system accepts connections for as long as they arrive, and clients that are
 * greeted at once, leave and come back would let it do nothing else.
 */
export async function runSession(
  connection: SocketConnection,
  handler: (connection: HostConnection) => Promise<void>,
): Promise<void> {
  const { log } = connection;
  try {
    const { share } = connection;
    share.charge(CONNECTION_COST_MS);
    if (!share.mayContinue()) await share.turn(connection.signal);
    await handler(connection);
    await connection.finish();
  } catch (error) {
    // A peer that disconnects or breaks its protocol is normal; any other error is a bug of this program.
    if (error instanceof KitError) log.info(error.message);
    else log.error('session failed', error);
    connection.destroy();
    await connection.finish();
  }
}
