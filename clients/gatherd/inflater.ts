// Inflates gzip members within limits.
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { ProtocolError } from '../../protocols/errors.js';

/** Limits against decompression bombs. */
export interface InflateLimits {
  /** Maximum number of bytes that one update may inflate to. */
  readonly maxInflatedBytes: number;
  /** Maximum number of inflated bytes per compressed byte, counted over the update. */
  readonly maxInflateRatio: number;
}

/** The ratio is not checked before this many inflated bytes: short updates may be very repetitive. */
const RATIO_FROM_BYTES = 16 << 20;

/** Counts the bytes of all members of one update against the limits. */
export class InflateBudget {
  readonly #limits: InflateLimits;
  #consumed = 0;
  #produced = 0;

  constructor(limits: InflateLimits) {
    this.#limits = limits;
  }

  consume(bytes: number): void {
    this.#consumed += bytes;
  }

  produce(bytes: number): void {
    this.#produced += bytes;
    const { maxInflatedBytes, maxInflateRatio } = this.#limits;
    if (this.#produced > maxInflatedBytes) throw this.#excess(`is larger than ${maxInflatedBytes} bytes`);
    if (this.#produced > RATIO_FROM_BYTES && this.#produced > this.#consumed * maxInflateRatio) {
      throw this.#excess(`expands more than ${maxInflateRatio} times`);
    }
  }

  #excess(problem: string): ProtocolError {
    const details = { protocol: 'gatherd', rule: 'GATHERD-6.6', offset: this.#consumed } as const;
    return new ProtocolError(`the compressed update ${problem}`, details);
  }
}

/**
 * Inflates the deflate data of one gzip member and finds its end (GATHERD-6.7). Inflates on demand; at most one
 * chunk of output is buffered.
 */
export class MemberInflater {
  readonly #stream: InflateRaw = createInflateRaw({ chunkSize: 64 * 1024 });
  readonly #budget: InflateBudget;
  #written = 0;
  #crc = 0;
  #size = 0;
  #ended = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(budget: InflateBudget) {
    this.#budget = budget;
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
    this.#budget.consume(chunk.length);
    this.#stream.write(chunk, () => {
      taken = true;
      this.#wake?.();
    });
    for (;;) {
      const output: Uint8Array | null = this.#stream.readableEnded ? null : this.#stream.read();
      if (output !== null) {
        this.#crc = crc32(output, this.#crc);
        this.#size += output.length;
        this.#budget.produce(output.length);
        yield output;
      } else if (this.#failure !== undefined) {
        throw this.#damaged(this.#failure);
      } else if (taken || this.#stream.readableEnded) {
        // At the end of the deflate data the stream stops and leaves the rest of the chunk. If the data ends
        // exactly with a chunk, the next one (the trailer follows) is left untouched.
        const unused = this.#written - this.#stream.bytesWritten;
        this.#ended = unused > 0 || this.#stream.readableEnded;
        this.#budget.consume(-unused);
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

  #damaged(cause: Error): ProtocolError {
    return new ProtocolError(`the compressed update is damaged: ${cause.message}`, {
      protocol: 'gatherd',
      rule: 'GATHERD-6.6',
      offset: this.#written,
      cause,
    });
  }
}
