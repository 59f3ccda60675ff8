// The files of an export (DESIGN 5):
//
//     All-Templates.gz    gzip header | head | block | block | ... | tail | trailer
//     EXPORT              ExportIndex of records.proto
//
// The head and the blocks are deflate data that ends with a full flush: byte-aligned, without references to
// earlier data. So any of them can be combined into another member; the tail ends it.
import { deflateRawSync, constants as zlib } from 'node:zlib';
import { SECTION_CLOSE, SECTION_OPEN } from '../../../protocols/soif/index.js';

/** GATHERD-10.2: the whole database as one gzip member, wrappers included: it can be sent as it is. */
export const COMPRESSED_FILE = 'All-Templates.gz';
/** The positions of its blocks, and the answers of INFO. */
export const INDEX_FILE = 'EXPORT';
export const EXPORT_VERSION = 1;
/** Length of a block's digest in the index. */
export const DIGEST_BYTES = 16;

/** The bytes before the objects if the two other sections are empty (GATHERD-4.4, SOIF-8.8). */
export const EXPORT_HEAD: Uint8Array = Buffer.concat([
  SECTION_OPEN.delete,
  SECTION_CLOSE,
  SECTION_OPEN.refresh,
  SECTION_CLOSE,
  SECTION_OPEN.update,
]);
/** The bytes after them. */
export const EXPORT_TAIL: Uint8Array = SECTION_CLOSE;

/** Deflates to data that more deflate data may follow. */
export function deflatePiece(raw: Uint8Array): Uint8Array {
  return deflateRawSync(raw, { finishFlush: zlib.Z_FULL_FLUSH });
}

/** Deflates to data that ends a gzip member. */
export function deflateEnd(raw: Uint8Array): Uint8Array {
  return deflateRawSync(raw);
}
