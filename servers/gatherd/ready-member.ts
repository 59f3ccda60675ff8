import { crc32 } from 'node:zlib';
import { combineCrc32, encodeGzipTrailer, GZIP_HEADER } from '../../protocols/gatherd/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import {
  deflateEnd,
  deflatePiece,
  EXPORT_HEAD,
  EXPORT_TAIL,
} from '../../storage/generations/export/format.js';
import type { ReadyExport } from '../../storage/generations/export/ready-export.js';
import type { ChunkCache, ChunkLease, ChunkSource } from './chunk-cache.js';
import type { ExportCount } from './export-stream.js';

const START = Buffer.concat([GZIP_HEADER, deflatePiece(EXPORT_HEAD)]);
const END = deflateEnd(EXPORT_TAIL);
const NOTHING = { objects: 0, length: 0, crc: 0, deflated: new Uint8Array(0) };

/**
 * GATHERD-6.3, DESIGN 5: yields one gzip member with the objects since a time, assembled from blocks that are
 * already compressed. At most one block is decompressed. The caller must deliver a piece before it requests the
 * next one, which reuses the memory.
 */
export async function* streamReadyMember(
  ready: ReadyExport,
  since: UnixSeconds,
  cache: ChunkCache,
  count: ExportCount,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { timeless, partial, rest } = ready.select(since);
  const [before, after] = [ready.sum(timeless), ready.sum(rest)];
  // The first chunk of the rest is read while the partial block is decompressed.
  const prefetched = after.end > after.start ? cache.acquire(ready, cache.chunkAt(after.start)) : undefined;
  prefetched?.catch(() => undefined);
  try {
    const partialPiece = partial === undefined ? NOTHING : await ready.lastPiece(partial, since);
    const total = sumPieces([
      { crc: crc32(EXPORT_HEAD), length: EXPORT_HEAD.length },
      { crc: before.crc, length: before.rawLength },
      partialPiece,
      { crc: after.crc, length: after.rawLength },
      { crc: crc32(EXPORT_TAIL), length: EXPORT_TAIL.length },
    ]);
    if (before.objects > 0) {
      yield START;
      yield* readFilePieces(ready, before, cache);
      yield partialPiece.deflated;
    } else {
      yield Buffer.concat([START, partialPiece.deflated]);
    }
    yield* readFilePieces(ready, after, cache);
    yield Buffer.concat([END, encodeGzipTrailer(total.crc, total.length)]);
    count.objects += before.objects + partialPiece.objects + after.objects;
  } finally {
    await prefetched?.then(
      ({ release }) => release(),
      () => undefined,
    );
  }
}

/**
 * Yields the clear stream of the objects since a time, its sections `@DELETE` and `@REFRESH` empty
 * (GATHERD-4.4). The caller must deliver a piece before it requests the next one, which reuses the memory.
 */
export async function* streamReadyClear(
  ready: ReadyExport,
  since: UnixSeconds,
  cache: ChunkCache,
  count: ExportCount,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { timeless, partial, rest } = ready.select(since);
  yield EXPORT_HEAD;
  yield* readFilePieces(ready.clear, ready.clearRange(timeless), cache);
  count.objects += ready.sum(timeless).objects;
  if (partial !== undefined) {
    const { bytes, objects } = await ready.lastObjects(partial, since);
    count.objects += objects;
    yield bytes;
  }
  yield* readFilePieces(ready.clear, ready.clearRange(rest), cache);
  count.objects += ready.sum(rest).objects;
  yield EXPORT_TAIL;
}

interface PieceSum {
  readonly crc: number;
  readonly length: number;
}

/** Returns CRC and length of the concatenated pieces. */
function sumPieces(pieces: readonly PieceSum[]): PieceSum {
  return pieces.reduce((sum, { crc, length }) => ({
    crc: combineCrc32(sum.crc, crc, length),
    length: sum.length + length,
  }));
}

/** Yields a range of a file in the chunks of the cache. While one chunk is sent, the next is read. */
async function* readFilePieces(
  source: ChunkSource,
  { start, end }: { readonly start: number; readonly end: number },
  cache: ChunkCache,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (start >= end) return;
  const { chunkBytes } = cache;
  const last = cache.chunkAt(end - 1);
  let chunk = cache.chunkAt(start);
  let next: Promise<ChunkLease> | undefined = cache.acquire(source, chunk);
  try {
    for (; chunk <= last; chunk++) {
      const lease: ChunkLease = await next!;
      next = chunk < last ? cache.acquire(source, chunk + 1) : undefined;
      // The error is thrown when the promise is awaited.
      next?.catch(() => undefined);
      try {
        const origin = chunk * chunkBytes;
        yield lease.bytes.subarray(Math.max(0, start - origin), Math.min(end - origin, chunkBytes));
      } finally {
        lease.release();
      }
    }
  } finally {
    await next?.then(
      ({ release }) => release(),
      () => undefined,
    );
  }
}
