// Reads the objects of a SOIF stream leniently.
import {
  encodeSoif,
  SectionDecoder,
  type SectionItem,
  type SoifDecoderOptions,
  type SoifWarning,
} from '../../protocols/soif/index.js';

/** An object of a stream, with its bytes as received. */
export type StreamObject = Extract<SectionItem, { kind: 'object' }>;

export interface ReadOptions extends Omit<SoifDecoderOptions, 'mode'> {
  /** Called for what was tolerated or left out, in the order of the stream. */
  readonly onWarning?: (warning: SoifWarning) => void;
}

/**
 * Yields the objects of a SOIF stream, read leniently (SOIF-4.4): a plain stream, or an update stream with its sections
 * unwrapped (SOIF-8.6, 8.9). An object is valid until the next one is requested. Malformed objects, and those of more than
 * `maxObjectBytes`, are reported and left out (SOIF-4.5).
 */
export async function* readObjects(
  chunks: AsyncIterable<Uint8Array>,
  { onWarning, ...options }: ReadOptions = {},
): AsyncGenerator<StreamObject, void, undefined> {
  const decoder = new SectionDecoder({ ...options, mode: 'lenient' });
  for await (const chunk of chunks) yield* objectsOf(decoder.push(chunk), onWarning);
  yield* objectsOf(decoder.end(), onWarning);
}

function* objectsOf(
  items: readonly SectionItem[],
  onWarning: ((warning: SoifWarning) => void) | undefined,
): Generator<StreamObject, void, undefined> {
  for (const item of items) {
    if (item.kind === 'object') yield item;
    else if (item.kind === 'warning') onWarning?.(item);
  }
}

/**
 * The object in the layout of SOIF-2.2: the received bytes if they have it, else newly encoded. Undefined for an object
 * without a URL, which cannot be encoded.
 */
export function exactBytes({ object, bytes, exact }: StreamObject): Uint8Array | undefined {
  if (exact) return bytes;
  return object.urlBytes.length === 0 ? undefined : encodeSoif(object);
}
