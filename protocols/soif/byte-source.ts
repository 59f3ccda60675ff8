// Bytes that are read in pieces: objects that are too large to be in memory at once.

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
export class SplicedSource implements ByteSource {
  readonly length: number;

  constructor(
    readonly source: ByteSource,
    readonly segments: readonly Segment[],
  ) {
    this.length = segments.reduce((sum, segment) => sum + lengthOf(segment), 0);
  }

  async *pieces(start = 0, end = this.length): AsyncGenerator<Uint8Array, void, undefined> {
    let at = 0;
    for (const segment of this.segments) {
      const from = Math.max(start - at, 0);
      const to = Math.min(end - at, lengthOf(segment));
      at += lengthOf(segment);
      if (from >= to) continue;
      if (segment instanceof Uint8Array) yield segment.subarray(from, to);
      else yield* this.source.pieces(segment.start + from, segment.start + to);
    }
  }
}

/** A range of a source. */
export function rangeOf(source: ByteSource, start: number, end: number): ByteSource {
  return new SplicedSource(source, [{ start, end }]);
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
