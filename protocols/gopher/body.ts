import { CR, LF } from '../ascii.js';
import { byteString, parseGopherItem } from './menu-decoder.js';

const DOT = 0x2e;

/**
 * The text of a text item: without the last line of one dot, doubled dots at line beginnings undone. Servers that send
 * files as they are end without that line; then nothing was doubled either and nothing is changed.
 */
export function gopherText(body: Uint8Array): Uint8Array {
  const end = terminatorAt(body);
  if (end < 0) return body;
  const text = body.subarray(0, end);
  const result = new Uint8Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const startsLine = at === 0 || text[at - 1] === LF;
    if (startsLine && text[at] === DOT && text[at + 1] === DOT) at += 1;
    result[length++] = text[at]!;
  }
  return result.slice(0, length);
}

/** Where the last line begins if it is a single dot; -1 if it is not. */
function terminatorAt(body: Uint8Array): number {
  let end = body.length;
  if (end > 0 && body[end - 1] === LF) end -= 1;
  if (end > 0 && body[end - 1] === CR) end -= 1;
  const isDot = end > 0 && body[end - 1] === DOT && (end === 1 || body[end - 2] === LF);
  return isDot ? end - 1 : -1;
}

/** An error's sentence is short; longer bodies are documents. */
const MAX_ERROR_BYTES = 4096;

/**
 * The message of an answer that is an error: Gopher has no status, only an item of type 3 in place of the document, perhaps
 * with lines for people around it.
 * @returns `undefined` when the answer is a document
 */
export function gopherError(body: Uint8Array): string | undefined {
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

/** How a Gopher+ answer goes on after its first line. */
export interface GopherPlusHeader {
  /** The answer is an error. */
  readonly failed: boolean;
  /** Bytes; -1: up to a line of one dot, -2: up to the end of the connection. */
  readonly length: number;
  /** Bytes of the line itself with its end. */
  readonly headerBytes: number;
}

/** The first line of an answer to a Gopher+ request; `undefined` when the server answers in the old way. */
export function gopherPlusHeader(body: Uint8Array): GopherPlusHeader | undefined {
  const start = byteString(body.subarray(0, 32));
  const match = /^([+-])(-[12]|\d{1,10})\r?\n/.exec(start);
  if (match === null) return undefined;
  return { failed: match[1] === '-', length: Number(match[2]), headerBytes: match[0].length };
}
