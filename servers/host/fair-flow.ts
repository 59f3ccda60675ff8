// The input of a socket that is driven by its events: each chunk is charged, and waits for its turn.
import type { Duplex } from 'node:stream';
import type { SessionShare } from './fair-share.js';
import { chargeStep } from './input-pieces.js';

/**
 * Passes the chunks of a flowing socket to its session. Each is charged. While others have their turn the
 * socket is paused, and one chunk is held. The session pauses the socket by {@link pause} only.
 */
export class FairFlow {
  readonly #socket: Duplex;
  readonly #share: SessionShare;
  readonly #onChunk: (chunk: Buffer) => void;
  readonly #onEnd: () => void;
  #held: Buffer | undefined;
  #paused = false;
  #closed = false;
  #leaveTurn: (() => void) | undefined;

  /**
   * @param onChunk does the work of the chunk before it returns
   * @param onEnd is called when the peer has ended its direction and all chunks are passed on
   */
  constructor(socket: Duplex, share: SessionShare, onChunk: (chunk: Buffer) => void, onEnd: () => void) {
    this.#socket = socket;
    this.#share = share;
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
    socket.on('data', this.#onData);
    socket.on('end', this.#onSocketEnd);
  }

  /** Stops reading, until {@link resume}. */
  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#held === undefined) this.#socket.resume();
    else this.#waitForTurn();
  }

  /** Ends the reading and pauses the socket, for its next reader. */
  close(): void {
    this.#closed = true;
    this.#leaveTurn?.();
    this.#socket.off('data', this.#onData);
    this.#socket.off('end', this.#onSocketEnd);
    this.pause();
  }

  #waitForTurn(): void {
    this.#leaveTurn ??= this.#share.whenTurn(this.#onTurn);
  }

  readonly #onData = (chunk: Buffer): void => {
    chargeStep(this.#share, chunk.length);
    if (this.#share.mayContinue()) {
      this.#onChunk(chunk);
      return;
    }
    this.#held = chunk;
    this.#socket.pause();
    this.#waitForTurn();
  };

  readonly #onTurn = (): void => {
    this.#leaveTurn = undefined;
    const chunk = this.#held;
    if (chunk === undefined || this.#paused || this.#socket.destroyed) return;
    this.#held = undefined;
    this.#onChunk(chunk);
    // A socket emits its end while it is paused, too.
    if (this.#socket.readableEnded && !this.#closed) this.#onEnd();
    else if (!this.#paused) this.#socket.resume();
  };

  readonly #onSocketEnd = (): void => {
    if (this.#held === undefined) this.#onEnd();
  };
}
