// Validates a SOIF stream exactly as the original `cksoif` does.
import { AT, COLON, HT, isSpace } from '../../protocols/ascii.js';
import type { SoifCounts } from './check.js';

/** The original validator's verdict on one attempt (SOIF-4.9). */
export interface OriginalAttempt {
  /** Counted from 1. */
  readonly number: number;
  readonly valid: boolean;
}

/** The totals of {@link checkAsOriginal}. */
export interface OriginalCounts extends Pick<SoifCounts, 'valid' | 'attempts'> {
  /** Whether the stream has the groups of an update stream, which the original reads as objects (SOIF-8.6). */
  readonly wrapped: boolean;
}

/** Longest template type, URL, name or size: its stdio buffer less two (SOIF-4.4). */
const MAX_TOKEN_BYTES = 8190;
/** Characters of a size that are kept: its number is shorter. */
const MAX_SIZE_BYTES = 64;
/** Characters of a type or URL that are kept, to recognize the wrappers of an update stream. */
const MAX_KEPT_BYTES = 8;
const LARGEST_INT = 2 ** 31 - 1;

const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The reader's position in an object (SOIF-4.1 to 4.3). */
type State = 'search' | 'type' | 'braces' | 'url' | 'gap' | 'name' | 'size' | 'colon' | 'tab' | 'value';

/**
 * Validates a stream as the C library does, the column "C library" of SOIF-4.4, and counts like `cksoif`
 * (SOIF-4.9): after a failure the next attempt searches for `@` from the byte where the reader stopped
 * (SOIF-4.5). An object that the end of the input cuts off is not an attempt, unless only its closing brace is
 * missing: then it is valid. A negative or impossible size, which crashed the original, is an invalid attempt
 * here. Memory does not depend on the input.
 */
export async function* checkAsOriginal(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<OriginalAttempt, OriginalCounts, undefined> {
  const reader = new OriginalReader();
  let attempts = 0;
  let valid = 0;
  const count = (verdict: boolean): OriginalAttempt => {
    if (verdict) valid++;
    return { number: ++attempts, valid: verdict };
  };
  for await (const chunk of chunks) {
    for (const verdict of reader.push(chunk)) yield count(verdict);
  }
  if (reader.endsObject) yield count(true);
  return { valid, attempts, wrapped: reader.wrapped };
}

/**
 * The states of the C library's reader without its data: they show only whether an attempt ends with an object.
 */
class OriginalReader {
  wrapped = false;
  #state: State = 'search';
  /** Length of the current token, and its first characters. */
  #length = 0;
  #kept = '';
  #type = '';
  /** Bytes of the value that are not read yet. */
  #left = 0;

  /**
   * Whether the end of the input would complete an object here: between its attributes (SOIF-4.4, no closing
   * brace).
   */
  get endsObject(): boolean {
    return this.#state === 'gap' || (this.#state === 'value' && this.#left === 0);
  }

  /** Yields one verdict for each attempt that ends in these bytes. */
  *push(chunk: Uint8Array): Generator<boolean, void, undefined> {
    let position = 0;
    while (position < chunk.length) {
      if (this.#state === 'search') {
        position = chunk.indexOf(AT, position);
        if (position < 0) return;
        position++;
        this.#enter('type');
      } else if (this.#state === 'value') {
        const count = Math.min(this.#left, chunk.length - position);
        position += count;
        this.#left -= count;
        if (this.#left === 0) this.#state = 'gap';
      } else {
        const verdict = this.#take(chunk[position] ?? 0);
        position++;
        if (verdict === undefined) continue;
        this.#state = 'search';
        yield verdict;
      }
    }
  }

  /** Reads one byte outside of values; returns a verdict if the attempt ends with it. */
  #take(byte: number): boolean | undefined {
    switch (this.#state) {
      case 'type':
      case 'url':
        if (!isSpace(byte)) return this.#append(byte, MAX_KEPT_BYTES);
        this.#endToken();
        return undefined;
      case 'braces':
        if (byte === OPEN || isSpace(byte)) return undefined;
        this.#enter('url');
        return this.#append(byte, MAX_KEPT_BYTES);
      case 'gap':
        if (byte === CLOSE) return true;
        if (isSpace(byte)) return undefined;
        this.#enter('name');
        return this.#take(byte);
      case 'name':
        if (byte !== OPEN && byte !== CLOSE) return this.#append(byte, 0);
        this.#enter('size');
        return undefined;
      case 'size':
        if (byte !== OPEN && byte !== CLOSE) return this.#append(byte, MAX_SIZE_BYTES);
        this.#left = sizeOf(this.#kept);
        this.#state = 'colon';
        return undefined;
      case 'colon':
        this.#state = 'tab';
        return byte === COLON ? undefined : false;
      default:
        this.#state = this.#left === 0 ? 'gap' : 'value';
        return byte === HT && this.#left >= 0 && this.#left <= LARGEST_INT ? undefined : false;
    }
  }

  #enter(state: State): void {
    this.#state = state;
    this.#length = 0;
    this.#kept = '';
  }

  /** Adds a byte to the token; false, the failure of the attempt, if the token is too long. */
  #append(byte: number, kept: number): false | undefined {
    if (this.#length < kept) this.#kept += String.fromCharCode(byte);
    this.#length++;
    return this.#length > MAX_TOKEN_BYTES ? false : undefined;
  }

  #endToken(): void {
    if (this.#state === 'type') {
      this.#type = this.#kept;
      this.#enter('braces');
      return;
    }
    // SOIF-8.10: no URL begins with these characters.
    if (/^[@}]/.test(this.#kept) && /^(?:DELETE|REFRESH|UPDATE)\{?$/i.test(this.#type)) this.wrapped = true;
    this.#state = 'gap';
  }
}

/** C's `atoi`: 0 for a text that does not begin with a number; text after the number is ignored (SOIF-4.4). */
function sizeOf(text: string): number {
  return Number(/^[\t-\r ]*([+-]?\d+)/.exec(text)?.[1] ?? 0);
}
