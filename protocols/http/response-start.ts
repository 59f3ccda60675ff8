// Recognizes by its first bytes whether a response has a head.
import { CR, isBlank, LF } from '../ascii.js';

/** Blanks and line ends before a status line that are skipped. */
const MAX_BLANK_BYTES = 64;
/**
 * Other bytes before it that are skipped, as in browsers: the rest of a byte order mark or of an earlier body.
 */
const MAX_JUNK_BYTES = 4;

const LESS_THAN = 0x3c;

/** What the first bytes of a response show; `more`: not enough bytes yet. */
export type ResponseStart = 'more' | 'head' | 'body' | 'tls';

/**
 * Recognizes a response by its first bytes. Without `HTTP/` or `ICY` near the beginning it is the body of
 * HTTP/0.9.
 */
export function recognizeStart(bytes: Uint8Array): ResponseStart {
  // A TLS alert: the port is that of https.
  if (bytes[0] === 0x15 && (bytes.length < 2 || bytes[1] === 0x03)) return bytes.length < 2 ? 'more' : 'tls';
  let start = 0;
  while (start < Math.min(bytes.length, MAX_BLANK_BYTES) && isBlankOrEnd(bytes[start]!)) start++;
  if (start === bytes.length) return 'more';
  let isOpen = false;
  for (let junk = 0; junk <= MAX_JUNK_BYTES; junk++) {
    const found = beginsHead(bytes, start + junk, junk === 0);
    if (found === 'head') return 'head';
    isOpen ||= found === 'more';
    // A page may mention HTTP near its beginning, as text or in its second line.
    const byte = bytes[start + junk];
    if (byte === LESS_THAN || byte === CR || byte === LF) break;
  }
  return isOpen ? 'more' : 'body';
}

function isBlankOrEnd(byte: number): boolean {
  return isBlank(byte) || byte === CR || byte === LF;
}

/** Compares the bytes with the beginnings of a status line, as far as they have arrived. */
function beginsHead(bytes: Uint8Array, from: number, isFirst: boolean): 'head' | 'more' | 'other' {
  const text = String.fromCharCode(...bytes.subarray(from, from + 6)).toUpperCase();
  if (/^HTTP(?:\/|[ \t]\d)/.test(text) || (isFirst && /^ICY[ \t]/.test(text))) return 'head';
  const isBeginning =
    'HTTP'.startsWith(text) || /^HTTP[ \t]$/.test(text) || (isFirst && 'ICY'.startsWith(text));
  return isBeginning ? 'more' : 'other';
}
