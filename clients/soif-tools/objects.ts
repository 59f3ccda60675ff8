import {
  encodeSoif,
  SectionDecoder,
  type SectionItem,
  type SoifDecoderOptions,
  type SoifWarning,
} from '../../protocols/soif/index.js';

/** An object of a stream, with the bytes it came in. */
export type StreamObject = Extract<SectionItem, { kind: 'object' }>;

export interface ReadOptions extends Omit<SoifDecoderOptions, 'mode'> {
  /** Told what was tolerated or left out, in the order of the stream. */
  readonly onWarning?: (warning: SoifWarning) => void;
}

/**
 * The objects of a SOIF stream, read leniently (SOIF-4.4): plain, or an update stream with its sections unwrapped
 * (SOIF-8.6, 8.9). Each is valid until the next is asked for. What is malformed is told of and left out
 * (SOIF-4.5); an object of more than `maxObjectBytes` is too.
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
 * The object in the layout of SOIF-2.2: the bytes it came in when they have it, else written anew. `undefined` for
 * an object that cannot be written, since it has no URL.
 */
export function exactBytes({ object, bytes, exact }: StreamObject): Uint8Array | undefined {
  if (exact) return bytes;
  return object.urlBytes.length === 0 ? undefined : encodeSoif(object);
}
