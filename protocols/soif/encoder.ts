// Writes objects and attribute lists in the layout of SOIF-2.2.
import { bufferOf } from '../ascii.js';
import { unwritable } from './bytes.js';
import { cleanName, escapeName, isAttributeName } from './names.js';
import { DEFAULT_TYPE, type SoifObject, type SoifValue } from './object.js';
import type { SoifDialect } from './options.js';
import { encodeText } from './text.js';
import { assertWritableUrl } from './url-bytes.js';

/** Options of {@link encodeSoif}. */
export interface SoifEncoderOptions {
  /** `starts`: an object without URL is written `@type{` LF (SOIF-9.4). */
  readonly dialect?: SoifDialect;
}

/**
 * Encodes an object in the exact layout of SOIF-2.2. Attributes with an empty value (SOIF-3.2) and all but the
 * last of those with the same name (SOIF-5.2) are left out. Characters that a name or type must not have become
 * `-` (SOIF-2.8); a name that would then be that of another attribute is escaped instead: `a:b` beside `a-b`
 * becomes `a_3Ab`. The URL keeps its bytes: it is the object's key, and SOIF-2.9 allows all that readers read
 * back.
 * @throws ProtocolError SOIF-2.9 when the object has no URL, or one that readers would read otherwise (see
 *   `urlProblem`).
 */
export function encodeSoif(object: SoifObject, options: SoifEncoderOptions = {}): Uint8Array {
  const type = object.type === '' ? DEFAULT_TYPE : object.type.replace(/[^A-Za-z0-9-]/g, '-');
  const { url } = object;
  if (url !== '' || options.dialect !== 'starts') assertWritableUrl(object.urlBytes, type);
  const lines: Line[] = [];
  const names = writtenNamesOf(object);
  for (let i = 0; i < object.size; i++) {
    const name = object.nameAt(i);
    lines.push(makeLine(names?.get(name.toLowerCase()) ?? name, object.valueAt(i)));
  }
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

/**
 * Returns the names to write instead of those that an emitter must not write (SOIF-2.8, SOIF-3.8), by the folded name;
 * undefined if all are legal.
 */
export function writtenNames(all: readonly string[]): ReadonlyMap<string, string> | undefined {
  const odd: string[] = [];
  const used = new Set<string>();
  for (const name of all) {
    if (isAttributeName(name)) used.add(name.toLowerCase());
    else odd.push(name);
  }
  if (odd.length === 0) return undefined;
  const names = new Map<string, string>();
  for (const name of odd) {
    if (names.has(name.toLowerCase())) continue;
    let written = cleanName(name);
    if (used.has(written.toLowerCase())) written = escapeName(name);
    // An empty name has nothing to escape.
    while (written === '' || used.has(written.toLowerCase())) written += '_';
    used.add(written.toLowerCase());
    names.set(name.toLowerCase(), written);
  }
  return names;
}

/** {@link writtenNames} of an object; most objects have legal names only, so that nothing is collected for them. */
function writtenNamesOf(object: SoifObject): ReadonlyMap<string, string> | undefined {
  for (let i = 0; i < object.size; i++)
    if (!isAttributeName(object.nameAt(i)))
      return writtenNames(Array.from({ length: object.size }, (_, at) => object.nameAt(at)));
  return undefined;
}

/** One attribute: `name{size}:` HT, the value, LF. */
interface Line {
  readonly name: string;
  readonly head: string;
  readonly value: Uint8Array;
  /** Bytes of the value. */
  readonly size: number;
}

function makeLine(name: string, value: Uint8Array): Line {
  return { name, head: `${name}{${value.length}}:\t`, value, size: value.length };
}

/** Leaves out empty values and all but the last line of each name. */
export function selectWritten<T extends { readonly name: string; readonly size: number }>(
  lines: readonly T[],
): T[] {
  const last = new Map<string, T>();
  for (const line of lines) last.set(line.name.toLowerCase(), line);
  return lines.filter((line) => line.size > 0 && last.get(line.name.toLowerCase()) === line);
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
