import { MAX_U32 } from './format.js';
import { lineError, WholeLines } from './line-input.js';

/** The byte order of a stored `u_int32_t`. */
export type ByteOrder = 'little' | 'big';

export interface PairParserOptions {
  /** The byte order in a Berkeley DB dump. Default `little`. */
  readonly byteOrder?: ByteOrder | undefined;
}

const LF = 0x0a;
const CR = 0x0d;
const TAB = 0x09;
const SPACE = 0x20;
const HASH = 0x23;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
/** Marks a byte that is not a hexadecimal digit. Greater than every digit. */
const NO_DIGIT = 0x100;
const ID_BYTES = 4;
/** The length of a line with a space and eight digits, without the line end. */
const HEX_LINE_BYTES = 9;
/** The maximum number of pairs in one call of `onPairs`. */
const BATCH_PAIRS = 1 << 13;

const HEX = new Uint16Array(256).fill(NO_DIGIT);
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

type State = 'first' | 'header' | 'bytevalue' | 'print' | 'pairs' | 'end';

/**
 * Parses pairs of IDs. The input is the output of Berkeley DB's `db_dump` (R-19; `format=bytevalue` or, with
 * `-p`, `format=print`), or lines of two numbers separated by blanks or tabs, where empty lines and lines that
 * start with `#` are ignored. The first line determines the format. Passes the pairs to a callback in the order
 * of the input.
 */
export class PairParser {
  readonly #file: string;
  readonly #onPairs: (pairs: Uint32Array) => void;
  readonly #bigEndian: boolean;
  readonly #lines = new WholeLines();
  readonly #batch = new Uint32Array(2 * BATCH_PAIRS);
  #filled = 0;
  #state: State = 'first';
  #format: State = 'bytevalue';
  #line = 0;

  /**
   * @param file the file's name, for error messages
   * @param onPairs receives source, target, source, target ...; the array is reused after the call
   */
  constructor(file: string, onPairs: (pairs: Uint32Array) => void, options: PairParserOptions = {}) {
    this.#file = file;
    this.#onPairs = onPairs;
    this.#bigEndian = options.byteOrder === 'big';
  }

  /** @throws StorageError if a line is malformed; the message starts with `FILE:LINE:` */
  push(chunk: Uint8Array): void {
    this.#parse(this.#lines.push(chunk));
    const { problem } = this.#lines;
    if (problem !== undefined) throw this.#error(problem, 1);
  }

  /** Ends the input. @throws StorageError if a dump is incomplete */
  end(): void {
    this.#parse(this.#lines.end());
    this.#flush();
    const unfinished = this.#state === 'header' || this.#state === 'bytevalue' || this.#state === 'print';
    if (unfinished) throw this.#error('the dump ends without DATA=END', 0);
  }

  #parse(bytes: Uint8Array): void {
    let offset = 0;
    while (offset < bytes.length) {
      switch (this.#state) {
        case 'bytevalue':
          offset = this.#parseHex(bytes, offset);
          break;
        case 'pairs':
          offset = this.#parseNumbers(bytes, offset);
          break;
        default: {
          const end = bytes.indexOf(LF, offset);
          this.#line++;
          const line = bytes.subarray(offset, bytes[end - 1] === CR ? end - 1 : end);
          if (this.#parseLine(line)) offset = end + 1;
          else this.#line--;
        }
      }
    }
  }

  /** Parses a line. Returns false if it only determined the state and must be parsed again. */
  #parseLine(line: Uint8Array): boolean {
    if (this.#state === 'print') {
      this.#parsePrintLine(line);
      return true;
    }
    const text = Buffer.from(line).toString('latin1');
    if (this.#state === 'first') {
      this.#state = text.startsWith('VERSION=') ? 'header' : 'pairs';
      return this.#state === 'header';
    }
    if (this.#state === 'header') this.#parseHeader(text);
    else if (text !== '') throw this.#error('data follows DATA=END', 0);
    return true;
  }

  #parseHeader(text: string): void {
    if (text === 'HEADER=END') {
      this.#state = this.#format;
      return;
    }
    const equals = text.indexOf('=');
    if (equals < 1) throw this.#error('expected a header line NAME=VALUE', 0);
    const name = text.slice(0, equals);
    const value = text.slice(equals + 1);
    if (name === 'format') {
      if (value !== 'bytevalue' && value !== 'print')
        throw this.#error('the format must be bytevalue or print', 0);
      this.#format = value;
    } else if (name === 'type' && value !== 'btree') {
      throw this.#error('the database must be of type btree', 0, 'R-8');
    } else if (name === 'keys' && value === '0') {
      throw this.#error('the dump has no keys', 0);
    }
  }

  /**
   * Parses consecutive lines such as ` 0a000000`; the odd lines are keys. Returns the offset of the first byte
   * after them.
   */
  #parseHex(bytes: Uint8Array, from: number): number {
    let offset = from;
    while (offset < bytes.length) {
      if (bytes[offset] !== SPACE) return this.#parseEnd(bytes, offset);
      this.#line++;
      const end = offset + HEX_LINE_BYTES;
      const carriage = bytes[end] === CR ? 1 : 0;
      const a = HEX[bytes[offset + 1]!]!;
      const b = HEX[bytes[offset + 2]!]!;
      const c = HEX[bytes[offset + 3]!]!;
      const d = HEX[bytes[offset + 4]!]!;
      const e = HEX[bytes[offset + 5]!]!;
      const f = HEX[bytes[offset + 6]!]!;
      const g = HEX[bytes[offset + 7]!]!;
      const h = HEX[bytes[offset + 8]!]!;
      if ((a | b | c | d | e | f | g | h) >= NO_DIGIT || bytes[end + carriage] !== LF)
        throw this.#error('expected a blank and the 8 hexadecimal digits of an ID', 0);
      const low = (a << 4) | b;
      const second = (c << 4) | d;
      const third = (e << 4) | f;
      const high = (g << 4) | h;
      this.#put(this.#bigEndian ? word(high, third, second, low) : word(low, second, third, high));
      offset = end + carriage + 1;
    }
    return offset;
  }

  #parseEnd(bytes: Uint8Array, offset: number): number {
    const end = bytes.indexOf(LF, offset);
    this.#line++;
    this.#parseDataEnd(bytes.subarray(offset, bytes[end - 1] === CR ? end - 1 : end));
    return end + 1;
  }

  #parseDataEnd(line: Uint8Array): void {
    if (Buffer.from(line).toString('latin1') !== 'DATA=END')
      throw this.#error('expected a line that begins with a blank, or DATA=END', 0);
    if (this.#filled % 2 !== 0) throw this.#error('the last key has no data', 0);
    this.#state = 'end';
  }

  /**
   * Parses a line of `format=print`: printable bytes are literal, other bytes are `\` and two digits, `\` is
   * `\\`.
   */
  #parsePrintLine(line: Uint8Array): void {
    if (line[0] !== SPACE) {
      this.#parseDataEnd(line);
      return;
    }
    const id = new Uint8Array(ID_BYTES);
    let count = 0;
    for (let offset = 1; offset < line.length; count++) {
      if (line[offset] !== BACKSLASH || line[offset + 1] === BACKSLASH) {
        id[count] = line[offset] ?? 0;
        offset += line[offset] === BACKSLASH ? 2 : 1;
        continue;
      }
      const high = HEX[line[offset + 1] ?? 0] ?? NO_DIGIT;
      const low = HEX[line[offset + 2] ?? 0] ?? NO_DIGIT;
      if ((high | low) >= NO_DIGIT)
        throw this.#error('expected two hexadecimal digits after the backslash', 0);
      id[count] = (high << 4) | low;
      offset += 3;
    }
    if (count !== ID_BYTES) throw this.#error(`expected an ID of 4 bytes, not ${count}`, 0, 'R-9');
    const [a = 0, b = 0, c = 0, d = 0] = id;
    this.#put(this.#bigEndian ? word(d, c, b, a) : word(a, b, c, d));
  }

  /** Parses lines of two numbers up to the end of the block. */
  #parseNumbers(bytes: Uint8Array, from: number): number {
    let offset = from;
    while (offset < bytes.length) {
      this.#line++;
      let byte = bytes[offset]!;
      while (byte === SPACE || byte === TAB) byte = bytes[++offset]!;
      if (byte === HASH) {
        offset = bytes.indexOf(LF, offset) + 1;
        continue;
      }
      if (byte === CR) byte = bytes[++offset]!;
      if (byte === LF) {
        offset++;
        continue;
      }
      for (let side = 0; side < 2; side++) {
        const begin = offset;
        let value = 0;
        for (byte = bytes[offset]!; byte >= ZERO && byte <= ZERO + 9; byte = bytes[++offset]!) {
          value = value * 10 + byte - ZERO;
        }
        if (offset === begin) throw this.#error('expected two IDs separated by a blank or tab', 0, 'R-9');
        // The value of many digits is inexact but never small enough to pass the check.
        if (value > MAX_U32) throw this.#error(`an ID is at most ${MAX_U32}`, 0, 'R-9');
        while (byte === SPACE || byte === TAB) byte = bytes[++offset]!;
        this.#put(value);
      }
      if (byte === CR) byte = bytes[++offset]!;
      if (byte !== LF) throw this.#error('a line has more than two IDs', 0, 'R-9');
      offset++;
    }
    return offset;
  }

  #put(value: number): void {
    this.#batch[this.#filled++] = value;
    if (this.#filled === this.#batch.length) this.#flush();
  }

  #flush(): void {
    const whole = this.#filled - (this.#filled % 2);
    if (whole > 0) this.#onPairs(this.#batch.subarray(0, whole));
    this.#batch[0] = this.#batch[whole] ?? 0;
    this.#filled -= whole;
  }

  /** @param ahead the number of lines between the last counted line and the error */
  #error(problem: string, ahead: number, rule = 'R-19'): Error {
    return lineError(this.#file, this.#line + ahead, problem, rule);
  }
}

function word(low: number, second: number, third: number, high: number): number {
  return (low | (second << 8) | (third << 16) | (high << 24)) >>> 0;
}
