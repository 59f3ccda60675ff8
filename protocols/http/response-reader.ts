// Reads one HTTP response from chunks of any size, as far as it can be understood.

import { asciiBytes, bufferOf, CR, isSpace, LF, trimSpace } from '../ascii.js';
import { ByteBuffer } from '../byte-buffer.js';
import { type Complete, defined } from '../defined.js';
import { ProtocolError } from '../errors.js';
import type { HttpEvent, HttpHead } from './events.js';
import { bodyFraming, type Framing, isPersistent, recognizeStart } from './framing.js';
import { type Deviation, isEmptyLine, parseFields, parseStatusLine } from './head.js';

/** Limits on what a response has besides its body. */
export interface HttpResponseLimits {
  /**
   * Bytes of all heads (1xx responses included) and of the trailer section. Default 2 MiB, so that a header of
   * 1 MB is read.
   */
  readonly maxHeadBytes?: number | undefined;
  /** Fields of a header or a trailer section. Default 50 000. */
  readonly maxFields?: number | undefined;
  /** Bytes of a line with the size of a chunk, its extension included (RFC 9112 7.1.1). Default 16 KiB. */
  readonly maxChunkLineBytes?: number | undefined;
  /** Bytes of all chunk extensions of a response. Default 1 MiB. */
  readonly maxExtensionBytes?: number | undefined;
}

const DEFAULT_LIMITS = {
  maxHeadBytes: 2 * 1024 * 1024,
  maxFields: 50_000,
  maxChunkLineBytes: 16 * 1024,
  maxExtensionBytes: 1024 * 1024,
} as const;

/** The line with the size of a chunk, without the line ends around it. A `0x` and blanks are tolerated. */
const SIZE_LINE = /^(?:0x)?([0-9a-f]+)[ \t]*(?:;.*)?$/is;
/** The same by the grammar of RFC 9112 7.1; `\r\n` before it ends the chunk before it. */
const STRICT_SIZE_LINE = /^[0-9a-f]+(?:[ \t]*;.*)?\r\n$/is;
/** The size of the last chunk without its line end, which shows that no digit follows. */
const CUT_LAST_SIZE = /^\s*0+(?:\s+|[ \t]*;.*)$/s;
/** The size of a chunk without its line end. */
const CUT_SIZE = /^(?:0x)?[0-9a-f]{1,8}[ \t]*(?:;.*)?\r?$/is;
/** Hexadecimal digits of the largest safe integer. */
const MAX_SIZE_DIGITS = 13;

const NO_DEVIATIONS: readonly Deviation[] = [];

type State = 'start' | 'head' | 'data' | 'chunk-line' | 'chunk' | 'trailers' | 'ended';

/**
 * Reads one response to a GET request leniently, in chunks of any size: HTTP/0.9, 1.0 and 1.1. The README lists
 * the tolerated deviations. The memory is bounded by the limits; a body is passed on in pieces.
 */
export class HttpResponseReader {
  readonly #limits: Complete<HttpResponseLimits>;
  readonly #deviations = new Set<Deviation>();
  readonly #note = (deviation: Deviation) => this.#deviations.add(deviation);
  #state: State = 'start';
  /** The head, the line of a chunk or the trailers, as far as they have arrived. */
  #buffer = new ByteBuffer();
  /** Where the content of the buffer begins in the message. */
  #sectionStart = 0;
  /** Whether the buffer has more than white space: in the head, the next empty line then ends it. */
  #hasText = false;
  /** Whether the current line has no bytes but those of its end. */
  #isLineEmpty = true;
  #headBytes = 0;
  #extensionBytes = 0;
  #framing: Framing = { kind: 'none' };
  /** Bytes until the end of the body or the chunk; Infinity: until the connection ends. */
  #remaining = 0;
  #bodyBytes = 0;
  #isFirstChunk = true;
  /** Whether sizes of chunks have zeros at their beginning. */
  #arePadded = false;
  #persists = false;
  #offset = 0;

  constructor(limits: HttpResponseLimits = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...defined(limits) };
  }

  /** Whether the message is over. */
  get isEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Whether nothing but the end of the connection shows that the body is over, and some of it has arrived. */
  get endsWithConnection(): boolean {
    if (this.#state === 'trailers') return true;
    const { kind } = this.#framing;
    const isOpen = kind === 'close' || (kind === 'length' && !this.#framing.isCertain);
    return this.#state === 'data' && isOpen && this.#bodyBytes > 0;
  }

  /** Bytes of the message so far: those after its end are not part of it. */
  get bytesRead(): number {
    return this.#offset;
  }

  /** Bytes of the body that are still to come by its Content-Length; 0 without one. */
  get announcedRest(): number {
    return this.#state === 'data' && this.#framing.kind === 'length' ? this.#remaining : 0;
  }

  /**
   * Whether the next response can follow on the connection (RFC 9112 9.3): both sides know for certain where this
   * one has ended.
   */
  get keepsConnection(): boolean {
    return this.#state === 'ended' && this.#persists && this.#deviations.size === 0;
  }

  /** Bytes of the heads and the trailers so far. */
  get headBytes(): number {
    return this.#headBytes;
  }

  /** What the message did not do by the rules so far. */
  get deviations(): readonly Deviation[] {
    return this.#deviations.size === 0 ? NO_DEVIATIONS : [...this.#deviations].sort();
  }

  /**
   * Reads a piece of the message. Events have parts of it and of earlier pieces: a piece must not change after
   * the call. The caller consumes the generator to its end, or drops the reader.
   * @throws ProtocolError with the offset for a limit, a status that is not a number from 100 to 999, or a TLS
   *   alert
   */
  *push(piece: Uint8Array): Generator<HttpEvent> {
    let rest = piece;
    while (rest.length > 0 && this.#state !== 'ended') {
      const isStart = this.#state === 'start' && this.#buffer.length === 0;
      const length = isStart ? headLength(rest) : 0;
      const used = length > 0 ? yield* this.#readWholeHead(rest, length) : yield* this.#read(rest);
      this.#offset += used;
      rest = rest.subarray(used);
    }
  }

  /**
   * The connection ended in order.
   * @throws ProtocolError if it ended before the body could begin
   */
  *end(): Generator<HttpEvent> {
    if (this.#state === 'start' && this.#buffer.length > 0) yield* this.#beginPlainBody();
    if (this.#state === 'start')
      throw this.#error('the connection ended before a response', 'RFC 9112 8', this.#offset);
    if (this.#state === 'head') {
      // Whole lines suffice for a redirect.
      const isWhole = this.#hasText && this.#buffer.view().at(-1) === LF;
      if (!isWhole) throw this.#error('the connection ended within the header', 'RFC 9112 8', this.#offset);
      this.#note('cut-header');
      yield* this.#endHead(this.#buffer.take());
    }
    const line = this.#state === 'chunk-line' ? bufferOf(this.#buffer.view()).toString('latin1') : '';
    if (CUT_LAST_SIZE.test(line) || (/^\s*0+$/.test(line) && !this.#arePadded)) {
      this.#state = 'trailers';
      yield { kind: 'framing', raw: this.#buffer.take() };
    } else if (line !== '' && this.#isFirstChunk && !this.#isCutSize(line)) yield* this.#dropChunking();
    if (this.#state === 'trailers') {
      this.#note('cut-header');
      if (this.#buffer.length > 0) yield this.#trailers();
      yield* this.#finish(undefined);
    } else if (this.#state !== 'ended') {
      if (this.#state === 'chunk-line' && this.#buffer.length > 0)
        yield { kind: 'framing', raw: this.#buffer.take() };
      yield* this.#finish(this.#missing());
    }
  }

  /** Reads from the beginning of `bytes`; returns the number of bytes that are done with. */
  *#read(bytes: Uint8Array): Generator<HttpEvent, number> {
    switch (this.#state) {
      case 'start':
        return yield* this.#readStart(bytes);
      case 'head':
        return yield* this.#readHead(bytes);
      case 'trailers':
        return yield* this.#readTrailers(bytes);
      case 'chunk-line':
        return yield* this.#readChunkLine(bytes);
      default:
        return yield* this.#readData(bytes);
    }
  }

  /** Takes single bytes until they show whether there is a head. */
  *#readStart(bytes: Uint8Array): Generator<HttpEvent, number> {
    if (this.#buffer.length === 0) this.#sectionStart = this.#offset;
    let used = 0;
    let start = recognizeStart(this.#buffer.view());
    while (start === 'more' && used < bytes.length) {
      this.#buffer.append(bytes.subarray(used, used + 1));
      used++;
      start = recognizeStart(this.#buffer.view());
    }
    if (start === 'greeting') throw this.#error('the server speaks another protocol', 'RFC 9112 4');
    if (start === 'tls') throw this.#error('the server speaks TLS on this port', 'RFC 9112 9.7');
    if (start === 'body') yield* this.#beginPlainBody();
    else if (start === 'head') {
      const begin = this.#buffer.take();
      this.#state = 'head';
      this.#hasText = false;
      this.#isLineEmpty = true;
      yield* this.#readHead(begin);
    }
    return used;
  }

  /** HTTP/0.9: everything is the body. */
  *#beginPlainBody(): Generator<HttpEvent> {
    this.#note('http-0.9');
    const first = this.#buffer.take();
    yield {
      kind: 'head',
      raw: new Uint8Array(0),
      version: '0.9',
      status: 200,
      reason: '',
      isInterim: false,
      fields: [],
      transferCodings: [],
    };
    yield* this.#beginBody({ kind: 'close' });
    yield* this.#readData(first);
  }

  /**
   * Collects lines up to an empty one for which `isEnd` returns true. Returns the number of bytes used, and
   * whether that line was there.
   */
  #collectLines(bytes: Uint8Array, isEnd: () => boolean): { readonly used: number; readonly ended: boolean } {
    let at = 0;
    while (at < bytes.length) {
      const lf = bytes.indexOf(LF, at);
      const end = lf < 0 ? bytes.length : lf + 1;
      const line = bytes.subarray(at, end);
      this.#countHead(line.length);
      this.#buffer.append(line);
      if (!isEmptyLine(line)) {
        this.#isLineEmpty = false;
        this.#hasText ||= !isBlankLine(line);
      }
      at = end;
      if (lf < 0) break;
      if (this.#isLineEmpty && isEnd()) return { used: at, ended: true };
      this.#isLineEmpty = true;
    }
    return { used: at, ended: false };
  }

  /** Nearly every head arrives in one piece. */
  *#readWholeHead(bytes: Uint8Array, length: number): Generator<HttpEvent, number> {
    this.#sectionStart = this.#offset;
    this.#countHead(length);
    const raw = new Uint8Array(length);
    raw.set(bytes.subarray(0, length));
    yield* this.#endHead(raw);
    return length;
  }

  #countHead(bytes: number): void {
    this.#headBytes += bytes;
    if (this.#headBytes > this.#limits.maxHeadBytes)
      throw this.#error(`the header is longer than ${this.#limits.maxHeadBytes} bytes`, 'RFC 9110 5.4');
  }

  *#readHead(bytes: Uint8Array): Generator<HttpEvent, number> {
    // Empty lines before the status line do not end the head.
    const { used, ended } = this.#collectLines(bytes, () => this.#hasText);
    if (ended) yield* this.#endHead(this.#buffer.take());
    return used;
  }

  *#endHead(raw: Uint8Array): Generator<HttpEvent> {
    const head = this.#parseHead(raw);
    if (head.status === 101) throw this.#error('the server switches to another protocol', 'RFC 9110 15.2.2');
    if (head.isInterim) {
      yield head;
      this.#state = 'start';
      return;
    }
    const { framing, transferCodings } = bodyFraming(head.status, head.fields, this.#note);
    this.#persists = framing.kind !== 'close' && isPersistent(head);
    yield { ...head, transferCodings };
    yield* this.#beginBody(framing);
  }

  #parseHead(raw: Uint8Array): HttpHead {
    const offset = this.#sectionStart;
    let begin = 0;
    let end = raw.indexOf(LF) + 1;
    while (isSpace(raw[begin]) && isBlankLine(raw.subarray(begin, end))) {
      begin = end;
      end = raw.indexOf(LF, begin) + 1;
    }
    if (begin > 0) this.#note('leading-bytes');
    if (raw[end - 2] !== CR) this.#note('bare-lf');
    const line = trimSpace(bufferOf(raw.subarray(begin, end)).toString('latin1'));
    const { version, status, reason } = parseStatusLine(line, offset + begin, this.#note);
    const { maxFields } = this.#limits;
    const fields = parseFields(raw.subarray(end), { maxFields, offset: offset + end }, this.#note);
    return {
      kind: 'head',
      raw,
      version,
      status,
      reason,
      isInterim: status < 200,
      fields,
      transferCodings: [],
    };
  }

  *#beginBody(framing: Framing): Generator<HttpEvent> {
    this.#framing = framing;
    if (framing.kind === 'chunked') {
      this.#state = 'chunk-line';
      return;
    }
    this.#state = 'data';
    if (framing.kind === 'close') this.#remaining = Number.POSITIVE_INFINITY;
    else this.#remaining = framing.kind === 'length' ? framing.length : 0;
    if (this.#remaining === 0) yield* this.#finish(undefined);
  }

  *#readData(bytes: Uint8Array): Generator<HttpEvent, number> {
    if (this.#state === 'ended') return bytes.length;
    const raw = bytes.length <= this.#remaining ? bytes : bytes.subarray(0, this.#remaining);
    if (raw.length > 0) yield { kind: 'data', raw };
    this.#bodyBytes += raw.length;
    this.#remaining -= raw.length;
    if (this.#remaining > 0) return raw.length;
    if (this.#state === 'chunk') this.#state = 'chunk-line';
    else yield* this.#finish(undefined);
    return raw.length;
  }

  /** Reads the end of a chunk and the size of the next one. */
  *#readChunkLine(bytes: Uint8Array): Generator<HttpEvent, number> {
    if (this.#buffer.length === 0) {
      this.#sectionStart = this.#offset;
      this.#hasText = false;
    }
    const { maxChunkLineBytes } = this.#limits;
    const lf = bytes.indexOf(LF);
    const used = Math.min(lf < 0 ? bytes.length : lf + 1, maxChunkLineBytes + 1 - this.#buffer.length);
    const piece = bytes.subarray(0, used);
    this.#buffer.append(piece);
    this.#hasText ||= !isBlankLine(piece);
    const isTooLong = this.#buffer.length > maxChunkLineBytes;
    if (isTooLong && this.#isFirstChunk) {
      yield* this.#dropChunking();
      return used;
    }
    if (isTooLong)
      throw this.#error(`the line of a chunk is longer than ${maxChunkLineBytes} bytes`, 'RFC 9112 7.1.1');
    // Without text it is the line end after a chunk.
    if (used === lf + 1 && this.#hasText) {
      const sent = bufferOf(this.#buffer.view()).toString('latin1');
      yield* this.#beginChunk(sent, trimSpace(sent));
    }
    return used;
  }

  /** Whether the connection ended within the size of the first chunk; a body without chunks can look like it. */
  #isCutSize(line: string): boolean {
    const otherwise = this.#framing.kind === 'chunked' ? this.#framing.otherwise : undefined;
    const isAnnounced = otherwise?.kind === 'length' && otherwise.length === line.length;
    return CUT_SIZE.test(line) && !isAnnounced;
  }

  *#beginChunk(sent: string, line: string): Generator<HttpEvent> {
    const digits = SIZE_LINE.exec(line)?.[1]?.replace(/^0+/, '');
    if (digits === undefined && this.#isFirstChunk) {
      yield* this.#dropChunking();
      return;
    }
    if (digits === undefined || digits.length > MAX_SIZE_DIGITS) {
      const problem = `${JSON.stringify(line.slice(0, 40))} is not the size of a chunk`;
      const { rule, offset, message } = this.#error(problem, 'RFC 9112 7.1');
      if (this.#bodyBytes === 0) throw new ProtocolError(problem, { protocol: 'http', rule, offset });
      this.#note('chunk-size');
      yield { kind: 'framing', raw: this.#buffer.take() };
      yield* this.#finish(message);
      return;
    }
    const isStrict = STRICT_SIZE_LINE.test(this.#isFirstChunk ? sent : sent.replace(/^\r\n/, ''));
    if (!isStrict || (!this.#isFirstChunk && !sent.startsWith('\r\n'))) this.#note('chunk-size');
    this.#arePadded ||= this.#isFirstChunk && /^(?:0x)?0./i.test(line);
    const extension = line.indexOf(';');
    if (extension >= 0) this.#countExtension(line.length - extension);
    yield { kind: 'framing', raw: this.#buffer.take() };
    this.#isFirstChunk = false;
    this.#remaining = digits === '' ? 0 : Number.parseInt(digits, 16);
    this.#state = this.#remaining === 0 ? 'trailers' : 'chunk';
    this.#isLineEmpty = true;
  }

  #countExtension(bytes: number): void {
    this.#extensionBytes += bytes;
    const { maxExtensionBytes } = this.#limits;
    if (this.#extensionBytes > maxExtensionBytes)
      throw this.#error(`the chunk extensions are longer than ${maxExtensionBytes} bytes`, 'RFC 9112 7.1.1');
  }

  /**
   * The body does not have the chunked coding that the header announces: the supposed size of a chunk is
   * a part of it.
   */
  *#dropChunking(): Generator<HttpEvent> {
    this.#note('transfer-encoding');
    const first = this.#buffer.take();
    yield* this.#beginBody(this.#framing.kind === 'chunked' ? this.#framing.otherwise : this.#framing);
    yield* this.#readData(first);
  }

  *#readTrailers(bytes: Uint8Array): Generator<HttpEvent, number> {
    if (this.#buffer.length === 0) this.#sectionStart = this.#offset;
    const { used, ended } = this.#collectLines(bytes, () => true);
    if (ended) {
      yield this.#trailers();
      yield* this.#finish(undefined);
    }
    return used;
  }

  #trailers(): HttpEvent {
    const raw = this.#buffer.take();
    const { maxFields } = this.#limits;
    const offset = this.#sectionStart;
    return { kind: 'trailers', raw, fields: parseFields(raw, { maxFields, offset }, this.#note) };
  }

  /** What the end of the connection cut off; undefined if nothing. */
  #missing(): string | undefined {
    if (this.#framing.kind === 'chunked') return 'the last chunk is missing (RFC 9112 8)';
    if (this.#framing.kind !== 'length' || !this.#framing.isCertain) return undefined;
    return `${this.#framing.length} bytes were announced, ${this.#bodyBytes} sent (RFC 9112 8)`;
  }

  *#finish(problem: string | undefined): Generator<HttpEvent> {
    this.#state = 'ended';
    if (problem !== undefined) this.#note('cut-body');
    yield { kind: 'end', problem, deviations: this.deviations };
  }

  #error(problem: string, rule: string, offset = this.#sectionStart): ProtocolError {
    return new ProtocolError(problem, { protocol: 'http', rule, offset });
  }
}

/** The beginning of a status line by the rules. */
const HTTP = asciiBytes('HTTP/');

/**
 * Returns the length of the head that bytes begin with, with its empty line; 0 if it is not by the rules from its first
 * byte, or not complete.
 */
function headLength(bytes: Uint8Array): number {
  for (let i = 0; i < HTTP.length; i++) if (bytes[i] !== HTTP[i]) return 0;
  for (let lf = bytes.indexOf(LF); lf >= 0; lf = bytes.indexOf(LF, lf + 1)) {
    let next = lf + 1;
    while (bytes[next] === CR) next++;
    if (bytes[next] === LF) return next + 1;
  }
  return 0;
}

/** Whether a line has white space alone. */
function isBlankLine(line: Uint8Array): boolean {
  return line.every(isSpace);
}
