import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib';
import { ProtocolError } from '../../protocols/errors.js';

/** Limits against data that only pretends to be an update. */
export interface InflateLimits {
  /** Most bytes one update may come to. */
  readonly maxInflatedBytes: number;
  /** Most bytes out for one byte in, counted over the update. */
  readonly maxInflateRatio: number;
}

/** The ratio is not looked at before this many bytes have come out: short updates may be very repetitive. */
const RATIO_FROM_BYTES = 16 << 20;

/** What the members of one update came to so far. */
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
 * Inflates the deflate data of one gzip member and finds its end (GATHERD-6.7). Output is made when it is asked
 * for; at most one chunk of it waits.
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

  /** CRC-32 and number of the bytes given out. */
  get crc(): number {
    return this.#crc;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether the end of the deflate data was found. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Inflates a chunk. The generator returns what was not consumed, empty unless {@link ended}. */
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
        // Where the deflate data ends, the stream stops by itself and leaves the rest of the chunk. Data that
        // ends just with a chunk shows it when the next one (there is a trailer) is not touched at all.
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
