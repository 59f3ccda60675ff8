import type { Writable } from 'node:stream';

export interface StandardOutputOptions {
  /** Default: standard output. */
  readonly stream?: Writable | undefined;
  /** Bytes that are collected before a write; the rest is written on disposal. Default 0: every piece is written as it is. */
  readonly bufferBytes?: number;
}

/** Enough for the cost of a write to disappear behind that of the data. */
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
    // Failures come back from write(); without a listener the event would end the process.
    stream.on('error', () => {});
  }

  /**
   * Takes a piece, whose bytes must not change later. Resolves when it is written, or kept in the buffer; false when the
   * reader has closed the pipe.
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
