// Converts SOIF to JSON lines and back.
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { bufferOf, LF } from '../../protocols/ascii.js';
import { ProtocolError } from '../../protocols/errors.js';
import { encodeVerbatim, type SectionName, type SoifObject } from '../../protocols/soif/index.js';

/** Text without lone surrogates, which UTF-8 cannot encode. */
const TEXT = z.string().refine((text) => !/\p{Surrogate}/u.test(text), 'a lone surrogate is not text');

/** One attribute as JSON: text when the value is UTF-8, base64 of its bytes when not. */
const ATTRIBUTE = z.union([
  z.strictObject({ name: TEXT, value: TEXT }),
  z.strictObject({ name: TEXT, base64: z.base64() }),
]);

const SECTION = z.enum(['delete', 'refresh', 'update']);
const OBJECT = z.union([
  z.strictObject({
    type: TEXT,
    url: TEXT,
    section: SECTION.optional(),
    attributes: z.array(ATTRIBUTE),
  }),
  z.strictObject({
    type: TEXT,
    urlBase64: z.base64(),
    section: SECTION.optional(),
    attributes: z.array(ATTRIBUTE),
  }),
]);

/** Arrays and objects in each other; an object of SOIF has three. */
const MAX_DEPTH = 16;
/** Values of one line: four for each of as many attributes as the decoder accepts. */
const MAX_VALUES = 4 * 65_536;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Longest line: an object of the decoder's default limit, in base64. */
const MAX_LINE_BYTES = 96 * 1024 * 1024;

/**
 * Returns the object as one line of JSON, without the line end. Nothing is lost: attributes keep their order,
 * duplicates and empty values are included, bytes that are not UTF-8 are in base64 (SOIF-1.2). `section` is
 * written unless it is `update`, so that deleted objects are recognized (SOIF-8.4).
 */
export function jsonLine(object: SoifObject, section: SectionName = 'update'): string {
  return JSON.stringify({
    ...jsonHead({ type: object.type, url: object.urlBytes, section }),
    attributes: object.attributes.map(({ name, value }) =>
      isUtf8(value)
        ? { name, value: bufferOf(value).toString('utf8') }
        : { name, base64: bufferOf(value).toString('base64') },
    ),
  });
}

/** What a line has before the attributes. */
export interface JsonLineHead {
  readonly type: string;
  readonly url: Uint8Array;
  readonly section: SectionName;
}

/** The members of a line before `attributes`, in their order. */
export function jsonHead({ type, url, section }: JsonLineHead): Readonly<Record<string, string>> {
  return {
    type,
    ...(isUtf8(url)
      ? { url: bufferOf(url).toString('utf8') }
      : { urlBase64: bufferOf(url).toString('base64') }),
    ...(section === 'update' ? {} : { section }),
  };
}

export interface JsonLinesOptions {
  /** Maximum number of bytes of one line; default 96 MiB. */
  readonly maxLineBytes?: number;
}

/** The object of a line of JSON, in the layout of SOIF-2.2. */
export interface JsonLineObject {
  readonly bytes: Uint8Array;
  readonly section: SectionName;
}

/**
 * Reads the lines of {@link jsonLine}; empty lines are skipped. An object that was exact gets its original
 * bytes.
 * @throws ProtocolError with the number of the malformed line and the offset of its first byte
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  options: JsonLinesOptions = {},
): AsyncGenerator<JsonLineObject, void, undefined> {
  let number = 0;
  let offset = 0;
  for await (const line of linesOf(chunks, options.maxLineBytes ?? MAX_LINE_BYTES)) {
    number++;
    const object = line === undefined ? undefined : parseLine(line, number, offset);
    if (line === undefined) throw lineError(number, offset, 'SOIF-4.4', 'the line is too long');
    offset += line.length + 1;
    if (object !== undefined) yield object;
  }
}

function parseLine(line: Uint8Array, number: number, offset: number): JsonLineObject | undefined {
  if (!isUtf8(line)) throw lineError(number, offset, 'SOIF-7.4', 'not UTF-8');
  const text = bufferOf(line).toString('utf8').trim();
  if (text === '') return undefined;
  const excess = excessOf(line);
  if (excess !== undefined) throw lineError(number, offset + excess.at, 'SOIF-4.4', excess.problem);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw lineError(number, offset, 'SOIF-1.1', `not JSON: ${(error as Error).message}`);
  }
  const result = OBJECT.safeParse(json);
  if (!result.success) {
    throw lineError(number, offset, 'SOIF-1.1', `not an object of this form: ${describeIssue(result.error)}`);
  }
  const { type, section = 'update', attributes } = result.data;
  const url =
    'url' in result.data ? Buffer.from(result.data.url) : Buffer.from(result.data.urlBase64, 'base64');
  const pairs = attributes.map((attribute): [string, string | Uint8Array] => [
    attribute.name,
    'value' in attribute ? attribute.value : Buffer.from(attribute.base64, 'base64'),
  ]);
  try {
    return { bytes: encodeVerbatim({ type, url, attributes: pairs }), section };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw lineError(number, offset, error.rule, error.problem);
  }
}

/**
 * What makes a line cost far more memory than its length, before it is parsed: each bracket and each value of
 * two bytes takes up to fifty. A quotation mark ends a string unless an odd number of backslashes precede it.
 */
function excessOf(line: Uint8Array): { readonly at: number; readonly problem: string } | undefined {
  if (line.length <= MAX_VALUES) return undefined;
  let depth = 0;
  let values = 0;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === QUOTE) {
      at = endOfString(line, at + 1);
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth++;
      values++;
      if (depth > MAX_DEPTH) return { at, problem: `more than ${MAX_DEPTH} nested values` };
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      depth--;
    } else if (byte === COMMA) {
      values++;
    }
    if (values > MAX_VALUES) return { at, problem: `more than ${MAX_VALUES} values` };
  }
  return undefined;
}

/** The offset of the quotation mark that ends a string; the length of the line if the string has no end. */
function endOfString(line: Uint8Array, start: number): number {
  for (let end = line.indexOf(QUOTE, start); end >= 0; end = line.indexOf(QUOTE, end + 1)) {
    let before = end;
    while (before > start && line[before - 1] === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return line.length;
}

/** The most specific validation error as text. */
function describeIssue(error: z.ZodError): string {
  const { path, message } = error.issues.map((issue) => deepestIssue(issue, [])).reduce(deeperOf);
  return `${path.join('.') || 'the line'}: ${message}`;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * The issue with the longest path: of several forms (url or urlBase64, value or base64) it is the most
 * specific.
 */
function deepestIssue(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): Issue {
  const path = [...above, ...issue.path];
  const forms = issue.code === 'invalid_union' ? issue.errors.flat() : [];
  if (forms.length === 0) return { path, message: issue.message };
  return forms.map((nested) => deepestIssue(nested, path)).reduce(deeperOf);
}

function deeperOf(a: Issue, b: Issue): Issue {
  return b.path.length > a.path.length ? b : a;
}

function lineError(number: number, offset: number, rule: string, message: string): ProtocolError {
  return new ProtocolError(`line ${number}: ${message}`, { protocol: 'soif', rule, offset });
}

/** Yields the lines without their ends; undefined, as the last one, for a line longer than `limit`. */
async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array | undefined, void, undefined> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(LF, from);
      const piece = chunk.subarray(from, end < 0 ? undefined : end);
      held += piece.length;
      if (held > limit) {
        yield undefined;
        return;
      }
      pieces.push(piece);
      if (end < 0) break;
      yield pieces.length === 1 ? piece : Buffer.concat(pieces);
      pieces = [];
      held = 0;
      from = end + 1;
    }
  }
  if (held > 0) yield Buffer.concat(pieces);
}
