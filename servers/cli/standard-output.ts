import type { Writable } from 'node:stream';

export interface StandardOutputOptions {
  /** Default: standard output. */
  readonly stream?: Writable | undefined;
  /** Bytes that are collected before a write; the rest is written on disposal. Default 0: every piece is written immediately. */
  readonly bufferBytes?: number;
}

/** A buffer so large that the cost of the write calls is negligible. */
export const OUTPUT_BUFFER_BYTES = 64 * 1024;

/**
 * Standard output with backpressure: one write in flight at a time. A reader that closes the pipe (`| head`) is not an error:
 * `write` then returns false.
 */
export class StandardOutput implements AsyncDisposable {
  readonly #stream: Writable;
  readonly #bufferBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #closed = false;

  constructor({ stream = process.stdout, bufferBytes = 0 }: StandardOutputOptions = {}) {
    this.#stream = stream;
    this.#bufferBytes = bufferBytes;
    // write() returns failures; without a listener the event would end the process.
    stream.on('error', () => {});
  }

  /**
   * Writes a piece; its bytes must not change later. Resolves to true when it is written or in the buffer, to false when
   * the reader has closed the pipe.
   */
  async write(piece: string | Uint8Array): Promise<boolean> {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    return this.#bytes < this.#bufferBytes ? !this.#closed : await this.#flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flush();
  }

  async #flush(): Promise<boolean> {
    const [first, ...more] = this.#pieces;
    const bytes = this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    if (this.#closed || first === undefined) return !this.#closed;
    const piece = more.length === 0 ? first : Buffer.concat([first, ...more], bytes);
    const error = await new Promise<Error | null | undefined>((resolve) => {
      this.#stream.write(piece, resolve);
    });
    if (error === null || error === undefined) return true;
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
    this.#closed = true;
    return false;
  }
}
