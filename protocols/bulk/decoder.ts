// Reads a bulk reply of either interface from chunks of any size.
import { StateError } from '../errors.js';
import type { SoifDecoderOptions } from '../soif/index.js';
import type { CompressedGroups } from './compressed.js';
import { MAX_DATA_BYTES, MAX_STRING_BYTES } from './encoder.js';
import type { BulkEvent } from './events.js';
import { Groups } from './groups.js';
import { Input, type Reading } from './input.js';
import { ProposedReader } from './proposed-reader.js';
import { ShippedReader } from './shipped-reader.js';
import { DEFAULT_TOKENS, type TokenBytes, type TokenTable, tokenBytes } from './tokens.js';

export interface BulkReplyDecoderOptions {
  /** Limits and mode for the objects. The bare groups of interface 2 are always read strictly. */
  readonly soif?: SoifDecoderOptions;
  /** BP-9. Default {@link DEFAULT_TOKENS}. */
  readonly tokens?: TokenTable;
  /** Interface 1: bytes of a line before the data. Default 64 KiB. */
  readonly maxLineBytes?: number;
  /** Interface 1: lines that are not data. Default 1000. */
  readonly maxLines?: number;
  /** BP-27: bytes of one string. Default 64 KiB. */
  readonly maxStringBytes?: number;
  /** BP-27: bytes of one Data. Default 64 MiB. */
  readonly maxDataBytes?: number;
  /** Bytes of all strings and Data of one listed object. Default 64 MiB. */
  readonly maxListedBytes?: number;
  /** Extensions of one listed object. Default 65 536. */
  readonly maxExtensions?: number;
}

const DEFAULT_MAX_LINE_BYTES = 64 * 1024;
const DEFAULT_MAX_LINES = 1000;
const DEFAULT_MAX_EXTENSIONS = 65_536;

/**
 * Reads the reply to `#BULK` in pieces of any size, in the shipped format or in the interface of 1995 (BP-29).
 * Memory: one object. Objects are views of the chunks: do not write into a chunk.
 *
 * When the last event of a call is `inflate`, decompress its bytes with a raw inflate stream, pass the output
 * to {@link inflated}, and call {@link inflateEnd} at the stream's end, before the next {@link push}.
 */
export class BulkReplyDecoder {
  readonly #input = new Input();
  readonly #table: TokenBytes;
  readonly #options: BulkReplyDecoderOptions;
  readonly #groups: Groups;
  readonly #emit: (event: BulkEvent) => void;
  readonly #reading: Reading<void>;
  #reader: { readonly compressed: CompressedGroups | undefined; fail(): void } | undefined;
  #events: BulkEvent[] = [];
  #failure: unknown;
  #done = false;

  /** @throws TypeError for a table whose tokens are ambiguous */
  constructor(options: BulkReplyDecoderOptions = {}) {
    this.#options = options;
    this.#table = tokenBytes(options.tokens ?? DEFAULT_TOKENS);
    this.#emit = (event) => this.#events.push(event);
    this.#groups = new Groups(this.#emit);
    this.#reading = this.#readToEnd();
  }

  /** Whether the last event has been delivered. */
  get done(): boolean {
    return this.#done;
  }

  /**
   * Returns the events that this chunk completes. Events before an error are returned first; the next call
   * throws it, and so does every call after that.
   * @throws ProtocolError BP-* and BT-* for the reply, SOIF-* for an object (strict mode); StateError after the
   *   end
   */
  push(chunk: Uint8Array): BulkEvent[] {
    if (this.#input.final) throw new StateError('push after end');
    return this.#deliver(() => {
      if (this.#done) return;
      this.#input.append(chunk);
      this.#resume();
    });
  }

  /**
   * The peer closed: returns the last events, the last of all is `end`. @throws ProtocolError as {@link push}
   */
  end(): BulkEvent[] {
    return this.#deliver(() => {
      this.#input.final = true;
      this.#resume();
    });
  }

  /** Takes decompressed bytes of the last `inflate` event. */
  inflated(bytes: Uint8Array): BulkEvent[] {
    return this.#deliver(() => this.#openMember().inflated(bytes));
  }

  /**
   * The inflate stream has found the end of the deflate data.
   * @param rest the bytes of the last `inflate` event that it did not consume
   * @param crc CRC-32 of the whole output
   * @param size bytes of the whole output
   */
  inflateEnd(rest: Uint8Array, crc: number, size: number): BulkEvent[] {
    return this.#deliver(() => {
      this.#openMember().inflateEnd(rest, crc, size);
      this.#resume();
    });
  }

  #openMember(): CompressedGroups {
    const member = this.#reader?.compressed;
    if (member?.inflating) return member;
    throw new StateError('no compressed data is being read');
  }

  #deliver(work: () => void): BulkEvent[] {
    if (this.#failure === undefined) {
      try {
        work();
      } catch (error) {
        if (error instanceof StateError) throw error;
        this.#reader?.fail();
        this.#failure = error;
      }
    }
    const events = this.#events;
    this.#events = [];
    if (this.#failure !== undefined && events.length === 0) throw this.#failure;
    return events;
  }

  #resume(): void {
    if (this.#done) return;
    const { done = false } = this.#reading.next();
    this.#done = done;
  }

  *#readToEnd(): Reading<void> {
    const { reason } = yield* this.#readReply();
    this.#emit(
      reason === undefined ? { kind: 'end', complete: true } : { kind: 'end', complete: false, reason },
    );
  }

  *#readReply(): Reading<{ readonly reason: string | undefined }> {
    const { soif = {} } = this.#options;
    const shipped = new ShippedReader(
      this.#input,
      this.#groups,
      () => this.#isProposed(),
      {
        soif,
        maxLineBytes: this.#options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
        maxLines: this.#options.maxLines ?? DEFAULT_MAX_LINES,
      },
      this.#emit,
    );
    this.#reader = shipped;
    const end = yield* shipped.read();
    if (end !== 'proposed') return end;
    const limits = {
      soif,
      maxStringBytes: this.#options.maxStringBytes ?? MAX_STRING_BYTES,
      maxDataBytes: this.#options.maxDataBytes ?? MAX_DATA_BYTES,
      maxListedBytes: this.#options.maxListedBytes ?? MAX_DATA_BYTES,
      maxExtensions: this.#options.maxExtensions ?? DEFAULT_MAX_EXTENSIONS,
    };
    const proposed = new ProposedReader(this.#input, this.#groups, this.#table, limits, this.#emit);
    this.#reader = proposed;
    return yield* proposed.read();
  }

  /**
   * BP-29: the separator is followed by text, or in this interface by the first byte of a small number. A
   * Broker greets in the shipped format before it reads the message (BT-9), so every line is tested.
   */
  *#isProposed(): Reading<boolean> {
    const { version } = this.#table.tokens;
    for (let index = 0; index < version.length; index++) {
      if (!(yield* this.#input.fill(index + 1)) || this.#input.peek(index) !== version[index]) return false;
    }
    return (yield* this.#input.fill(version.length + 1)) && this.#input.peek(version.length) === 0;
  }
}
