import { once } from 'node:events';
import { constants, crc32, createDeflateRaw } from 'node:zlib';
import { encodeGzipTrailer, GZIP_HEADER } from '../../protocols/gatherd/index.js';
import { SECTION_CLOSE, SECTION_OPEN } from '../../protocols/soif/index.js';
import type { ExportChunk } from '../../storage/index.js';

/** SOIF-8.8, GATHERD-4.4: what stands before the objects, the two other sections being empty. */
const HEAD = Buffer.concat([
  SECTION_OPEN.delete,
  SECTION_CLOSE,
  SECTION_OPEN.refresh,
  SECTION_CLOSE,
  SECTION_OPEN.update,
]);

/** What has been put into a stream so far. */
export interface ExportCount {
  objects: number;
}

/** The wrapped stream of an update. */
export async function* wrappedStream(
  objects: AsyncIterable<ExportChunk>,
  count: ExportCount,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield HEAD;
  for await (const chunk of objects) {
    count.objects += chunk.objects;
    yield chunk.bytes;
  }
  yield SECTION_CLOSE;
}

/** Bytes one deflate output holds; with as many waiting inside the stream. */
const PIECE_BYTES = 64 * 1024;

/**
 * GATHERD-6.3: exactly one gzip member around a stream of bytes. Made of parts (header, deflate data, trailer),
 * so that deflate data which was made earlier can take the place of the middle one. Compresses in the thread
 * pool, and only as fast as the result is taken.
 */
export async function* gzipMember(
  content: AsyncIterable<Uint8Array>,
  level: number = constants.Z_DEFAULT_COMPRESSION,
): AsyncGenerator<Uint8Array, void, undefined> {
  const sum = { crc: 0, size: 0 };
  yield GZIP_HEADER;
  yield* deflated(content, level, sum);
  yield encodeGzipTrailer(sum.crc, sum.size);
}

async function* deflated(
  content: AsyncIterable<Uint8Array>,
  level: number,
  sum: { crc: number; size: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  const deflate = createDeflateRaw({ level, chunkSize: PIECE_BYTES });
  deflate.on('error', () => {}); // seen by whoever reads the stream
  const stop = new AbortController();
  const feed = async () => {
    for await (const bytes of content) {
      if (stop.signal.aborted) return;
      sum.crc = crc32(bytes, sum.crc);
      sum.size += bytes.length;
      if (!deflate.write(bytes)) await once(deflate, 'drain', { signal: stop.signal });
    }
    deflate.end();
  };
  const feeding = feed().catch((error: Error) => void deflate.destroy(error));
  try {
    for await (const piece of deflate) yield piece;
  } finally {
    // Whoever stops early leaves the feeder waiting for a drain that will not come.
    stop.abort();
    await feeding;
    deflate.destroy();
  }
}
