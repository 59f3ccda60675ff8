// Builds gzip members with any header and any kind of deflate blocks, correct or damaged.
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { bytes } from '../printable.js';

const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16 } as const;
/** Largest number of bytes in a stored block (RFC 1951, 3.2.4). */
const STORED_BLOCK = 65_535;
/** An empty stored block that is not the last one, as a full flush leaves it. */
const EMPTY_STORED = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);
/** An empty last block with fixed codes. */
const EMPTY_LAST = Buffer.from([0x03, 0x00]);

/** Header and trailer fields of a gzip member (RFC 1952), which may have wrong values. */
export interface MemberOptions {
  readonly extra?: Buffer;
  readonly name?: string;
  readonly comment?: string;
  readonly headerCrc?: boolean;
  /** CRC-32 in the trailer; default: the correct one. */
  readonly crc?: number;
  /** Length in the trailer; default: the correct one. */
  readonly length?: number;
}

/** Compresses the content of a member into deflate blocks of one kind. */
export type Deflate = (content: Buffer) => Buffer;

/** Stored blocks: the member contains the content unchanged. */
export const stored: Deflate = (content) => {
  const blocks: Buffer[] = [];
  for (let at = 0; at < content.length; at += STORED_BLOCK) {
    blocks.push(storedBlock(content.subarray(at, at + STORED_BLOCK)));
  }
  return Buffer.concat([...blocks, EMPTY_LAST]);
};

/** Blocks with fixed Huffman codes. */
export const fixed: Deflate = (content) => deflateRawSync(content, { strategy: constants.Z_FIXED });

/** Blocks with dynamic codes; zlib chooses them for all but very short content. */
export const dynamic: Deflate = (content) => deflateRawSync(content, { level: 9 });

/** Stored and compressed data with empty blocks before, between and after. */
export const flushed: Deflate = (content) => {
  const middle = content.length >> 1;
  const first = deflateRawSync(content.subarray(0, middle), { finishFlush: constants.Z_FULL_FLUSH });
  const second = storedBlock(content.subarray(middle));
  return Buffer.concat([EMPTY_STORED, first, EMPTY_STORED, EMPTY_STORED, second, EMPTY_STORED, EMPTY_LAST]);
};

/** Builds a gzip member (RFC 1952). */
export function gzipMember(content: Buffer, deflate: Deflate, options: MemberOptions = {}): Buffer {
  const { extra, name, comment, headerCrc = false } = options;
  const flags =
    (extra === undefined ? 0 : FLAG.extra) |
    (name === undefined ? 0 : FLAG.name) |
    (comment === undefined ? 0 : FLAG.comment) |
    (headerCrc ? FLAG.headerCrc : 0);
  const head = Buffer.concat([
    Buffer.from([0x1f, 0x8b, 0x08, flags, 0, 0, 0, 0, 0, 0x03]),
    ...(extra === undefined ? [] : [littleEndian(extra.length, 2), extra]),
    ...(name === undefined ? [] : [bytes(`${name}\0`)]),
    ...(comment === undefined ? [] : [bytes(`${comment}\0`)]),
  ]);
  return Buffer.concat([
    head,
    ...(headerCrc ? [littleEndian(crc32(head) & 0xffff, 2)] : []),
    deflate(content),
    littleEndian(options.crc ?? crc32(content), 4),
    littleEndian(options.length ?? content.length, 4),
  ]);
}

function storedBlock(content: Buffer): Buffer {
  const { length } = content;
  return Buffer.concat([
    Buffer.from([0]),
    littleEndian(length, 2),
    littleEndian(~length & 0xffff, 2),
    content,
  ]);
}

function littleEndian(value: number, size: 2 | 4): Buffer {
  const field = Buffer.alloc(size);
  field.writeUIntLE(value, 0, size);
  return field;
}
