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
  const end = findTerminator(body);
  if (end < 0) return body;
  const text = body.subarray(0, end);
  const result = new Uint8Array(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const startsLine = i === 0 || text[i - 1] === LF;
    if (startsLine && text[i] === DOT && text[i + 1] === DOT) i += 1;
    result[length++] = text[i]!;
  }
  return result.slice(0, length);
}

/** Returns the start of the last line if it is a single dot; otherwise -1. */
function findTerminator(body: Uint8Array): number {
  let end = body.length;
  if (end > 0 && body[end - 1] === LF) end -= 1;
  if (end > 0 && body[end - 1] === CR) end -= 1;
  const isDot = end > 0 && body[end - 1] === DOT && (end === 1 || body[end - 2] === LF);
  return isDot ? end - 1 : -1;
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
