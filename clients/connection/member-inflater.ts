// Inflates the deflate data of gzip members whose end is not known before.
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';

/** Counts what is inflated, to refuse too much, and names the data in errors. */
export interface InflateCounter {
  /** @param bytes compressed; negative if they are returned */
  consume(bytes: number): void;
  produce(bytes: number): void;
  /** The error to throw for data that is not deflate. */
  damaged(cause: Error): Error;
}

/**
 * Inflates the deflate data of one gzip member and finds its end (GATHERD-6.7). Inflates on demand; at most one
 * chunk of output is buffered.
 */
export class MemberInflater {
  readonly #stream: InflateRaw = createInflateRaw({ chunkSize: 64 * 1024 });
  readonly #counter: InflateCounter | undefined;
  #written = 0;
  #crc = 0;
  #size = 0;
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(counter?: InflateCounter) {
    this.#counter = counter;
    const wake = () => this.#wake?.();
    for (const event of ['readable', 'end', 'close'] as const) this.#stream.on(event, wake);
    this.#stream.on('error', (error) => {
      this.#failure = error;
      wake();
    });
  }

  /** CRC-32 of the inflated bytes so far. */
  get crc(): number {
    return this.#crc;
  }

  /** Number of the inflated bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** Whether the end of the deflate data was found. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Inflates a chunk. The generator returns the unconsumed rest, empty unless {@link ended}. */
  async *push(chunk: Uint8Array): AsyncGenerator<Uint8Array, Uint8Array, undefined> {
    let taken = false;
    this.#written += chunk.length;
    this.#counter?.consume(chunk.length);
    this.#stream.write(chunk, () => {
      taken = true;
      this.#wake?.();
    });
    for (;;) {
      const output: Uint8Array | null = this.#stream.readableEnded ? null : this.#stream.read();
      if (output !== null) {
        this.#crc = crc32(output, this.#crc);
        this.#size += output.length;
        this.#counter?.produce(output.length);
        yield output;
      } else if (this.#failure !== undefined) {
        throw this.#counter?.damaged(this.#failure) ?? this.#failure;
      } else if (taken || this.#stream.readableEnded) {
        // At the end of the deflate data the stream stops and leaves the rest of the chunk. If the data ends
        // exactly with a chunk, the next one (the trailer follows) is left untouched.
        const unused = this.#written - this.#stream.bytesWritten;
        this.#ended = unused > 0 || this.#stream.readableEnded;
        this.#counter?.consume(-unused);
        return chunk.subarray(chunk.length - unused);
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }

  close(): void {
    this.#stream.destroy();
  }
}
