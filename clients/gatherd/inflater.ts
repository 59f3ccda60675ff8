// Inflates gzip members within limits.
import { ProtocolError } from '../../protocols/errors.js';
import type { SectionItem } from '../../protocols/soif/index.js';
import { limit, optional, type Shape } from '../connection/arguments.js';
import type { LargeLog, ReceiveBudget } from '../connection/index.js';
import { type InflateCounter, MemberInflater } from '../connection/member-inflater.js';

/** Limits against decompression bombs. */
export interface InflateLimits {
  /** Maximum number of bytes that one compressed transfer may inflate to. Default 16 GiB. */
  readonly maxInflatedBytes?: number;
  /**
   * Maximum number of inflated bytes for one compressed byte, over the transfer. Default 250: text has 3 to 10,
   * deflate's own limit is 1032.
   */
  readonly maxInflateRatio?: number;
}

export const INFLATE_LIMITS: Shape<InflateLimits> = {
  maxInflatedBytes: optional(limit),
  maxInflateRatio: optional(limit),
};

/** The ratio is not checked before this many inflated bytes: short updates may be very repetitive. */
const RATIO_FROM_BYTES = 16 << 20;

/** Counts the bytes of all members of one update against the limits. */
export class InflateBudget implements InflateCounter {
  readonly #limits: Required<InflateLimits>;
  #consumed = 0;
  #produced = 0;

  constructor({ maxInflatedBytes = 16 * 2 ** 30, maxInflateRatio = 250 }: InflateLimits) {
    this.#limits = { maxInflatedBytes, maxInflateRatio };
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

  damaged(cause: Error): ProtocolError {
    const details = { protocol: 'gatherd', rule: 'GATHERD-6.5', offset: this.#consumed, cause } as const;
    return new ProtocolError(`the compressed update is damaged: ${cause.message}`, details);
  }

  #excess(problem: string): ProtocolError {
    const details = { protocol: 'gatherd', rule: 'GATHERD-6.5', offset: this.#consumed } as const;
    return new ProtocolError(`the compressed update ${problem}`, details);
  }
}

/** An event of a protocol whose data is a stream of objects. */
interface StreamEvent {
  readonly kind: string;
  readonly item?: SectionItem;
  /** Of the kind `inflate`: compressed data. */
  readonly bytes?: Uint8Array;
}

/** A decoder of a protocol whose data may come in gzip members, as its `inflate` events say. */
interface InflatingDecoder<Event> {
  push(bytes: Uint8Array): readonly Event[];
  inflated(bytes: Uint8Array): readonly Event[];
  inflateEnd(rest: Uint8Array, crc: number, size: number): readonly Event[];
}

export interface TransferReaderOptions extends InflateLimits {
  /** The large objects of the transfer. */
  readonly large: LargeLog;
  /** Counts the inflated bytes. */
  readonly budget?: ReceiveBudget | undefined;
  /** Returns the error to throw for one of the inflater, which cites the rules of a Gatherer's update. */
  readonly asError?: (error: unknown) => unknown;
}

/** The events of one transfer: inflates its compressed data and keeps its large objects. */
export class TransferReader<Event extends StreamEvent> implements AsyncDisposable {
  readonly #decoder: InflatingDecoder<Event>;
  readonly #options: TransferReaderOptions;
  readonly #budget: InflateBudget;
  #inflater: MemberInflater | undefined;

  constructor(decoder: InflatingDecoder<Event>, options: TransferReaderOptions) {
    this.#decoder = decoder;
    this.#options = options;
    this.#budget = new InflateBudget(options);
  }

  /**
   * Yields the events of one call of the decoder, together; in place of `inflate` the events of the inflated
   * data, and after each those of bytes that the decoder needs again.
   * @throws ProtocolError; RefusedError; the signal's reason
   */
  async *read(
    first: readonly Event[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly Event[], void, undefined> {
    let events = first;
    for (;;) {
      const last = events.at(-1);
      const compressed = last?.kind === 'inflate' ? last.bytes : undefined;
      const plain = compressed === undefined ? events : events.slice(0, -1);
      yield* this.#follow(plain, (bytes) => this.#decoder.push(bytes));
      if (compressed === undefined) return;
      this.#inflater ??= new MemberInflater(this.#budget);
      const inflater = this.#inflater;
      const rest = yield* this.#decodeOutputs(inflater.push(compressed), signal);
      if (!inflater.ended) return;
      this.stop();
      events = this.#decoder.inflateEnd(rest, inflater.crc, inflater.size);
    }
  }

  /** Stops inflating. The large objects stay until they are disposed of. */
  stop(): void {
    this.#inflater?.close();
    this.#inflater = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#options.large.close();
  }

  async *#decodeOutputs(
    outputs: AsyncGenerator<Uint8Array, Uint8Array, undefined>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<readonly Event[], Uint8Array, undefined> {
    const { budget, asError = (error) => error } = this.#options;
    for (;;) {
      const output = await outputs.next().catch((error: unknown) => {
        throw asError(error);
      });
      if (output.done === true) return output.value;
      signal?.throwIfAborted();
      budget?.count(output.value.length);
      const feed = (bytes: Uint8Array) => this.#decoder.inflated(bytes);
      yield* this.#follow(feed(output.value), feed);
    }
  }

  #follow(events: readonly Event[], feed: (bytes: Uint8Array) => readonly Event[]) {
    return this.#options.large.follow(events, { itemOf: ({ item }) => item, feed });
  }
}
