// A socket for a server that reads by itself, such as Node's HTTP server: its input comes in pieces, by turns.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { SessionShare } from './fair-share.js';
import { chargeSent, InputPieces, PIECE_BYTES } from './input-pieces.js';

/** One of the chunks of `Writable._writev`. */
interface WrittenChunk {
  readonly chunk: Buffer;
  readonly encoding: BufferEncoding;
}

const NOTHING = new Uint8Array(0);

/** Those of accepted sockets. */
const fairSockets = new WeakMap<Socket, FairSocket>();

/**
 * An accepted socket as its protocol's parser sees it. Node's HTTP parser reads a connection to its end,
 * whatever arrives: pipelined requests, empty lines, bodies of requests that are answered. Here each piece of
 * input is charged to the session and waits for its turn, and meanwhile nothing is read from the system.
 */
export class FairSocket extends Duplex {
  /** The socket below. */
  readonly accepted: Socket;
  readonly share: SessionShare;
  readonly #pieces: InputPieces;
  #wanted = false;
  #leaveTurn: (() => void) | undefined;
  /** Requests that wait for their turn. */
  #waiting = 0;
  #endScheduled = false;
  /** The value of `bytesRead` above which the connection is dropped. */
  #maxBytesRead = Infinity;

  /** @param first bytes that were read from the socket already */
  constructor(accepted: Socket, share: SessionShare, first?: Uint8Array) {
    super({
      allowHalfOpen: true,
      decodeStrings: false,
      // One piece is read ahead.
      readableHighWaterMark: PIECE_BYTES,
      writableHighWaterMark: accepted.writableHighWaterMark,
    });
    this.accepted = accepted;
    this.share = share;
    this.#pieces = new InputPieces(accepted, share, first);
    fairSockets.set(accepted, this);
    accepted.on('readable', this.#deliver);
    accepted.on('end', this.#deliver);
    accepted.on('timeout', () => this.emit('timeout'));
    accepted.on('error', (error) => this.destroy(error));
    accepted.on('close', () => this.destroy());
  }

  /** Whether input has arrived that its parser has not got yet. */
  get holdsInput(): boolean {
    return this.#pieces.available || this.readableLength > 0;
  }

  get remoteAddress(): string | undefined {
    return this.accepted.remoteAddress;
  }

  get remotePort(): number | undefined {
    return this.accepted.remotePort;
  }

  get remoteFamily(): string | undefined {
    return this.accepted.remoteFamily;
  }

  get localAddress(): string | undefined {
    return this.accepted.localAddress;
  }

  get localPort(): number | undefined {
    return this.accepted.localPort;
  }

  /** Whether it is TLS. */
  get encrypted(): boolean {
    return 'encrypted' in this.accepted;
  }

  /** Bytes that were received from the system. */
  get bytesRead(): number {
    return this.accepted.bytesRead;
  }

  /** Bytes that were passed to the system, or wait for it. */
  get bytesWritten(): number {
    return this.accepted.bytesWritten;
  }

  /**
   * Waits for a turn of a request that has arrived. Meanwhile the end of the peer's direction is held back,
   * because Node gives no reply after it: the first HTTP clients end their direction with the request.
   */
  async turn(share: SessionShare, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    await share.turn(signal);
    this.#waiting -= 1;
    this.#deliver();
  }

  /** Whether the peer has ended its direction, as far as everything before is read. */
  get hasPeerEnded(): boolean {
    return this.accepted.readableEnded;
  }

  /** Calls back once the peer has ended its direction. The result ends the watching. */
  watchEnd(onEnd: () => void): () => void {
    if (this.accepted.readableEnded) onEnd();
    else this.accepted.once('end', onEnd);
    return () => void this.accepted.off('end', onEnd);
  }

  /** Notices a reset after the end of the peer's direction: then the connection closes. */
  pollReset(): void {
    const { accepted } = this;
    // Nothing is read after the end. An empty write sends nothing, and fails after a reset.
    if (!accepted.destroyed && !accepted.writableEnded && accepted.writableLength === 0)
      accepted.write(NOTHING);
  }

  /** Drops the connection when more than this many further bytes arrive. Default: Infinity, any number. */
  limitInput(bytes: number): void {
    this.#maxBytesRead = this.bytesRead + bytes;
  }

  /** As `net.Socket.setTimeout`: emits `timeout` when nothing was received or sent for so long. */
  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    this.accepted.setTimeout(milliseconds);
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    return this;
  }

  /** As `net.Socket.destroySoon`: closes when everything is sent. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  override _read(): void {
    this.#wanted = true;
    this.#deliver();
  }

  override _write(
    chunk: Buffer | string,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    chargeSent(this.share, chunk.length);
    this.accepted.write(chunk, encoding, done);
  }

  override _writev(chunks: readonly WrittenChunk[], done: (error?: Error | null) => void): void {
    const { accepted } = this;
    accepted.cork();
    for (const [index, { chunk, encoding }] of chunks.entries()) {
      chargeSent(this.share, chunk.length);
      accepted.write(chunk, encoding, index === chunks.length - 1 ? done : undefined);
    }
    accepted.uncork();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.accepted.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#leaveTurn?.();
    // Like a socket of Node, it is closed when the system has closed the connection.
    if (this.accepted.closed) done(error);
    else this.accepted.destroy().once('close', () => done(error));
  }

  readonly #deliver = (): void => {
    if (!this.#wanted || this.#leaveTurn !== undefined || this.destroyed) return;
    if (!this.#pieces.available) {
      if (this.accepted.readableEnded) this.#pushEnd();
      return;
    }
    if (this.bytesRead > this.#maxBytesRead) this.destroy();
    else if (this.share.mayContinue()) this.#push(this.#pieces.take() ?? null);
    else this.#leaveTurn = this.share.whenTurn(this.#onTurn);
  };

  readonly #onTurn = (): void => {
    this.#leaveTurn = undefined;
    this.#push(this.#pieces.take() ?? null);
  };

  /** A reply that waits for promises only is sent before the end is seen. */
  #pushEnd(): void {
    if (this.#endScheduled || this.#waiting > 0) return;
    this.#endScheduled = true;
    setImmediate(() => {
      this.#endScheduled = false;
      if (this.#waiting === 0 && this.#wanted) this.#push(null);
    });
  }

  /** The parser's step. */
  #push(piece: Uint8Array | null): void {
    this.#wanted = false;
    this.push(piece);
  }
}

/** The socket below a {@link FairSocket}; any other socket is its own. */
export function acceptedSocket(socket: Socket | FairSocket): Socket {
  return socket instanceof FairSocket ? socket.accepted : socket;
}

/** Whether input of an accepted socket waits for its turn. */
export function holdsInput(accepted: Socket): boolean {
  return fairSockets.get(accepted)?.holdsInput === true;
}
