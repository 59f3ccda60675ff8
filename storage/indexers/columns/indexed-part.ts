// The part of a large object that is indexed and matched.
import {
  type ByteSource,
  cutText,
  decodeSoif,
  encodeSoif,
  type OutlineAttribute,
  readOutline,
  readRange,
  rewriteLarge,
  SoifObject,
} from '../../../protocols/soif/index.js';
import { largeBuffer } from '../../files/large-buffer.js';

/**
 * Returns an object as it is, or, if it is longer than `maxBytes`, a copy whose longest values are cut to the
 * same length so that it has `maxBytes` bytes at most, and is returned as it is the next time. A value is cut
 * between words if it has any.
 *
 * @throws ProtocolError if a large object is not valid SOIF
 */
export function indexedPart(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (bytes.length <= maxBytes) return bytes;
  const object = decodeSoif(bytes, { maxObjectBytes: bytes.length, maxValueBytes: bytes.length });
  const values = [...object];
  const limit = commonLimit(
    values.map(({ value }) => value.length),
    bytes.length,
    maxBytes,
  );
  const cut = values.map(({ name, value }) => [name, cutText(value, limit)] as const);
  return encodeSoif(SoifObject.of(object.type, object.url, cut));
}

/**
 * Like {@link indexedPart}, for an object that is not in memory: of longer ones only the result is.
 *
 * @throws ProtocolError if the object is not valid SOIF; the errors of the source
 */
export async function indexedPartOf(source: ByteSource, maxBytes: number): Promise<Uint8Array> {
  if (source.length <= maxBytes) return readRange(source, 0, source.length, largeBuffer(source.length));
  const outline = await readOutline(source);
  const limit = commonLimit(
    outline.attributes.map(({ start, end }) => end - start),
    source.length,
    maxBytes,
  );
  const attributes: OutlineAttribute[] = [];
  for (const attribute of outline.attributes) attributes.push(await cutAttribute(source, attribute, limit));
  const part = rewriteLarge(source, { ...outline, attributes });
  return readRange(part, 0, part.length, largeBuffer(part.length));
}

async function cutAttribute(
  source: ByteSource,
  { name, start, end }: OutlineAttribute,
  limit: number,
): Promise<OutlineAttribute> {
  if (end - start <= limit) return { name, start, end };
  // `cutText` looks at less than this before the limit.
  const skipped = Math.max(0, limit - 2048);
  const around = await readRange(source, start + skipped, start + limit + 1);
  return { name, start, end: start + skipped + cutText(around, limit - skipped).length };
}

/** The length to which values must be cut so that an object of `objectBytes` bytes has `maxBytes` at most. */
function commonLimit(lengths: readonly number[], objectBytes: number, maxBytes: number): number {
  const ascending = [...lengths].sort((a, b) => a - b);
  const others = objectBytes - lengths.reduce((sum, bytes) => sum + bytes, 0);
  const total = Math.max(0, maxBytes - others);
  let left = total;
  for (let i = 0; i < ascending.length; i++) {
    const share = Math.floor(left / (ascending.length - i));
    const length = ascending[i] ?? 0;
    if (length > share) return share;
    left -= length;
  }
  return total;
}
