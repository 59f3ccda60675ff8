import type { HostConnection } from '../host/index.js';

/** Smaller pieces are collected: each write would be a packet of its own and wake the peer. */
const SMALL_BYTES = 16 * 1024;

/** Milliseconds that a small piece is held at most. */
const MAX_DELAY_MS = 5;

/** Sends the pieces of a session in order: small pieces together, large ones as they are. */
export class Output {
  readonly #connection: HostConnection;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: HostConnection) {
    this.#connection = connection;
  }

  /** Bytes passed to {@link put} so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when the memory of the piece may be reused; a small piece may still be held then. */
  async put(piece: Uint8Array): Promise<void> {
    this.#bytes += piece.length;
    if (piece.length >= SMALL_BYTES) {
      await this.flush();
      await this.#connection.deliver(piece);
      return;
    }
    this.#pending.push(Uint8Array.from(piece));
    this.#pendingBytes += piece.length;
    if (this.#pendingBytes >= SMALL_BYTES) await this.flush();
    // If the connection is gone, the next piece reports it.
    else this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), MAX_DELAY_MS);
  }

  /** Sends the collected pieces. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.length === 0) return;
    const bytes = Buffer.concat(this.#pending, this.#pendingBytes);
    this.#pending = [];
    this.#pendingBytes = 0;
    await this.#connection.write(bytes);
  }
}
