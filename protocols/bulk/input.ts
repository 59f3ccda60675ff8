import { isSpace, LF } from '../ascii.js';
import { ProtocolError } from '../errors.js';

/**
 * A reader as a generator: it yields when it needs more bytes than have come, and is resumed when there are more, or
 * when there will be none. So each production is written as the grammar has it, whatever the chunks.
 */
export type Reading<T> = Generator<undefined, T, undefined>;

/** The reply ended early. Caught by the decoder: an incomplete transfer is an event, not an error (BT-19). */
export class TruncatedError extends Error {
  readonly code = 'ERR_BULK_TRUNCATED';
}

const NOTHING = new Uint8Array(0);
const SMALLEST_CAPACITY = 512;

/** What has come and is not read yet. Bytes that arrive one by one are copied a bounded number of times. */
export class Input {
  /** No more bytes will come. */
  final = false;
  #data: Uint8Array = NOTHING;
  #at = 0;
  #fill = 0;
  /** Offset in the reply of the first byte of #data. */
  #base = 0;
  /** Whether #data is ours to write into; else it is a chunk of the caller's. */
  #owned = false;

  /** Bytes from the start of the reply to the next byte. */
  get offset(): number {
    return this.#base + this.#at;
  }

  get available(): number {
    return this.#fill - this.#at;
  }

  append(chunk: Uint8Array): void {
    const kept = this.available;
    if (kept === 0) {
      this.#replace(chunk, chunk.length, false);
      return;
    }
    if (!this.#owned || this.#fill + chunk.length > this.#data.length) {
      const grown = new Uint8Array(Math.max(2 * (kept + chunk.length), SMALLEST_CAPACITY));
      grown.set(this.#data.subarray(this.#at, this.#fill));
      this.#replace(grown, kept, true);
    }
    this.#data.set(chunk, this.#fill);
    this.#fill += chunk.length;
  }

  #replace(data: Uint8Array, fill: number, owned: boolean): void {
    this.#base = this.offset;
    this.#data = data;
    this.#at = 0;
    this.#fill = fill;
    this.#owned = owned;
  }

  /** A byte that is not read yet. */
  peek(index: number): number | undefined {
    return index < this.available ? this.#data[this.#at + index] : undefined;
  }

  /** Everything there is: a view, which stays as it is. */
  takeAll(): Uint8Array {
    const all = this.#data.subarray(this.#at, this.#fill);
    this.#base += this.#fill;
    this.#data = NOTHING;
    this.#at = 0;
    this.#fill = 0;
    this.#owned = false;
    return all;
  }

  /** Gives back the end of what was just taken, which was all there was. */
  giveBack(rest: Uint8Array): void {
    this.#base -= rest.length;
    this.#data = rest;
    this.#at = 0;
    this.#fill = rest.length;
    this.#owned = false;
  }

  /** Copies the next bytes, which are there. */
  take(length: number): Uint8Array {
    // Not `slice`: that of a Buffer copies nothing.
    const bytes = new Uint8Array(this.#data.subarray(this.#at, this.#at + length));
    this.#at += length;
    return bytes;
  }

  skip(length: number): void {
    this.#at += length;
  }

  /** Skips blanks and line ends that are there. */
  skipSpace(): void {
    while (this.available > 0 && isSpace(this.#data[this.#at]!)) this.#at++;
  }

  /** Waits for so many bytes; false when they will not come. */
  *fill(length: number): Reading<boolean> {
    while (this.available < length) {
      if (this.final) return false;
      yield;
    }
    return true;
  }

  /** Waits for so many bytes. @throws TruncatedError */
  *need(length: number, what: string): Reading<void> {
    if (!(yield* this.fill(length))) throw new TruncatedError(`the reply ends inside ${what}`);
  }

  /**
   * A line without its LF; each byte is looked at once. At the end of the input it may lack its LF when `last` allows.
   * @throws ProtocolError `rule` when it is longer than `limit` bytes, LF included; TruncatedError
   */
  *line(limit: number, rule: string, what: string, last: boolean): Reading<Uint8Array> {
    let seen = 0;
    for (;;) {
      const found = this.#data.subarray(0, this.#fill).indexOf(LF, this.#at + seen);
      const length = found < 0 ? this.available : found - this.#at;
      if (length >= limit) throw bulkError(rule, this.offset, `${what} is longer than ${limit} bytes`);
      if (found >= 0) {
        const bytes = this.take(length);
        this.skip(1);
        return bytes;
      }
      if (this.final) {
        if (last) return this.take(length);
        throw new TruncatedError(`the reply ends inside ${what}`);
      }
      seen = length;
      yield;
    }
  }
}

export function bulkError(rule: string, offset: number, message: string, cause?: unknown): ProtocolError {
  return new ProtocolError(message, { protocol: 'bulk', rule, offset, cause });
}
