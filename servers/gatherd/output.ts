// Collects small pieces of output into larger writes.
import type { HostConnection } from '../host/connection.js';

/** Smaller pieces are collected, because each write would be a separate packet and wake the peer. */
const SMALL_BYTES = 16 * 1024;

/** Longest time for which a small piece is held back. */
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

  /**
   * Resolves when the memory of the piece may be reused. A small piece has been copied and may be sent later.
   */
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
    // If the connection has failed, the next write reports it.
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
