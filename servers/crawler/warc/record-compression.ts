// How the records of an archive are compressed: each by itself, so that a reader finds one by its offset.
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import { transformed } from '../../../clients/fetch/index.js';
import type { EncodedRecord } from './encode-record.js';
import { compressZstd, createZstd } from './zstd-frames.js';

/**
 * `none`, one gzip member for each record (WARC 1.1, Annex D), or one Zstandard frame (Zstandard Compression
 * for WARC Files 1.0).
 */
export type Compression = 'none' | 'gzip' | 'zstd';

const compressGzip = promisify(gzip);

/** The end of an archive's file name, by its compression. */
const SUFFIXES: Readonly<Record<Compression, string>> = { none: '', gzip: '.gz', zstd: '.zst' };

/** Returns the suffix of files with this compression: `.gz`, `.zst` or nothing. */
export function suffixOf(compression: Compression): string {
  return SUFFIXES[compression];
}

/** WARC 1.1, or the older ARC 1.1, which has documents only. */
export type ArchiveFormat = 'warc' | 'arc';

/** The names of finished archives. */
export const FINISHED_ARCHIVE = /\.(?:warc(?:\.gz|\.zst)?|arc(?:\.gz)?)$/;
/** The names of finished WARC files. */
export const FINISHED_WARC = /\.warc(?:\.gz|\.zst)?$/;

/** Returns the format of an archive by its name, with or without `.open`. */
export function formatOf(name: string): ArchiveFormat {
  return /\.arc(?:\.gz)?(?:\.open)?$/.test(name) ? 'arc' : 'warc';
}

/** Returns the compression of an archive by its name, with or without `.open`. */
export function compressionOf(name: string): Compression {
  const [, suffix] = /\.(gz|zst)(?:\.open)?$/.exec(name) ?? [];
  if (suffix === undefined) return 'none';
  return suffix === 'gz' ? 'gzip' : 'zstd';
}

/** Bytes of compressed output per write of a record that is on disk. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Compresses an encoded record: one that is in memory in one piece. Of one that is on disk only a few pieces
 * are in memory at a time; the next one is read when the caller wants more.
 * @throws the errors of reading what is on disk
 */
export async function* compressRecord(
  { begin, stored, end }: EncodedRecord,
  compression: Compression,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (stored === undefined) {
    yield compressBytes(Buffer.concat([...begin, end]), compression);
    return;
  }
  const pieces = async function* () {
    yield* begin;
    yield* stored.pieces();
    yield end;
  };
  const length = [...begin, end].reduce((sum, piece) => sum + piece.length, stored.length);
  if (compression === 'none') yield* pieces();
  else {
    const encoder =
      compression === 'gzip' ? createGzip({ chunkSize: CHUNK_BYTES }) : createZstd(length, CHUNK_BYTES);
    yield* transformed(pieces(), encoder);
  }
}

async function compressBytes(bytes: Uint8Array, compression: Compression): Promise<Uint8Array> {
  switch (compression) {
    case 'none':
      return bytes;
    case 'gzip':
      return compressGzip(bytes);
    case 'zstd':
      return compressZstd(bytes);
  }
}
