// Splits a stream into SSTP messages, and writes them.
import { isUtf8 } from 'node:buffer';
import { bufferOf, COLON, CR, isBlank, LF, threeDigits } from '../ascii.js';
import { ByteBuffer } from '../byte-buffer.js';
import { ProtocolError } from '../errors.js';
import { numberHeader } from './header-values.js';
import { IdRun } from './id-run.js';
import {
  IdListMessage,
  NO_BODY,
  REPLY_LIMITS,
  REQUEST_LIMITS,
  type SstpHeader,
  type SstpLimits,
  type SstpMessage,
} from './message.js';
import { codeEntry, HEADERS, VERSION, VERSION_PREFIX } from './registry.js';

export interface SstpDecoderOptions extends Partial<SstpLimits> {
  /** Reads runs of IDs in replies straight into numbers. Default true; false is for comparing the two. */
  readonly fast?: boolean;
}

/** The fast path for IDs does not check line lengths, so it needs a line limit of at least this many octets. */
const LONGEST_ID_LINE = 64;

/**
 * S-36: text beyond ASCII is UTF-8, and a URL is ASCII. A URL in other bytes is percent-encoded byte by byte:
 * decoding would make one URL of all that have the same length.
 */
function decodeValue(name: string, text: string, bytes: Uint8Array): string {
  if (!BEYOND_ASCII.test(text)) return text;
  if (name.toUpperCase() !== HEADERS.url.name || isUtf8(bytes)) return bufferOf(bytes).toString('utf8');
  return text.replace(EACH_BEYOND_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

const BEYOND_ASCII = /[\x80-\xff]/;
const EACH_BEYOND_ASCII = /[\x80-\xff]/g;

/**
 * Splits a stream into messages (S-27 to S-38). Chunk boundaries affect neither messages nor errors. The limits
 * bound the memory. After an error the framing is unknown, so every later call throws the error again.
 */
export class SstpDecoder {
  readonly #role: 'request' | 'reply';
  readonly #limits: SstpLimits;
  readonly #run: IdRun | undefined;
  readonly #partial = new ByteBuffer();
  readonly #body = new ByteBuffer();
  #state: 'start' | 'headers' | 'body' = 'start';
  /** Octets from the start of the stream to the current line. */
  #offset = 0;
  #code = 0;
  #headers: SstpHeader[] = [];
  #headerBytes = 0;
  #headerLines = 0;
  #bodyLength = 0;
  #message: SstpMessage | undefined;
  #failure: ProtocolError | undefined;

  constructor(role: 'request' | 'reply', options: SstpDecoderOptions = {}) {
    this.#role = role;
    this.#limits = { ...(role === 'request' ? REQUEST_LIMITS : REPLY_LIMITS), ...options };
    const fast = options.fast !== false && this.#limits.maxHeaderLineBytes >= LONGEST_ID_LINE;
    this.#run = role === 'reply' && fast ? new IdRun() : undefined;
  }

  /** Whether no octet of an incomplete message is held. */
  get idle(): boolean {
    return this.#state === 'start' && this.#partial.length === 0;
  }

  /** Returns the complete messages, in order. @throws ProtocolError rule S-28 to S-38, or S-46 (the version) */
  push(chunk: Uint8Array): SstpMessage[] {
    const messages: SstpMessage[] = [];
    for (let at = 0; at < chunk.length; ) {
      at = this.read(chunk, at);
      const message = this.takeMessage();
      if (message !== undefined) messages.push(message);
    }
    return messages;
  }

  /**
   * Reads from `from`, at most to the end of one message.
   * @returns the index where it stopped; {@link takeMessage} returns the message if it is complete
   * @throws ProtocolError as {@link push}
   */
  read(chunk: Uint8Array, from: number): number {
    if (this.#failure !== undefined) throw this.#failure;
    let at = from;
    while (at < chunk.length && this.#message === undefined) {
      if (this.#state === 'body') at = this.#readBody(chunk, at);
      else at = this.#readLine(chunk, at);
    }
    return at;
  }

  /** Returns the message that {@link read} completed, once. */
  takeMessage(): SstpMessage | undefined {
    const message = this.#message;
    this.#message = undefined;
    return message;
  }

  /** Skips octets between two messages that another decoder has read; offsets in errors include them. */
  skip(octets: number): void {
    this.#offset += octets;
  }

  #readLine(chunk: Uint8Array, from: number): number {
    if (this.#partial.length === 0) {
      const at = this.#readIds(chunk, from, chunk.length);
      if (at > from) return at;
    }
    const lf = chunk.indexOf(LF, from);
    if (lf >= 0 && this.#partial.length === 0) {
      this.#endLine(chunk, from, lf);
      return lf + 1;
    }
    const end = lf < 0 ? chunk.length : lf + 1;
    this.#partial.append(chunk.subarray(from, end));
    if (lf < 0) {
      this.#checkLine(this.#partial.view(), 0, this.#partial.length, false);
      return end;
    }
    const line = this.#partial.take();
    if (this.#readIds(line, 0, line.length) === 0) this.#endLine(line, 0, line.length - 1);
    return end;
  }

  /** Reads lines of IDs on the fast path. Leaves lines in an unusual form, or at a limit, to the slow path. */
  #readIds(bytes: Uint8Array, from: number, end: number): number {
    const run = this.#run;
    if (run === undefined || this.#state !== 'headers' || !run.continuesAt(this.#headers.length)) return from;
    const { maxHeaderBytes, maxHeaderLines } = this.#limits;
    const lines = run.length;
    const room = Math.min(end, from + maxHeaderBytes - this.#headerBytes);
    const at = run.read(bytes, from, room, maxHeaderLines - this.#headerLines, this.#headers.length);
    this.#headerBytes += at - from;
    this.#headerLines += run.length - lines;
    this.#offset += at - from;
    return at;
  }

  /** Handles a complete line. @param lf index of its LF */
  #endLine(bytes: Uint8Array, start: number, lf: number): void {
    const end = lf > start && bytes[lf - 1] === CR ? lf - 1 : lf;
    this.#checkLine(bytes, start, end, true);
    if (this.#state === 'start') this.#readStartLine(bytes, start, end);
    else if (end === start) this.#endHeaders();
    else {
      this.#headerLines++;
      this.#headerBytes += lf + 1 - start;
      if (this.#headerLines > this.#limits.maxHeaderLines)
        this.#fail('S-38', `more than ${this.#limits.maxHeaderLines} header lines`);
      // The limit of the line leaves its end out, which counts here.
      if (this.#headerBytes > this.#limits.maxHeaderBytes)
        this.#fail('S-38', `header lines of more than ${this.#limits.maxHeaderBytes} octets`);
      this.#headers.push(this.#parseHeader(bytes, start, end));
    }
    if (this.#failure === undefined) this.#offset += lf + 1 - start;
  }

  /**
   * S-30, S-38. Of a bare CR and a line that is too long, the first is the error, so that chunk boundaries do
   * not decide.
   * @param complete false: the line continues after `end`
   */
  #checkLine(bytes: Uint8Array, start: number, end: number, complete: boolean): void {
    const limit = this.#lineLimit();
    const cr = bytes.indexOf(CR, start);
    const bare = cr >= 0 && cr < (complete ? end : end - 1);
    if (bare && cr - start <= limit) this.#fail('S-30', 'a CR without LF');
    const endsInCr = !complete && end > start && bytes[end - 1] === CR;
    if (end - start - (endsInCr ? 1 : 0) > limit) this.#fail('S-38', `a line of more than ${limit} octets`);
  }

  #lineLimit(): number {
    const { maxStartLineBytes, maxHeaderLineBytes, maxHeaderBytes } = this.#limits;
    if (this.#state === 'start') return maxStartLineBytes;
    return Math.min(maxHeaderLineBytes, Math.max(0, maxHeaderBytes - this.#headerBytes));
  }

  #readStartLine(bytes: Uint8Array, start: number, end: number): void {
    const text = bufferOf(bytes).toString('latin1', start, end);
    const version = VERSION_TOKEN.exec(text);
    if (version === null) this.#fail('S-28', `a start line begins with ${VERSION_PREFIX} and a version`);
    // S-46: the rest of a line with another version is ignored.
    if (Number(version[1]) !== VERSION.major) this.#fail('S-46', `the version is not ${VERSION.major}.x`);
    // S-29: the phrase is ignored.
    const code = /^ (\d{3})(?: .*)?$/s.exec(text.slice(version[0].length))?.[1];
    if (code === undefined) this.#fail('S-28', 'the version is followed by a blank and three digits');
    this.#code = Number(code);
    this.#state = 'headers';
  }

  #parseHeader(bytes: Uint8Array, start: number, end: number): SstpHeader {
    if (isBlank(bytes[start])) return this.#fail('S-32', 'a folded line');
    const colon = bytes.indexOf(COLON, start);
    if (colon < 0 || colon >= end) return this.#fail('S-32', 'a header line without a colon');
    const line = bufferOf(bytes);
    const name = line.toString('latin1', start, colon);
    if (!/^\w+$/.test(name)) return this.#fail('S-32', 'a header without a name, or not a name');
    // S-31
    let from = colon + 1;
    let to = end;
    while (from < to && isBlank(bytes[from])) from++;
    while (to > from && isBlank(bytes[to - 1])) to--;
    const text = line.toString('latin1', from, to);
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(text)) return this.#fail('S-36', 'a control character in a value');
    return [name.toUpperCase(), decodeValue(name, text, line.subarray(from, to))];
  }

  #endHeaders(): void {
    let length = 0;
    try {
      length = numberHeader(this.#headers, HEADERS.contentLength.name) ?? 0;
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#fail(error.rule, 'not the length of a body');
    }
    if (length > this.#limits.maxBodyBytes)
      this.#fail('S-38', `a body of more than ${this.#limits.maxBodyBytes} octets`);
    if (length > 0 && this.#role === 'request' && codeEntry(this.#code)?.bodyless === true)
      this.#fail('S-37', 'a request of this code has no body');
    this.#bodyLength = length;
    this.#state = 'body';
    if (length === 0) this.#complete(NO_BODY);
  }

  #readBody(chunk: Uint8Array, from: number): number {
    const end = Math.min(chunk.length, from + this.#bodyLength - this.#body.length);
    this.#body.append(chunk.subarray(from, end));
    this.#offset += end - from;
    if (this.#body.length === this.#bodyLength) this.#complete(this.#body.take());
    return end;
  }

  #complete(body: Uint8Array): void {
    const headers = this.#headers;
    const run = this.#run?.take();
    this.#message =
      run === undefined
        ? { code: this.#code, headers, body }
        : new IdListMessage(this.#code, headers, run.ids, run.headersBefore, body);
    this.#headers = [];
    this.#headerBytes = 0;
    this.#headerLines = 0;
    this.#state = 'start';
  }

  #fail(rule: string, message: string): never {
    this.#failure = new ProtocolError(message, { protocol: 'sstp', rule, offset: this.#offset });
    throw this.#failure;
  }
}

const VERSION_TOKEN = new RegExp(String.raw`^${VERSION_PREFIX}(\d+)\.\d+(?= |$)`);

/** A header name (6.2). */
const NAME = /^[A-Za-z0-9_]+$/;
/**
 * Characters that a value must not have (S-36), or must not begin or end with, because the receiver strips them
 * (S-31).
 */
const BAD_VALUE = /[\0-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$/;

/** The start line of a code without its line end (S-28). A code that is not registered has no symbol. */
export function formatStartLine(code: number): string {
  const symbol = codeEntry(code)?.symbol;
  const phrase = symbol === undefined ? '' : ` ${symbol}`;
  return `${VERSION_PREFIX}${VERSION.major}.${VERSION.minor} ${threeDigits(code)}${phrase}`;
}

/**
 * Formats a message without a body as text: ASCII, except for values that are not.
 * @throws RangeError for a code that is not 0 to 999; TypeError for a header name or value that cannot be sent
 */
export function formatHead({ code, headers }: Pick<SstpMessage, 'code' | 'headers'>): string {
  if (!Number.isInteger(code) || code < 0 || code > 999) throw new RangeError(`not an SSTP code: ${code}`);
  let text = `${formatStartLine(code)}\r\n`;
  for (const [name, value] of headers) {
    if (!NAME.test(name)) throw new TypeError(`not an SSTP header name: ${JSON.stringify(name)}`);
    if (BAD_VALUE.test(value)) throw new TypeError(`${name} cannot be sent: ${JSON.stringify(value)}`);
    text += `${name.toUpperCase()}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}

/**
 * Encodes a message (S-28, S-30, S-31). The length of a body is added when the headers do not have it (S-37).
 * @throws as {@link formatHead}; TypeError when the given length is not the body's
 */
export function encodeSstp(message: SstpMessage): Uint8Array {
  const { code, headers, body } = message;
  const head = Buffer.from(formatHead({ code, headers: withLength(headers, body.length) }), 'utf8');
  return body.length === 0 ? head : Buffer.concat([head, body]);
}

function withLength(headers: readonly SstpHeader[], length: number): readonly SstpHeader[] {
  const given = headers.filter(([name]) => name.toUpperCase() === HEADERS.contentLength.name);
  if (given.length === 0)
    return length === 0 ? headers : [...headers, [HEADERS.contentLength.name, String(length)]];
  if (given.length === 1 && given[0]?.[1] === String(length)) return headers;
  throw new TypeError(`${HEADERS.contentLength.name} is not the length of the body, ${length}`);
}
