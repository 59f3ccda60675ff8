import { ProtocolError } from '../errors.js';
import { GzipHeaderReader, GzipTrailerReader } from '../gatherd/index.js';
import { SectionDecoder, type SoifDecoderOptions } from '../soif/index.js';
import type { BulkEvent } from './events.js';
import type { Groups } from './groups.js';
import { bulkError, type Input, type Reading, TruncatedError } from './input.js';

/**
 * Reads one gzip member that contains groups (BP-16; BT-13). It finds the start of the deflate data and checks
 * the result; the caller of the decoder inflates. The deflate data determines where the member ends, not bytes
 * that look like a marker.
 */
export class CompressedGroups {
  readonly #input: Input;
  readonly #groups: Groups;
  readonly #decoder: SectionDecoder;
  readonly #emit: (event: BulkEvent) => void;
  #inflating = false;
  #result: { readonly crc: number; readonly size: number } | undefined;

  constructor(input: Input, groups: Groups, soif: SoifDecoderOptions, emit: (event: BulkEvent) => void) {
    this.#input = input;
    this.#groups = groups;
    this.#decoder = new SectionDecoder(soif);
    this.#emit = emit;
  }

  /** Whether deflate data has been delivered, so that its result may arrive. */
  get inflating(): boolean {
    return this.#inflating;
  }

  /** Takes decompressed bytes. */
  inflated(bytes: Uint8Array): void {
    for (const item of this.#decoder.push(bytes)) this.#groups.take(item, 0);
    if (this.#decoder.failed) this.#decoder.push(new Uint8Array(0));
  }

  /** The deflate data has ended; `rest` of the last chunk follows it. */
  inflateEnd(rest: Uint8Array, crc: number, size: number): void {
    this.#input.giveBack(rest);
    this.#inflating = false;
    this.#result = { crc, size };
  }

  /** Reads the member. @throws ProtocolError BP-16 when it is damaged; TruncatedError when it is incomplete */
  *read(): Reading<void> {
    const header = new GzipHeaderReader();
    while (!header.done) yield* this.#readPart('the gzip header', (chunk) => header.push(chunk));
    this.#inflating = true;
    while (this.#result === undefined) {
      if (this.#input.available > 0) this.#emit({ kind: 'inflate', bytes: this.#input.takeAll() });
      else if (this.#input.final) throw new TruncatedError('the reply ends inside compressed data');
      yield;
    }
    const { crc, size } = this.#result;
    const trailer = new GzipTrailerReader();
    while (!trailer.done) yield* this.#readPart('the gzip trailer', (chunk) => trailer.push(chunk));
    try {
      trailer.check(crc, size);
    } catch (error) {
      throw this.#asDamage(error);
    }
    for (const item of this.#decoder.end()) this.#groups.take(item, 0);
  }

  *#readPart(what: string, read: (chunk: Uint8Array) => Uint8Array): Reading<void> {
    yield* this.#input.need(1, what);
    try {
      this.#input.giveBack(read(this.#input.takeAll()));
    } catch (error) {
      throw this.#asDamage(error);
    }
  }

  #asDamage(cause: unknown): unknown {
    if (!(cause instanceof ProtocolError)) return cause;
    return bulkError(
      'BP-16',
      this.#input.offset,
      `the compressed groups are damaged: ${cause.message}`,
      cause,
    );
  }
}
