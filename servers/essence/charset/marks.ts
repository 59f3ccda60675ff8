// Whether bytes are text: Unicode in units of two and four bytes, with and without a byte order mark, and texts
// in units of one byte.

import { viewOf } from '../bytes.js';

/** Bytes that are examined. */
const WINDOW_BYTES = 4096;
/** Units of a text without a mark; fewer prove nothing. */
const MIN_UNITS = 4;
/** The least share of spaces, line ends and ideographic stops, which other characters are not mistaken for. */
const MIN_SPACES = 0.01;
/** The least share of characters that are usual in texts. */
const MIN_USUAL = 0.98;

/** Share of control characters above which bytes are not text. */
const MAX_CONTROL_SHARE = 0.3;
/**
 * The same if as many bytes are beyond ASCII as in compressed data: texts in national character sets have no
 * control characters.
 */
const MAX_CONTROL_SHARE_OF_MIXED = 0.05;
const MIXED_SHARE = 0.3;

/**
 * Whether the bytes contain NUL or too many control characters. UTF-16 and UTF-32, with or without a byte order
 * mark, are text (E-77).
 */
export function isBinary(bytes: Uint8Array): boolean {
  const length = Math.min(bytes.length, WINDOW_BYTES);
  let control = 0;
  let high = 0;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i]!;
    if (byte === 0) return !isWideText(bytes);
    if (isControl(byte)) control++;
    else if (byte >= 0x80) high++;
  }
  const share = high > length * MIXED_SHARE ? MAX_CONTROL_SHARE_OF_MIXED : MAX_CONTROL_SHARE;
  return control > length * share && !isWideText(bytes);
}

/** Escape belongs to ISO-2022 text; backspace to carriage return is layout. */
export function isControl(byte: number): boolean {
  return byte === 0x7f || (byte < 0x20 && (byte < 0x08 || byte > 0x0d) && byte !== 0x1b);
}

/** Units after a mark that need a space, if not all are usual: other formats begin like a mark, too. */
const MARKED_UNITS = 16;

/** Whether bytes are a text in units of two or four bytes. */
export function isWideText(bytes: Uint8Array): boolean {
  const charset = wideCharset(bytes);
  if (charset === undefined) return false;
  const width = charset.startsWith('utf-32') ? 4 : 2;
  const view = viewOf(bytes.subarray(0, WINDOW_BYTES));
  const units = Math.floor(view.byteLength / width);
  const littleEndian = charset.endsWith('le');
  let spaces = 0;
  let usual = 0;
  for (let i = 0; i < units; i++) {
    const point = width === 4 ? view.getUint32(4 * i, littleEndian) : view.getUint16(2 * i, littleEndian);
    if (point === 0) return false;
    if (isSpace(point)) spaces++;
    if (isUsual(point)) usual++;
  }
  return units > 1 && (spaces > 0 || units < MARKED_UNITS || usual >= units * MIN_USUAL);
}

/**
 * The character set of a text in units of two or four bytes, by its mark or its first units; undefined for all
 * others.
 */
export function wideCharset(bytes: Uint8Array): string | undefined {
  const marked = byteOrderMark(bytes);
  return marked === undefined ? unmarkedCharset(bytes) : marked === 'utf-8' ? undefined : marked;
}

/** The character set that a byte order mark declares. */
function byteOrderMark(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'utf-32be';
  return undefined;
}

/**
 * The character set of a text in units of two or four bytes without a mark. Such a text contains control
 * characters if it is read byte by byte: a text in another character set has none of its spaces.
 */
function unmarkedCharset(bytes: Uint8Array): string | undefined {
  const window = bytes.subarray(0, WINDOW_BYTES);
  // Spaces and line ends have a byte that is NUL; so has an ideographic space, and an ideographic stop is
  // 0x3002.
  if (!window.includes(0) && !window.includes(2)) return undefined;
  const view = viewOf(window);
  for (const littleEndian of [true, false]) {
    if (isText(window.length >> 2, (i) => view.getUint32(4 * i, littleEndian)))
      return littleEndian ? 'utf-32le' : 'utf-32be';
  }
  for (const littleEndian of [true, false]) {
    if (isText(window.length >> 1, (i) => view.getUint16(2 * i, littleEndian)))
      return littleEndian ? 'utf-16le' : 'utf-16be';
  }
  return undefined;
}

function isText(units: number, unit: (i: number) => number): boolean {
  if (units < MIN_UNITS) return false;
  let spaces = 0;
  let usual = 0;
  let narrow = 0;
  for (let i = 0; i < units; i++) {
    const point = unit(i);
    if (point === 0) return false;
    if (isSpace(point)) spaces++;
    if (isUsual(point)) usual++;
    if (point < 0x3000) narrow++;
  }
  if (usual < units * MIN_USUAL) return false;
  // A word has no space, but then all its characters are of an alphabet.
  return spaces > 0 ? spaces >= units * MIN_SPACES : units < 16 && narrow === units;
}

function isSpace(point: number): boolean {
  return point === 0x20 || point === 0x0a || point === 0x0d || (point >= 0x3000 && point <= 0x3002);
}

function isUsual(point: number): boolean {
  if (point < 0x7f) return point >= 0x20 || (point >= 0x09 && point <= 0x0d);
  return (
    (point >= 0xa0 && point < 0x700) ||
    (point >= 0x900 && point < 0x1100) ||
    (point >= 0x1e00 && point < 0x2000) ||
    (point >= 0x2010 && point < 0x2070) ||
    (point >= 0x20a0 && point < 0x2700) ||
    (point >= 0x3000 && point < 0x3100) ||
    (point >= 0x4e00 && point < 0xa000) ||
    // Hangul, and the halves of characters beyond 0xFFFF in UTF-16.
    (point >= 0xac00 && point < 0xe000) ||
    (point >= 0x1f000 && point < 0x1fb00) ||
    (point >= 0x20000 && point < 0x30000) ||
    (point >= 0xff00 && point < 0xffe0) ||
    point === 0xfeff
  );
}
