// Writes an object unchanged, or refuses it.
import type { SoifValue } from './object.js';
import { encodeText } from './text.js';
import { unwritable } from './unwritable.js';
import { assertWritableUrl } from './url-bytes.js';

/** The parts of an object, as another notation holds them. */
export interface SoifParts {
  readonly type: string;
  readonly url: Uint8Array;
  readonly attributes: Iterable<readonly [name: string, value: SoifValue]>;
}

/** Characters that end a type or a name in strict mode: white space (SOIF-4.4) and braces (SOIF-4.2, 4.3). */
const NOT_A_TYPE = /[\t-\r {]/;
const NOT_A_NAME = /[\t-\r {}]/;

/**
 * Encodes an object in the layout of SOIF-2.2 without changes: empty values and duplicates stay and nothing is
 * renamed or percent-encoded, so an object that was read with `exact` has the same bytes again. `encodeSoif`
 * cleans instead.
 * @throws ProtocolError for a type, URL or name that readers would not read back (SOIF-2.8, SOIF-2.9).
 */
export function encodeVerbatim({ type, url, attributes }: SoifParts): Uint8Array {
  if (type === '' || NOT_A_TYPE.test(type))
    throw unwritable('SOIF-2.8', `not a template type for SOIF: ${JSON.stringify(type)}`);
  assertWritableUrl(url, type);
  const pieces: Uint8Array[] = [Buffer.from(`@${type} { `), url, LINE_END];
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
