// Which coding a body has: by its header, and by its first bytes where the header is wrong.
import { ConnectionError } from '../../protocols/errors.js';

/** A coding of RFC 9110 8.4.1 that is undone; servers disagree on what `deflate` is. */
export type NamedCoding = 'gzip' | 'deflate' | 'br';
/** The form that the bytes of a body have. */
export type CodingForm = 'gzip' | 'zlib' | 'raw-deflate' | 'br' | 'plain';

/** Maximum number of codings in one Content-Encoding. */
const MAX_CODINGS = 3;
/** Bytes of a body that show its form. */
export const FORM_BYTES = 1024;

const NAMES: ReadonlyMap<string, NamedCoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);

/** Codings that a body may really have, and that are not undone. */
const OTHERS: ReadonlySet<string> = new Set(
  'compress x-compress zstd dcb dcz exi pack200-gzip aes128gcm sdch bzip2 x-bzip2 lzma x-lzma xz lz4'.split(
    ' ',
  ),
);

/**
 * Returns the codings of a body, in the order of their application. Parameters and quotes are ignored, and so is a
 * word that is not a coding: servers write character sets and media types there.
 * @param header the values of Content-Encoding, with commas between them
 * @throws ConnectionError for a coding that is not undone, and for too many
 */
export function namedCodings(header: string): readonly NamedCoding[] {
  const words = header.split(',').map((word) => /^[\s"']*([^\s"';]*)/.exec(word)![1]!.toLowerCase());
  const other = words.find((word) => OTHERS.has(word));
  if (other !== undefined)
    throw new ConnectionError(`the answer has the unknown content coding ${JSON.stringify(other)}`);
  const codings = words.flatMap((word) => NAMES.get(word) ?? []);
  if (codings.length > MAX_CODINGS) throw new ConnectionError('the answer has too many content codings');
  return codings;
}

/**
 * Returns the forms that a body with a coding may have, the most likely one first. A server may name a coding that the
 * body does not have, or another one.
 * @param beginning the first {@link FORM_BYTES} of the body, or all of it
 */
export function possibleForms(coding: NamedCoding, beginning: Uint8Array): readonly CodingForm[] {
  const [first = 0, second = 0, third] = beginning;
  if (first === 0x1f && second === 0x8b && third === 8) return ['gzip'];
  if (isText(beginning)) return ['plain'];
  // RFC 1950 2.2: method 8, and a check over both bytes.
  const isZlib = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
  if (coding === 'deflate') return isZlib ? ['zlib', 'raw-deflate'] : ['raw-deflate', 'zlib'];
  if (coding === 'br') return ['br'];
  return isZlib ? ['zlib'] : ['gzip'];
}

/** Returns whether a body with a coding is expected to have this form. */
export function isExpected(coding: NamedCoding, form: CodingForm): boolean {
  return coding === 'deflate' ? form === 'zlib' || form === 'raw-deflate' : form === coding;
}

/** A compressed body has bytes that no text has, unless it is very short. */
function isText(beginning: Uint8Array): boolean {
  if (beginning.length < 5 || beginning.some(isControl)) return false;
  try {
    // The last character may be cut.
    new TextDecoder('utf-8', { fatal: true }).decode(beginning, { stream: true });
    return true;
  } catch {
    return false; // not UTF-8
  }
}

/** HT, LF, VT, FF, CR and ESC occur in texts. */
function isControl(byte: number): boolean {
  return byte < 0x09 || (byte > 0x0d && byte < 0x20 && byte !== 0x1b) || byte === 0x7f;
}
