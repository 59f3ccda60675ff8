// Joins two one-way streams to one two-way stream.
import { Duplex, type Readable, type Writable } from 'node:stream';
import type { ByteStream } from './connection.js';

/** Two one-way streams, as standard input and output are, as one two-way stream. */
export class PipePair extends Duplex implements ByteStream {
  bytesRead = 0;
  readonly #input: Readable;
  readonly output: Writable;

  constructor(input: Readable, output: Writable, options: { readonly highWaterMark: number }) {
    super({ allowHalfOpen: true, ...options });
    this.#input = input;
    this.output = output;
    input.on('data', (chunk: Uint8Array) => {
      this.bytesRead += chunk.length;
      if (!this.push(chunk)) input.pause();
    });
    input.pause();
    input.on('end', () => this.push(null));
    for (const stream of [input, output]) stream.on('error', (error) => this.destroy(error));
  }

  override _read(): void {
    this.#input.resume();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.output.write(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.output.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#input.destroy();
    this.output.destroy();
    done(error);
  }
}
