// Objects whose bytes are not in memory: reads where their attributes are, and writes them with changes.
import { ProtocolError } from '../errors.js';
import { NO_SINK } from './decoder.js';
import { selectWritten, writtenNames } from './encoder.js';
import type { OutlineAttribute, SoifOutline } from './kept-attributes.js';
import { DEFAULT_TYPE, type SoifObject, type SoifValue, withChanges } from './object.js';
import { decoderLimits } from './options.js';
import { StreamReader } from './stream-reader.js';
import { encodeText } from './text.js';
import { assertWritableUrl } from './url-bytes.js';

/** Bytes that are not in memory. */
export interface ByteSource {
  /** Number of bytes. */
  readonly length: number;
  /**
   * Yields the bytes from `start` (default 0) to `end` (default all). A piece is valid until the next one is
   * requested.
   */
  pieces(start?: number, end?: number): AsyncIterable<Uint8Array>;
}

/** The bytes of an object: in memory, or a source if there are many. */
export type SoifBytes = Uint8Array | ByteSource;

/** A part of other bytes, or bytes. */
type Segment = Uint8Array | { readonly start: number; readonly end: number };

/** Bytes that consist of segments of a source and of other bytes. */
class SplicedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #segments: readonly Segment[];
  readonly length: number;

  constructor(source: ByteSource, segments: readonly Segment[]) {
    this.#source = source;
    this.#segments = segments;

    this.length = segments.reduce((sum, segment) => sum + lengthOf(segment), 0);
  }

  async *pieces(start = 0, end = this.length): AsyncGenerator<Uint8Array, void, undefined> {
    let at = 0;
    for (const segment of this.#segments) {
      const from = Math.max(start - at, 0);
      const to = Math.min(end - at, lengthOf(segment));
      at += lengthOf(segment);
      if (from >= to) continue;
      if (segment instanceof Uint8Array) yield segment.subarray(from, to);
      else yield* this.#source.pieces(segment.start + from, segment.start + to);
    }
  }
}

/** A range of a source. */
export function rangeOf(source: ByteSource, start: number, end: number): ByteSource {
  return new SplicedSource(source, [{ start, end }]);
}

/** Whether an object has a value of no bytes, which an emitter leaves out (SOIF-3.2). */
export function hasEmptyValue(object: SoifObject | SoifOutline): boolean {
  if ('head' in object) return object.attributes.some(({ start, end }) => start === end);
  for (let i = 0; i < object.size; i++) if (object.valueLengthAt(i) === 0) return true;
  return false;
}

/**
 * Reads a range of a source, which must fit into memory.
 *
 * @param bytes the memory; default: new
 */
export async function readRange(
  source: ByteSource,
  start: number,
  end: number,
  bytes = new Uint8Array(end - start),
): Promise<Uint8Array> {
  let at = 0;
  for await (const piece of source.pieces(start, end)) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function lengthOf(segment: Segment): number {
  return segment instanceof Uint8Array ? segment.length : segment.end - segment.start;
}

/**
 * Reads the outline of one object, and no values that it does not keep; `whole`: all bytes, so that the source
 * can verify them.
 *
 * @throws ProtocolError if they are not one object
 */
export async function readOutline(
  source: ByteSource,
  { whole = false }: { readonly whole?: boolean } = {},
): Promise<SoifOutline> {
  let outline: SoifOutline | undefined;
  let defect: ProtocolError | undefined;
  let isMalformed = false;
  const limits = decoderLimits({ maxObjectBytes: Math.max(source.length, 1), largeBytes: 1 });
  const reader = new StreamReader(
    {
      ...NO_SINK,
      object: (object, start, _end, exact, window) => {
        const shift = start - window.base;
        const attributes = object.attributes.map(({ name }, i) => ({
          name,
          start: object.valueStartAt(i) - shift,
          end: object.valueEndAt(i) - shift,
        }));
        outline ??= { head: object, attributes, exact };
      },
      large: (found) => {
        outline ??= found;
      },
      warning: ({ rule, offset, message }) => {
        defect = new ProtocolError(message, { protocol: 'soif', rule, offset });
      },
      rewind: () => {
        isMalformed = true;
      },
    },
    limits,
    { sections: false, endLine: false },
  );
  for (let at = 0; at < source.length && !isMalformed; ) {
    const from = at;
    for await (const piece of source.pieces(from)) {
      reader.push(piece);
      at += piece.length;
      if (outline !== undefined && !whole) return outline;
      if (whole) {
        reader.own();
        continue;
      }
      const next = reader.skip();
      if (next > source.length) {
        const details = { protocol: 'soif', rule: 'SOIF-4.4', offset: source.length } as const;
        throw new ProtocolError('truncated: the input ends in a value', details);
      }
      if (next === at && !isMalformed) continue;
      at = next;
      break;
    }
  }
  if (!isMalformed) reader.end();
  if (outline !== undefined) return outline;
  throw (
    defect ?? new ProtocolError('no object', { protocol: 'soif', rule: 'SOIF-1.3', offset: source.length })
  );
}

/** The attributes that are requested by name: the last one of each (SOIF-5.2). */
export function attributeOf({ attributes }: SoifOutline, name: string): OutlineAttribute | undefined {
  const key = name.toLowerCase();
  return attributes.findLast((attribute) => attribute.name.toLowerCase() === key);
}

/**
 * The object in the layout of SOIF-2.2, with changes: the bytes that `encodeSoif(object.with(changes))` makes
 * of an object in memory.
 *
 * @throws ProtocolError when the object has no URL
 */
export function rewriteLarge(
  source: ByteSource,
  outline: SoifOutline,
  changes: readonly (readonly [name: string, value: SoifValue])[] = [],
): ByteSource {
  type Pair = readonly [name: string, value: Uint8Array | OutlineAttribute];
  const pairs = outline.attributes.map((attribute): Pair => [attribute.name, attribute]);
  const encoded = changes.map(([name, value]): Pair => [name, encodeText(value)]);
  // Only a change brings the values of a name together, as `with` does.
  const changed = changes.length === 0 ? pairs : withChanges(pairs, encoded);
  const names = writtenNames(changed.map(([name]) => name));
  const lines = changed.map(([name, value]) => ({
    name: names?.get(name.toLowerCase()) ?? name,
    size: lengthOf(value),
    value,
  }));
  const { head } = outline;
  const type = head.type === '' ? DEFAULT_TYPE : head.type.replace(/[^A-Za-z0-9-]/g, '-');
  assertWritableUrl(head.urlBytes, type);
  const segments: (Uint8Array | OutlineAttribute)[] = [
    Buffer.from(`@${type} { `, 'latin1'),
    head.urlBytes,
    Buffer.from('\n'),
  ];
  for (const { name, size, value } of selectWritten(lines))
    segments.push(Buffer.from(`${name}{${size}}:\t`, 'latin1'), value, Buffer.from('\n'));
  segments.push(Buffer.from('}\n'));
  return new SplicedSource(source, segments);
}
