// The body of a Gopher reply: the end of a text, an error, the first line of Gopher+.
import { CR, LF } from '../ascii.js';
import { byteString, parseGopherItem } from './menu-decoder.js';

const DOT = 0x2e;

/**
 * Decodes the text of a text item: removes the last line of one dot and undoubles dots at line beginnings.
 * Servers that send files unchanged omit that line; then no dots are doubled and the body is returned
 * unchanged.
 */
export function decodeGopherText(body: Uint8Array): Uint8Array {
  const mark = gopherTextEnd(body);
  return mark === 0 ? body : new DotUnstuffer().push(body.subarray(0, body.length - mark));
}

/**
 * Returns the bytes of a text's end mark, with the end of its line; 0 without one.
 * @param end the last bytes of the text: from four on they suffice
 */
export function gopherTextEnd(end: Uint8Array): number {
  let length = end.length;
  if (length > 0 && end[length - 1] === LF) length -= 1;
  if (length > 0 && end[length - 1] === CR) length -= 1;
  const isDot = length > 0 && end[length - 1] === DOT && (length === 1 || end[length - 2] === LF);
  return isDot ? end.length - length + 1 : 0;
}

/** Removes the second dot of lines that begin with two, in a text that comes in pieces. */
export class DotUnstuffer {
  #startsLine = true;
  /** The line so far is one dot, which was written. */
  #hasDot = false;

  /** Returns the bytes of the text, which are not shared. */
  push(piece: Uint8Array): Uint8Array {
    const result = new Uint8Array(piece.length);
    let length = 0;
    for (const byte of piece) {
      const isSecond = this.#hasDot && byte === DOT;
      this.#hasDot = this.#startsLine && byte === DOT;
      this.#startsLine = byte === LF;
      if (!isSecond) result[length++] = byte;
    }
    return result.slice(0, length);
  }
}

/** Bytes of the longest error; longer bodies are documents. */
const MAX_ERROR_BYTES = 4096;

/**
 * Returns the message of an error reply. Gopher has no status: an error is an item of type 3 instead of the
 * document, possibly with information lines around it.
 * @returns `undefined` when the reply is a document
 */
export function parseGopherError(body: Uint8Array): string | undefined {
  if (body.length === 0 || body.length > MAX_ERROR_BYTES) return undefined;
  const lines = byteString(body).split(/\r?\n/);
  let message: string | undefined;
  for (const line of lines) {
    if (line === '' || line === '.') continue;
    const item = parseGopherItem(line);
    if (item === undefined || (item.type !== '3' && item.type !== 'i')) return undefined;
    if (item.type === '3') message ??= item.display;
  }
  return message;
}

/** The first line of a Gopher+ reply. */
export interface GopherPlusHeader {
  /** Whether the reply is an error. */
  readonly failed: boolean;
  /** Bytes of the body; -1: up to a line of one dot, -2: up to the end of the connection. */
  readonly length: number;
  /** Bytes of the line, including its end. */
  readonly headerBytes: number;
}

/**
 * Parses the first line of a reply to a Gopher+ request; `undefined` when the server replies as in RFC 1436.
 */
export function parseGopherPlusHeader(body: Uint8Array): GopherPlusHeader | undefined {
  const start = byteString(body.subarray(0, 32));
  const match = /^([+-])(-[12]|\d{1,10})\r?\n/.exec(start);
  if (match === null) return undefined;
  return { failed: match[1] === '-', length: Number(match[2]), headerBytes: match[0].length };
}
