// Reads the objects of a SOIF stream leniently.
import {
  type ByteSource,
  encodeSoif,
  rewriteLarge,
  SectionDecoder,
  type SectionItem,
  type SoifBytes,
  type SoifDecoderOptions,
  type SoifOutline,
  type SoifWarning,
  urlProblem,
} from '../../protocols/soif/index.js';
import { LargeLog, type LargeObjects, largeBytesOf } from '../connection/index.js';

/** An object that is not held in memory. */
export interface LargeStreamObject {
  readonly source: ByteSource;
  readonly outline: SoifOutline;
}

/** An object of a stream, with its bytes as received. */
export type StreamObject = Extract<SectionItem, { kind: 'object' }> & {
  /**
   * Instead of `bytes`, which are empty; of a large object `object` has only what {@link SoifOutline.head}
   * keeps.
   */
  readonly large?: LargeStreamObject;
};

export interface ReadOptions extends Omit<SoifDecoderOptions, 'mode' | 'largeBytes'> {
  /**
   * Keeps large objects outside the memory; see {@link StreamObject.large}. Default: every object is in memory.
   */
  readonly large?: LargeObjects;
  /** Called for each fault that was tolerated and each object left out, in the order of the stream. */
  readonly onWarning?: (warning: SoifWarning) => void;
}

/**
 * Yields the objects of a SOIF stream, read leniently (SOIF-4.4): a plain stream, or an update stream with its
 * sections unwrapped (SOIF-8.6, 8.9). An object is valid until the next one is requested. Malformed objects,
 * and those of more than `maxObjectBytes`, are reported and left out (SOIF-4.5).
 */
export async function* readObjects(
  chunks: AsyncIterable<Uint8Array>,
  { onWarning, large, ...options }: ReadOptions = {},
): AsyncGenerator<StreamObject, void, undefined> {
  const decoder = new SectionDecoder({ ...options, ...largeBytesOf(large), mode: 'lenient' });
  if (large === undefined) {
    for await (const chunk of chunks) yield* objectsOf(decoder.push(chunk), onWarning);
    yield* objectsOf(decoder.end(), onWarning);
    return;
  }
  const log = new LargeLog(large);
  const sourceOf: SourceOf = (item) => log.sourceOf(item);
  const followed = {
    itemOf: (item: SectionItem) => item,
    feed: (bytes: Uint8Array): readonly SectionItem[] => decoder.push(bytes),
  };
  try {
    for await (const chunk of chunks) {
      for await (const items of log.follow(decoder.push(chunk), followed))
        yield* objectsOf(items, onWarning, sourceOf);
    }
    for await (const items of log.follow(decoder.end(), followed))
      yield* objectsOf(items, onWarning, sourceOf);
  } finally {
    await log.close();
  }
}

type SourceOf = (item: Extract<SectionItem, { kind: 'large' }>) => ByteSource;

const NOTHING = new Uint8Array(0);

function* objectsOf(
  items: readonly SectionItem[],
  onWarning: ((warning: SoifWarning) => void) | undefined,
  sourceOf?: SourceOf,
): Generator<StreamObject, void, undefined> {
  for (const item of items) {
    if (item.kind === 'object') yield item;
    else if (item.kind === 'warning') onWarning?.(item);
    else if (item.kind === 'large' && sourceOf !== undefined) {
      const { section, offset, outline } = item;
      const { head: object, exact } = outline;
      const large = { source: sourceOf(item), outline };
      yield { kind: 'object', section, object, bytes: NOTHING, offset, exact, large };
    }
  }
}

/**
 * The object in the layout of SOIF-2.2: the received bytes if they have it, else newly encoded.
 *
 * @param onWarning called for an object whose URL cannot be written (SOIF-2.9); then the result is undefined
 */
export function exactBytes(
  { object, bytes, exact, offset, large }: StreamObject,
  onWarning: (warning: SoifWarning) => void,
): SoifBytes | undefined {
  const message = urlProblem(object.urlBytes, object.type);
  if (message === undefined) {
    if (large !== undefined) return exact ? large.source : rewriteLarge(large.source, large.outline);
    return exact ? bytes : encodeSoif(object);
  }
  onWarning({ kind: 'warning', rule: 'SOIF-2.9', offset, message });
  return undefined;
}
