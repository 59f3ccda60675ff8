// The input of the readers of a bulk reply: bytes that arrive in chunks, and generators that wait for them.
import { isSpace, LF } from '../ascii.js';
import { ProtocolError } from '../errors.js';

/**
 * A reader as a generator. It yields when it needs more bytes, and is resumed when more have arrived or the
 * input has ended. So a reader follows the grammar and ignores chunk boundaries.
 */
export type Reading<T> = Generator<undefined, T, undefined>;

/** The reply ended early. Caught by the reader: an incomplete transfer is an event, not an error (BT-19). */
export class TruncatedError extends Error {
  readonly code = 'ERR_BULK_TRUNCATED';
}

const NOTHING = new Uint8Array(0);
const MIN_CAPACITY = 512;

/**
 * Bytes that have arrived and are not read yet. Bytes that arrive one by one are copied a bounded number of
 * times.
 */
export class Input {
  /** No more bytes will arrive. */
  final = false;
  #data: Uint8Array = NOTHING;
  #position = 0;
  #end = 0;
  /** Offset in the reply of the first byte of #data. */
  #base = 0;
  /** Whether #data belongs to this object; otherwise it is a chunk of the caller, which must not be changed. */
  #owned = false;

  /** Bytes from the start of the reply to the next byte. */
  get offset(): number {
    return this.#base + this.#position;
  }

  get available(): number {
    return this.#end - this.#position;
  }

  append(chunk: Uint8Array): void {
    const kept = this.available;
    if (kept === 0) {
      this.#replace(chunk, chunk.length, false);
      return;
    }
    if (!this.#owned || this.#end + chunk.length > this.#data.length) {
      const grown = new Uint8Array(Math.max(2 * (kept + chunk.length), MIN_CAPACITY));
      grown.set(this.#data.subarray(this.#position, this.#end));
      this.#replace(grown, kept, true);
    }
    this.#data.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  #replace(data: Uint8Array, fill: number, owned: boolean): void {
    this.#base = this.offset;
    this.#data = data;
    this.#position = 0;
    this.#end = fill;
    this.#owned = owned;
  }

  /** An unread byte, counted from the next one. */
  peek(index: number): number | undefined {
    return index < this.available ? this.#data[this.#position + index] : undefined;
  }

  /** Takes all unread bytes: a view that does not change later. */
  takeAll(): Uint8Array {
    const all = this.#data.subarray(this.#position, this.#end);
    this.#base += this.#end;
    this.#data = NOTHING;
    this.#position = 0;
    this.#end = 0;
    this.#owned = false;
    return all;
  }

  /** Puts back the end of what {@link takeAll} returned last. */
  giveBack(rest: Uint8Array): void {
    this.#base -= rest.length;
    this.#data = rest;
    this.#position = 0;
    this.#end = rest.length;
    this.#owned = false;
  }

  /** Bytes that were taken will be appended again. */
  rewind(bytes: number): void {
    this.#base -= bytes;
  }

  /** Takes a copy of the next bytes, which must be available. */
  take(length: number): Uint8Array {
    // Not `slice`: that of a Buffer copies nothing.
    const bytes = new Uint8Array(this.#data.subarray(this.#position, this.#position + length));
    this.#position += length;
    return bytes;
  }

  skip(length: number): void {
    this.#position += length;
  }

  /** Skips the available blanks and line ends. */
  skipSpace(): void {
    while (this.available > 0 && isSpace(this.#data[this.#position]!)) this.#position++;
  }

  /** Waits for `length` bytes; false when the input ends first. */
  *fill(length: number): Reading<boolean> {
    while (this.available < length) {
      if (this.final) return false;
      yield;
    }
    return true;
  }

  /** Waits for `length` bytes. @throws TruncatedError */
  *need(length: number, what: string): Reading<void> {
    if (!(yield* this.fill(length))) throw new TruncatedError(`the reply ends inside ${what}`);
  }

  /**
   * Takes a line without its LF; reads each byte once. With `last`, the last line of the input may lack its LF.
   * @throws ProtocolError `rule` when it is longer than `limit` bytes, LF included; TruncatedError
   */
  *readLine(limit: number, rule: string, what: string, last: boolean): Reading<Uint8Array> {
    let seen = 0;
    for (;;) {
      const found = this.#data.subarray(0, this.#end).indexOf(LF, this.#position + seen);
      const length = found < 0 ? this.available : found - this.#position;
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
