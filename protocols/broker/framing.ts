// Finds and writes the end of a message (BRK-1.8, 1.9).
import { BACKSLASH, CR, isSpace, LF, QUOTE } from '../ascii.js';
import { ByteBuffer } from '../byte-buffer.js';
import { UsageError } from '../errors.js';

/** BRK-1.8: the longest message in bytes, without its line end. */
export const DEFAULT_MAX_MESSAGE_BYTES = 64 * 1024;

/** Result of {@link MessageFramer}: nothing yet, a message line, or more bytes than the limit. */
export type Framed =
  | { readonly kind: 'more' }
  | { readonly kind: 'line'; readonly line: Uint8Array }
  | { readonly kind: 'too-long' };

const MORE: Framed = { kind: 'more' };

/**
 * Finds the end of a message: the first LF outside double quotes (BRK-1.8). It removes one CR before the LF and
 * skips empty lines before the message. It reads each byte once.
 */
export class MessageFramer {
  readonly #maxBytes: number;
  readonly #buffer = new ByteBuffer();
  /** The line that was taken out of the buffer last. */
  #taken: Uint8Array = new Uint8Array(0);
  #quoted = false;
  #escaped = false;
  /**
   * Bytes of skipped empty lines. They count against the limit, so that a peer cannot send them without end.
   */
  #skipped = 0;

  constructor(maxBytes: number = DEFAULT_MAX_MESSAGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The bytes of the message so far, also of one that is too long or has no end: as many as the limit allows,
   * however many arrived at once.
   */
  get beginning(): Uint8Array {
    const bytes = this.#buffer.length > 0 ? this.#buffer.view() : this.#taken;
    return bytes.subarray(0, Math.max(0, this.#maxBytes - this.#skipped));
  }

  /** Whether the bytes so far end inside double quotes. */
  get insideQuotes(): boolean {
    return this.#quoted;
  }

  /**
   * Takes the next bytes. Bytes after a complete line are ignored (BRK-1.6: one message for each connection).
   */
  push(chunk: Uint8Array): Framed {
    let start = 0;
    for (let end = this.#endOfLine(chunk, 0); end >= 0; end = this.#endOfLine(chunk, start)) {
      const taken = this.#join(chunk.subarray(start, end));
      start = end + 1;
      const line = stripCarriageReturn(taken);
      if (this.#skipped + line.length > this.#maxBytes) return { kind: 'too-long' };
      if (!line.every(isSpace)) return { kind: 'line', line };
      this.#skipped += taken.length + 1;
    }
    this.#buffer.append(chunk.subarray(start));
    // One byte more than the limit is allowed, because it may be the CR of the line end.
    return this.#buffer.length + this.#skipped > this.#maxBytes + 1 ? { kind: 'too-long' } : MORE;
  }

  /** The peer closed its side: the bytes so far are the message (BRK-1.8 b). */
  end(): Framed {
    this.#taken = this.#buffer.take();
    const line = stripCarriageReturn(this.#taken);
    if (this.#skipped + line.length > this.#maxBytes) return { kind: 'too-long' };
    return line.every(isSpace) ? MORE : { kind: 'line', line };
  }

  /** Takes the line whose last part has arrived. Thousands of lines without text are not worth the buffer. */
  #join(part: Uint8Array): Uint8Array {
    if (this.#buffer.length === 0 && part.every(isSpace)) this.#taken = part;
    else {
      this.#buffer.append(part);
      this.#taken = this.#buffer.take();
    }
    return this.#taken;
  }

  /** Finds the LF that ends the message by the rules of the lexer (BRK-2.7), the first one outside quotes; -1 without one. */
  #endOfLine(chunk: Uint8Array, from: number): number {
    let quoted = this.#quoted;
    let escaped = this.#escaped;
    let at = from;
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (!quoted) {
        if (byte === LF) break;
        quoted = byte === QUOTE;
      } else if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else quoted = byte !== QUOTE;
    }
    this.#quoted = quoted;
    this.#escaped = escaped;
    return at < chunk.length ? at : -1;
  }
}

function stripCarriageReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}

/**
 * Frames a message: appends the CR LF that ends it (BRK-1.9).
 * @throws UsageError when a server would not read it as exactly one message: it is empty, a quote is not
 * closed, or there is a line end outside quotes
 */
export function frameMessage(message: string | Uint8Array): Uint8Array {
  const line = typeof message === 'string' ? new TextEncoder().encode(message) : message;
  const framed = new Uint8Array(line.length + 2);
  framed.set(line);
  framed[line.length] = CR;
  framed[line.length + 1] = LF;
  const read = new MessageFramer(Number.POSITIVE_INFINITY).push(framed);
  if (read.kind !== 'line' || read.line.length !== line.length) {
    throw new UsageError('a message is one line that is not empty and closes its double quotes');
  }
  return framed;
}
