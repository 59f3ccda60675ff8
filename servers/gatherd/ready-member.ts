import { crc32, constants as zlib } from 'node:zlib';
import { combineCrc32, encodeGzipTrailer, GZIP_HEADER } from '../../protocols/gatherd/index.js';
import type { UnixSeconds } from '../../protocols/time.js';
import {
  type BlockRange,
  deflateEnd,
  deflatePiece,
  EXPORT_HEAD,
  EXPORT_TAIL,
  objectsFrom,
  type ReadyExport,
} from '../../storage/index.js';
import type { ChunkCache } from './chunk-cache.js';
import type { ExportCount } from './export-stream.js';

const START = Buffer.concat([GZIP_HEADER, deflatePiece(EXPORT_HEAD)]);
const END = deflateEnd(EXPORT_TAIL);

/**
 * GATHERD-6.3, DESIGN 5: one gzip member with the objects since a time, put together from blocks that are compressed
 * already. Costs the processor at most one block's decompression, whatever its size. A piece is to be delivered before
 * the next one is asked for: its memory is used again then.
 */
export async function* readyMember(
  ready: ReadyExport,
  since: UnixSeconds,
  cache: ChunkCache,
  count: ExportCount,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { timeless, partial, rest } = ready.select(since);
  const sum = { crc: crc32(EXPORT_HEAD), size: EXPORT_HEAD.length };
  const add = (crc: number, length: number): void => {
    sum.crc = combineCrc32(sum.crc, crc, length);
    sum.size += length;
  };
  const blocks = (range: BlockRange) => {
    const { objects, rawLength, crc, start, end } = ready.sum(range);
    count.objects += objects;
    add(crc, rawLength);
    return filePieces(ready, start, end, cache);
  };

  yield START;
  yield* blocks(timeless);
  if (partial !== undefined) {
    const { bytes, objects } = objectsFrom(await ready.rawBlock(partial), since);
    count.objects += objects;
    add(crc32(bytes), bytes.length);
    yield deflatePiece(bytes, zlib.Z_BEST_SPEED);
  }
  yield* blocks(rest);
  add(crc32(EXPORT_TAIL), EXPORT_TAIL.length);
  yield Buffer.concat([END, encodeGzipTrailer(sum.crc, sum.size)]);
}

/** A range of the file, by the chunks of the cache. */
async function* filePieces(
  ready: ReadyExport,
  start: number,
  end: number,
  cache: ChunkCache,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { chunkBytes } = cache;
  for (let position = start; position < end; ) {
    const chunk = Math.floor(position / chunkBytes);
    const origin = chunk * chunkBytes;
    const lease = await cache.acquire(ready, chunk);
    try {
      const piece = lease.bytes.subarray(position - origin, Math.min(end - origin, chunkBytes));
      yield piece;
    } finally {
      lease.release();
    }
    position = origin + chunkBytes;
  }
}
