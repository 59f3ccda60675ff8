// Writes an object unchanged, or refuses it.
import { bufferOf, isSpace } from '../ascii.js';
import { CLOSE_BRACE, OPEN_BRACE } from './bytes.js';
import { type SoifValue, unwritable } from './object.js';
import { encodeText } from './text.js';

/** The parts of an object, as another notation holds them. */
export interface SoifParts {
  readonly type: string;
  readonly url: SoifValue;
  readonly attributes: Iterable<readonly [name: string, value: SoifValue]>;
}

/** Characters that end a type or a name in strict mode: white space (SOIF-4.4) and braces (SOIF-4.2, 4.3). */
const NOT_A_TYPE = /[\t-\r {]/;
const NOT_A_NAME = /[\t-\r {}]/;

/**
 * Encodes an object in the layout of SOIF-2.2 without changes: empty values and duplicates stay and nothing is renamed
 * or percent-encoded, so an object that was read with `exact` has the same bytes again. `encodeSoif` cleans instead.
 * @throws ProtocolError for a type, URL or name that strict mode would not read back (SOIF-2.8, SOIF-2.9, SOIF-4.4).
 */
export function encodeVerbatim({ type, url, attributes }: SoifParts): Uint8Array {
  if (type === '' || NOT_A_TYPE.test(type))
    throw unwritable('SOIF-2.8', `not a template type for SOIF: ${JSON.stringify(type)}`);
  const address = bufferOf(encodeText(url));
  const first = address[0];
  if (first === undefined || first === OPEN_BRACE || first === CLOSE_BRACE || address.some(isUnsafe)) {
    throw unwritable('SOIF-2.9', `not a URL for SOIF: ${JSON.stringify(address.toString('utf8'))}`);
  }
  const pieces: Uint8Array[] = [Buffer.from(`@${type} { `), address, LINE_END];
  for (const [name, value] of attributes) {
    if (name === '' || NOT_A_NAME.test(name))
      throw unwritable('SOIF-2.8', `not an attribute name for SOIF: ${JSON.stringify(name)}`);
    const bytes = encodeText(value);
    pieces.push(Buffer.from(`${name}{${bytes.length}}:\t`), bytes, LINE_END);
  }
  pieces.push(Buffer.from('}\n'));
  return Buffer.concat(pieces);
}

const LINE_END = Buffer.from('\n');

/** White space ends a URL; 0xFF is not a byte of text in any encoding (SOIF-4.4). */
function isUnsafe(byte: number): boolean {
  return isSpace(byte) || byte === 0xff;
}
