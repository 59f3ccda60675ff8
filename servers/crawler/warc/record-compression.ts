// How the records of an archive are compressed: each by itself, so that a reader finds one by its offset.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { compressZstd } from './zstd-frames.js';

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

/** Compresses an encoded record. */
export async function compressRecord(bytes: Uint8Array, compression: Compression): Promise<Uint8Array> {
  switch (compression) {
    case 'none':
      return bytes;
    case 'gzip':
      return compressGzip(bytes);
    case 'zstd':
      return compressZstd(bytes);
  }
}
