import type { Writable } from 'node:stream';

/** Standard output with backpressure: one piece on its way at a time. A reader that went away is no error. */
export class StandardOutput {
  readonly #stream: Writable;
  #gone = false;

  constructor(stream: Writable = process.stdout) {
    this.#stream = stream;
    // Failures come back from write(); without a listener the event would end the process.
    stream.on('error', () => {});
  }

  /** Resolves when the piece is written; false when nobody reads any more (`| head`). */
  async write(piece: string | Uint8Array): Promise<boolean> {
    if (this.#gone) return false;
    const error = await new Promise<Error | null | undefined>((resolve) => {
      this.#stream.write(piece, resolve);
    });
    if (error === null || error === undefined) return true;
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
    this.#gone = true;
    return false;
  }
}
