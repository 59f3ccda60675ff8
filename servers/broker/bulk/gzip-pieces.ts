// Compresses a reply as one gzip member, one piece at a time.
import { promisify } from 'node:util';
import { constants, crc32, deflateRaw } from 'node:zlib';
import { encodeGzipTrailer, GZIP_HEADER } from '../../../protocols/gatherd/index.js';
import { Mutex } from '../../../protocols/mutex.js';

const deflate = promisify(deflateRaw);

/** Pieces that are compressed at a time, by all replies: each takes 256 KiB while it is compressed. */
const LANES = Array.from({ length: 4 }, () => new Mutex());
let nextLane = 0;

/** Bytes of output for each turn in the thread pool. */
const MIN_CHUNK = 1024;
const MAX_CHUNK = 64 * 1024;

/**
 * Yields one gzip member with the pieces. Each piece is compressed on its own and flushed, so that a reply that
 * waits for its reader has no compressor in memory.
 */
export async function* gzipPieces(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let crc = 0;
  let length = 0;
  yield GZIP_HEADER;
  for await (const piece of pieces) {
    crc = crc32(piece, crc);
    length += piece.length;
    yield await compress(piece, constants.Z_FULL_FLUSH);
  }
  // An empty final block ends the member.
  yield await compress(new Uint8Array(0), constants.Z_FINISH);
  yield encodeGzipTrailer(crc, length);
}

function compress(piece: Uint8Array, finishFlush: number): Promise<Uint8Array> {
  const lane = LANES[nextLane++ % LANES.length]!;
  const chunkSize = Math.max(MIN_CHUNK, Math.min(MAX_CHUNK, piece.length >> 1));
  return lane.runExclusive(() => deflate(piece, { finishFlush, chunkSize }));
}
