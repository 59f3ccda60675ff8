import { StandardOutput } from '../standard-output.js';

const FULL_BYTES = 64 * 1024;

/** Standard output for many small pieces: they are written together, with backpressure; the last ones on disposal. */
export class GatheredOutput implements AsyncDisposable {
  readonly #output = new StandardOutput();
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  /** Takes a piece, whose bytes must not change later; false when nobody reads any more. */
  async write(piece: string | Uint8Array): Promise<boolean> {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    return this.#bytes < FULL_BYTES || (await this.#flush());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flush();
  }

  async #flush(): Promise<boolean> {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return pieces.length === 0 || this.#output.write(Buffer.concat(pieces));
  }
}
