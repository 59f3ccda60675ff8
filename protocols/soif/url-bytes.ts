// A URL as a string with one character a byte, so that every URL keeps its bytes and two URLs are never one
// string.
import { isUtf8 } from 'node:buffer';
import { AT, isSpace, SP } from '../ascii.js';
import { CLOSE_BRACE, OPEN_BRACE, unwritable } from './bytes.js';
import { SECTION_WORD } from './names.js';
import { decodeText } from './text.js';

/**
 * Harvest names no character set (SOIF-7.2, BRK-1.10) and a URL is a key (GATHERD-5.1: exact bytes), so this
 * kit decodes no URL: the string of a URL has one character for each byte, U+0000 to U+00FF. In ASCII, which is
 * all that most URLs have, that is the URL itself. Decoding as text would make one string of the bytes E9 and
 * C3 A9.
 */
export function urlOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/**
 * The bytes of a URL string.
 * @throws ProtocolError SOIF-2.9 for a character beyond U+00FF: the string is text, see {@link urlOfText}
 */
export function bytesOfUrl(url: string): Uint8Array {
  if (BEYOND_BYTES.test(url)) {
    throw unwritable('SOIF-2.9', `a URL has one character a byte, this is text: ${JSON.stringify(url)}`);
  }
  return Buffer.from(url, 'latin1');
}

/**
 * The URL of a text that a person or a Unicode document wrote: its bytes are the UTF-8 of the text (SOIF-7.4).
 */
export function urlOfText(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/**
 * The URL for people to read: UTF-8 where its bytes are, else windows-1252 (SOIF-7.4). Two URLs can look the
 * same.
 */
export function textOfUrl(url: string): string {
  return NOT_ASCII.test(url) ? decodeText(Buffer.from(url, 'latin1')) : url;
}

/**
 * The URL for JSON: `url` is text for people and scripts. If the bytes are not UTF-8 the text does not tell
 * them, and `urlBase64` has them.
 */
export function urlFields(url: string): { readonly url: string; readonly urlBase64?: string } {
  if (!NOT_ASCII.test(url)) return { url };
  const bytes = Buffer.from(url, 'latin1');
  return { url: decodeText(bytes), ...(isUtf8(bytes) ? {} : { urlBase64: bytes.toString('base64') }) };
}

/**
 * The URL for a link of a page: a browser sends exactly these bytes, because all but ASCII is percent-encoded.
 */
export function hrefOfUrl(url: string): string {
  return NOT_ASCII.test(url) ? url.replace(NOT_ASCII_ALL, percentEncoded) : url;
}

/**
 * The URL without white space and NUL (SOIF-2.9). Entries of former versions of this kit may have them. The
 * objects that these versions sent then had them percent-encoded, and that is the URL that peers know.
 */
export function escapeBlanks(url: string): string {
  return url.replace(/[\0\t-\r ]/g, percentEncoded);
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/**
 * Why a writer cannot write the URL of an object of this type so that readers read the same bytes (SOIF-2.9,
 * 4.2, 8.10); undefined if it can.
 *
 * The original library writes every URL as it is. Its reader skips braces before a URL, ends it at white space
 * and gives the rest to the first attribute's name (SOIF-4.4), and holds it as a C string, which ends at NUL:
 * it reads another URL than was written. This kit refuses such URLs, and the store or tool that meets one names
 * it. Percent-encoding would make one object of `a b` and `a%20b`. Every other byte is written as it is, also
 * braces and bytes beyond ASCII.
 */
export function urlProblem(url: Uint8Array, type = ''): string | undefined {
  const [first] = url;
  if (first === undefined) return 'a SOIF object needs a URL';
  let what: string | undefined;
  if (first === OPEN_BRACE || first === CLOSE_BRACE) what = 'begins with a brace';
  else if (first === AT && SECTION_WORD.test(type))
    what = 'begins with "@", which makes the object a section';
  for (let i = 0; i < url.length; i++) {
    const byte = url[i]!;
    if (byte > SP) continue;
    if (byte === 0) what ??= 'has a NUL';
    else if (isSpace(byte)) what ??= 'has white space';
  }
  return what && `the URL ${JSON.stringify(decodeText(url))} ${what}`;
}

/** Throws {@link urlProblem} as an error. @throws ProtocolError SOIF-2.9 */
export function assertWritableUrl(url: Uint8Array, type?: string): void {
  const problem = urlProblem(url, type);
  if (problem !== undefined) throw unwritable('SOIF-2.9', problem);
}

const NOT_ASCII = /[^\0-\x7f]/;
const NOT_ASCII_ALL = /[^\0-\x7f]/g;
const BEYOND_BYTES = /[^\0-\xff]/;
