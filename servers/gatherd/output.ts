import type { HostConnection } from '../host/index.js';

/** Pieces below this wait for company: each write of its own is a packet, and wakes the peer. */
const SMALL_BYTES = 16 * 1024;

/** Milliseconds that a small piece waits for company at most. */
const WAIT_MS = 5;

/** What a session sends, in order: small pieces go together, large ones as they are. */
export class Output {
  readonly #connection: HostConnection;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: HostConnection) {
    this.#connection = connection;
  }

  /** Bytes handed over so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when the piece's memory may be used again; a small piece may not have been sent by then. */
  async put(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    if (piece.length >= SMALL_BYTES) {
      await this.flush();
      await this.#connection.deliver(piece);
      return;
    }
    this.#waiting.push(Uint8Array.from(piece));
    this.#waitingBytes += piece.length;
    if (this.#waitingBytes >= SMALL_BYTES) await this.flush();
    // Whether the connection is gone, the next piece will tell.
    else this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), WAIT_MS);
  }

  /** Sends what waits. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    const bytes = Buffer.concat(this.#waiting, this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#connection.write(bytes);
  }
}
