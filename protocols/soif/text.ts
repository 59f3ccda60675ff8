// Text in SOIF values (SOIF-7.4).
import { isAscii, isUtf8 } from 'node:buffer';
import { bufferOf } from '../ascii.js';

/** The characters of windows-1252 at 0x80 to 0x9F; the five codes it leaves free stay C1 controls. */
const WINDOWS_1252_HIGH =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/**
 * Decodes a value for people: UTF-8 where the bytes are valid UTF-8, else windows-1252 (SOIF-7.4). Never fails.
 */
export function decodeText(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (isUtf8(buffer)) return buffer.toString('utf8');
  return buffer
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (control) => WINDOWS_1252_HIGH.charAt(control.charCodeAt(0) - 0x80));
}

/** Encodes text as UTF-8 (SOIF-7.4); bytes pass unchanged. */
export function encodeText(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
}

/**
 * SOIF-4.7: returns a text of several lines with a final LF, which the Perl library of 1995 drops; a single
 * line stays as it is.
 */
export function endLastLine(text: string): string {
  return text.includes('\n') && !text.endsWith('\n') ? `${text}\n` : text;
}

/** Bytes before the limit in which {@link cutText} looks for the end of a word. */
const MAX_WORD_BYTES = 1024;
const SPACE = 0x20;

/**
 * Cuts a value to at most `limit` bytes: between two words, or between two characters of UTF-8 if it is one
 * word.
 */
export function cutText(value: Uint8Array, limit: number): Uint8Array {
  if (value.length <= limit) return value;
  let end = limit;
  while (end > 0 && limit - end < MAX_WORD_BYTES && (value[end] ?? 0) > SPACE) end--;
  if (end > 0 && limit - end < MAX_WORD_BYTES) return value.subarray(0, end);
  end = limit;
  while (end > 0 && limit - end < 3 && ((value[end] ?? 0) & 0xc0) === 0x80) end--;
  return value.subarray(0, end);
}

const BEYOND_ASCII = /[\x80-\xff]/g;

/**
 * Decodes lines that may be URLs: a list of URLs, the RootNodes of a configuration. Lines are UTF-8. In a line
 * that is not, and that begins like a URL, bytes beyond ASCII are percent-encoded, so that the server gets
 * exactly these bytes; any other line is windows-1252 (SOIF-7.4). A replacement character instead would make
 * one URL of two.
 */
export function decodeUrlLines(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (isUtf8(buffer)) return buffer.toString('utf8');
  return buffer.toString('latin1').split('\n').map(decodeLine).join('\n');
}

function decodeLine(line: string): string {
  const bytes = Buffer.from(line, 'latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  if (!/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(line)) return decodeText(bytes);
  return line.replace(BEYOND_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}
