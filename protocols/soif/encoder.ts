// Writes objects and attribute lists in the layout of SOIF-2.2.
import { bufferOf, SP } from '../ascii.js';
import { CLOSE_BRACE, OPEN_BRACE } from './bytes.js';
import { cleanName, isAttributeName } from './names.js';
import { DEFAULT_TYPE, type SoifObject, type SoifValue, unwritable } from './object.js';
import type { SoifDialect } from './options.js';
import { encodeText } from './text.js';

/** Options of {@link encodeSoif}. */
export interface SoifEncoderOptions {
  /** `starts`: an object without URL is written `@type{` LF (SOIF-9.4). */
  readonly dialect?: SoifDialect;
}

/**
 * Encodes an object in the exact layout of SOIF-2.2. Attributes with an empty value (SOIF-3.2) and all but the last of
 * those with the same name (SOIF-5.2) are left out. Bytes that a URL must not have are percent-encoded (SOIF-2.9);
 * characters that a name or type must not have become `-` (SOIF-2.8), so every object that was read can be written.
 * @throws ProtocolError when the object has no URL.
 */
export function encodeSoif(object: SoifObject, options: SoifEncoderOptions = {}): Uint8Array {
  const type = object.type === '' ? DEFAULT_TYPE : object.type.replace(/[^A-Za-z0-9-]/g, '-');
  const url = encodeUrl(object.urlBytes);
  if (url === '' && options.dialect !== 'starts') throw unwritable('SOIF-2.9', 'a SOIF object needs a URL');
  const lines: Line[] = [];
  for (let i = 0; i < object.size; i++) lines.push(makeLine(cleanName(object.nameAt(i)), object.valueAt(i)));
  return concatenate(url === '' ? `@${type}{\n` : `@${type} { ${url}\n`, selectWritten(lines), '}\n');
}

/**
 * Encodes attribute lines only, as a summarizer writes them (SOIF-3.7), by the rules of {@link encodeSoif}.
 * @throws ProtocolError for a name that an emitter must not write (SOIF-2.8).
 */
export function encodeAttributes(pairs: Iterable<readonly [name: string, value: SoifValue]>): Uint8Array {
  const lines: Line[] = [];
  for (const [name, value] of pairs) {
    if (!isAttributeName(name))
      throw unwritable('SOIF-2.8', `not a SOIF attribute name: ${JSON.stringify(name)}`);
    lines.push(makeLine(name, encodeText(value)));
  }
  return concatenate('', selectWritten(lines), '');
}

/** One attribute: `name{size}:` HT, the value, LF. */
interface Line {
  readonly name: string;
  readonly head: string;
  readonly value: Uint8Array;
}

function makeLine(name: string, value: Uint8Array): Line {
  return { name, head: `${name}{${value.length}}:\t`, value };
}

/** Leaves out empty values and all but the last line of each name. */
function selectWritten(lines: readonly Line[]): Line[] {
  const last = new Map<string, Line>();
  for (const line of lines) last.set(line.name.toLowerCase(), line);
  return lines.filter((line) => line.value.length > 0 && last.get(line.name.toLowerCase()) === line);
}

function concatenate(head: string, lines: readonly Line[], tail: string): Uint8Array {
  let length = head.length + tail.length;
  for (const { head, value } of lines) length += head.length + value.length + 1;
  const bytes = bufferOf(new Uint8Array(length));
  let at = bytes.write(head, 0, 'latin1');
  for (const { head, value } of lines) {
    at += bytes.write(head, at, 'latin1');
    bytes.set(value, at);
    at += value.length;
    at += bytes.write('\n', at, 'latin1');
  }
  bytes.write(tail, at, 'latin1');
  return new Uint8Array(bytes.buffer);
}

/** SOIF-2.9: white space, controls, braces and bytes beyond ASCII are percent-encoded. */
function encodeUrl(url: Uint8Array): string {
  let text = '';
  for (const byte of url) {
    const unsafe = byte <= SP || byte >= 0x7f || byte === OPEN_BRACE || byte === CLOSE_BRACE;
    text += unsafe ? `%${byte.toString(16).toUpperCase().padStart(2, '0')}` : String.fromCharCode(byte);
  }
  return text;
}
