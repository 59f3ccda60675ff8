// Prints objects that are not held in memory: as a line of JSON, and their URLs.
import {
  attributeOf,
  hrefOfUrl,
  type OutlineAttribute,
  rangeOf,
  urlOfBytes,
} from '../../protocols/soif/index.js';
import { canonicalUrl, UrlResolver } from '../../protocols/urls/index.js';
import { type JsonLineHead, jsonHead } from './json-lines.js';
import type { LargeStreamObject } from './objects.js';

/** Characters of a line above which it is no URL. */
const MAX_LINE = 1024 * 1024;

/** The line of JSON that `jsonLine` makes of the same object, in pieces and without the line end. */
export async function* jsonPieces(
  large: LargeStreamObject,
  section: JsonLineHead['section'],
): AsyncGenerator<string, void, undefined> {
  const { head, attributes } = large.outline;
  yield `${JSON.stringify(jsonHead({ type: head.type, url: head.urlBytes, section })).slice(0, -1)},"attributes":[`;
  for (const [i, attribute] of attributes.entries()) {
    const isText = await isUtf8Value(large, attribute);
    const name = JSON.stringify(attribute.name);
    yield `${i === 0 ? '' : ','}{"name":${name},"${isText ? 'value' : 'base64'}":"`;
    const texts = isText ? textOf(large, attribute) : base64Of(large, attribute);
    for await (const text of texts) yield isText ? JSON.stringify(text).slice(1, -1) : text;
    yield '"}';
  }
  yield ']}';
}

async function isUtf8Value(large: LargeStreamObject, attribute: OutlineAttribute): Promise<boolean> {
  try {
    for await (const _ of textOf(large, attribute));
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** A value in pieces that end between characters. The iteration throws a TypeError if it is not UTF-8. */
async function* textOf(
  { source }: LargeStreamObject,
  { start, end }: OutlineAttribute,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const piece of source.pieces(start, end)) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}

async function* base64Of(
  { source }: LargeStreamObject,
  { start, end }: OutlineAttribute,
): AsyncGenerator<string, void, undefined> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of source.pieces(start, end)) {
    const bytes = Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % 3);
    yield bytes.toString('base64', 0, whole);
    rest = bytes.subarray(whole);
  }
  yield Buffer.from(rest).toString('base64');
}

/** The URLs that `urlReferences` yields of the same object. */
export async function* largeUrlReferences(large: LargeStreamObject): AsyncGenerator<string, void, undefined> {
  const { url } = large.outline.head;
  const own = canonicalUrl(hrefOfUrl(url));
  const resolver = own === undefined ? undefined : new UrlResolver(own);
  const attribute = attributeOf(large.outline, 'URL-References');
  if (attribute !== undefined) {
    for await (const line of linesOf(large, attribute)) {
      const reference = line.trim();
      if (reference === '') continue;
      const found = resolver === undefined ? canonicalUrl(reference) : resolver.resolve(reference);
      if (found !== undefined) yield found;
    }
  }
  yield own ?? url;
}

async function* linesOf(
  large: LargeStreamObject,
  attribute: OutlineAttribute,
): AsyncGenerator<string, void, undefined> {
  const texts = (await isUtf8Value(large, attribute)) ? textOf(large, attribute) : bytesOf(large, attribute);
  let open = '';
  let isTooLong = false;
  for await (const text of texts) {
    const lines = text.split('\n');
    for (const [i, line] of lines.entries()) {
      if (open.length + line.length > MAX_LINE) isTooLong = true;
      open = isTooLong ? '' : open + line;
      if (i === lines.length - 1) break;
      if (!isTooLong) yield open;
      open = '';
      isTooLong = false;
    }
  }
  if (open !== '') yield open;
}

/** A value that is not UTF-8: its bytes, percent-encoded, as in `urlReferences`. */
async function* bytesOf(
  { source }: LargeStreamObject,
  { start, end }: OutlineAttribute,
): AsyncGenerator<string, void, undefined> {
  for await (const piece of rangeOf(source, start, end).pieces()) yield hrefOfUrl(urlOfBytes(piece));
}
