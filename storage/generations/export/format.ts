import { deflateRawSync, constants as zlib } from 'node:zlib';
import { SECTION_CLOSE, SECTION_OPEN } from '../../../protocols/soif/index.js';

/*
 * The ready-made export of a generation (DESIGN 5):
 *
 *     All-Templates.gz    gzip header | head | block | block | ... | tail | trailer
 *     EXPORT              ExportIndex of records.proto
 *
 * head and blocks are deflate data that ends with a full flush: byte-aligned, referring to nothing before it. So any
 * of them can be put together to another member; the tail ends it.
 */

/** GATHERD-10.2: the whole database as one gzip member, wrappers included: it can be sent as it is. */
export const COMPRESSED_FILE = 'All-Templates.gz';
/** Where its blocks lie, and what INFO says. */
export const INDEX_FILE = 'EXPORT';
export const EXPORT_VERSION = 1;
/** Of a block's digest in the index. */
export const DIGEST_BYTES = 16;

/** What stands before the objects when the two other sections are empty (GATHERD-4.4, SOIF-8.8). */
export const EXPORT_HEAD: Uint8Array = Buffer.concat([
  SECTION_OPEN.delete,
  SECTION_CLOSE,
  SECTION_OPEN.refresh,
  SECTION_CLOSE,
  SECTION_OPEN.update,
]);
/** What stands behind them. */
export const EXPORT_TAIL: Uint8Array = SECTION_CLOSE;

/** Deflate data that more may follow. */
export function deflatePiece(raw: Uint8Array): Uint8Array {
  return deflateRawSync(raw, { finishFlush: zlib.Z_FULL_FLUSH });
}

/** Deflate data that ends its member. */
export function deflateEnd(raw: Uint8Array): Uint8Array {
  return deflateRawSync(raw);
}
