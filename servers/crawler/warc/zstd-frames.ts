// Zstandard frames (RFC 8878). Writing needs Node 22.15; older versions read through fzstd.
import { type Duplex, pipeline } from 'node:stream';
import * as zlib from 'node:zlib';
import { UsageError } from '../../../protocols/errors.js';
import type { ReadWindow } from './read-window.js';

/** The first bytes of a frame, in the order of the file. */
export const ZSTD_BEGIN = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const ZSTD_MAGIC = 0xfd2fb528;
/** Skippable frames have 16 magic numbers, the first of them this one. */
const SKIPPABLE_MAGIC = 0x184d2a50;
/** A block has at most this many bytes (3.1.1.2.4). */
const MAX_BLOCK_BYTES = 128 * 1024;
/** Largest window that a reader must support (Zstandard Compression for WARC Files 1.0, "Window size"). */
const MAX_WINDOW_LOG = 23;
/** Lengths of the fields of a frame header by the bits of its descriptor (3.1.1.1). */
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const;
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const;

/** The functions of Node.js 22.15 and later; their names are absent from the types of Node.js 20. */
interface ZstdOfNode {
  readonly zstdCompress?: (
    bytes: Uint8Array,
    options: { readonly pledgedSrcSize: number; readonly params: Readonly<Record<number, number>> },
    done: (error: Error | null, result: Buffer) => void,
  ) => void;
  readonly createZstdCompress?: (options: {
    readonly chunkSize: number;
    readonly pledgedSrcSize: number;
    readonly params: Readonly<Record<number, number>>;
  }) => Duplex;
  readonly createZstdDecompress?: (options: { readonly params: Readonly<Record<number, number>> }) => Duplex;
}
const node = zlib as unknown as ZstdOfNode;
/** ZSTD_c_checksumFlag and ZSTD_d_windowLogMax of the library's interface. */
const CHECKSUM_FLAG = 201;
const WINDOW_LOG_MAX = 100;

/**
 * Returns why files of a format cannot be written in Zstandard by this version of Node.js; undefined if they
 * can.
 */
export function zstdProblem(format: 'warc' | 'arc' = 'warc'): string | undefined {
  if (format === 'arc') return 'ARC files are compressed with gzip';
  return node.zstdCompress === undefined
    ? `zstd requires Node.js 22.15 or later, and this is ${process.version}; gzip needs nothing else`
    : undefined;
}

/**
 * Compresses bytes as one frame with its content size and checksum. @throws UsageError if this version of
 * Node.js cannot
 */
export function compressZstd(bytes: Uint8Array): Promise<Uint8Array> {
  const { zstdCompress } = node;
  if (zstdCompress === undefined) return Promise.reject(new UsageError(zstdProblem() ?? ''));
  const options = { pledgedSrcSize: bytes.length, params: { [CHECKSUM_FLAG]: 1 } };
  return new Promise((resolve, reject) => {
    zstdCompress(bytes, options, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}

/**
 * Returns a stream that compresses as one frame with its content size and checksum.
 * @param length bytes of the content
 * @throws UsageError if this version of Node.js cannot
 */
export function createZstd(length: number, chunkSize: number): Duplex {
  const { createZstdCompress } = node;
  if (createZstdCompress === undefined) throw new UsageError(zstdProblem() ?? '');
  return createZstdCompress({ chunkSize, pledgedSrcSize: length, params: { [CHECKSUM_FLAG]: 1 } });
}

/**
 * Decompresses one frame; nothing of a skippable one. Without the functions of Node.js the checksum is not
 * compared.
 * @throws Error for damaged data
 */
export async function* decompressFrame(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = node.createZstdDecompress?.({ params: { [WINDOW_LOG_MAX]: MAX_WINDOW_LOG } });
  if (decoder === undefined) {
    yield* decompressByLibrary(chunks);
    return;
  }
  // The loop gets the error.
  pipeline(chunks, decoder, () => undefined);
  for await (const piece of decoder) yield piece as Uint8Array;
}

/** Bytes that the library receives at a time: four bytes can expand to 128 KiB. */
const SLICE_BYTES = 512;

async function* decompressByLibrary(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { Decompress } = await import('fzstd');
  let output: Uint8Array[] = [];
  const decoder = new Decompress((bytes) => {
    if (bytes.length > 0) output.push(bytes);
  });
  for await (const chunk of chunks) {
    for (let offset = 0; offset < chunk.length; offset += SLICE_BYTES) {
      decoder.push(chunk.subarray(offset, offset + SLICE_BYTES));
      yield* output;
      output = [];
    }
  }
  decoder.push(new Uint8Array(), true);
  yield* output;
}

/**
 * Returns the end of the frame that begins at `at`; undefined if it is incomplete or damaged.
 * @param content gets what is decompressed
 */
export async function endOfFrame(
  window: ReadWindow,
  at: number,
  content: { push(piece: Uint8Array): void },
): Promise<number | undefined> {
  const end = await frameEnd(window, at);
  if (end === undefined) return undefined;
  try {
    for await (const piece of decompressFrame(window.range(at, end))) content.push(piece);
    return end;
  } catch {
    return undefined;
  }
}

/** Finds the end of a frame by the lengths of its blocks. */
async function frameEnd(window: ReadWindow, at: number): Promise<number | undefined> {
  const bytes = await window.from(at);
  if (bytes.length < 8) return undefined;
  const magic = bytes.readUInt32LE(0);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
    const end = at + 8 + bytes.readUInt32LE(4);
    return (await window.from(end - 1)).length > 0 ? end : undefined;
  }
  if (magic !== ZSTD_MAGIC) return undefined;
  const descriptor = bytes.readUInt8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingle ? 1 : CONTENT_SIZE_BYTES[sizeFlag & 3];
  let end = at + 5 + (isSingle ? 0 : 1) + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0) + (sizeBytes ?? 0);
  for (let isLast = false; !isLast; ) {
    const head = await window.from(end);
    if (head.length < 3) return undefined;
    const value = head.readUIntLE(0, 3);
    const type = (value >> 1) & 3;
    const size = value >> 3;
    if (type === 3 || size > MAX_BLOCK_BYTES) return undefined;
    // The second type is one byte and how often it is repeated.
    end += 3 + (type === 1 ? 1 : size);
    isLast = (value & 1) !== 0;
  }
  if ((descriptor & 4) !== 0) end += 4;
  return (await window.from(end - 1)).length > 0 ? end : undefined;
}
