// The texts of GIF files: comment extensions, and the application extension with XMP.
import { oneLine } from '../extracted.js';
import { metadataAsJpeg } from './webp.js';

/** Blocks of one file that are looked at, comments that are kept, characters of a comment. */
const MAX_BLOCKS = 10_000;
const MAX_COMMENTS = 100;
const MAX_FIELD = 2000;
/** The longest packet of XMP that is read, in bytes. */
const MAX_PACKET = 64_000;
const XMP = 'XMP DataXMP';

/** A part of a GIF file after its head. */
interface Block {
  /** 0xfe of a comment, 0xff of an application, 0x2c of a picture, others. */
  readonly label: number;
  /** Where its sub-blocks begin. */
  readonly start: number;
}

/** The blocks of a file; a damaged one ends early. */
function* blocksOf(bytes: Uint8Array): Generator<Block> {
  const tableEnd = (flags: number, offset: number): number =>
    offset + (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
  let offset = tableEnd(bytes[10] ?? 0, 13);
  for (let blocks = 0; blocks < MAX_BLOCKS && offset + 2 < bytes.length; blocks++) {
    if (bytes[offset] === 0x21) {
      yield { label: bytes[offset + 1]!, start: offset + 2 };
      offset = endOf(bytes, offset + 2);
    } else if (bytes[offset] === 0x2c) {
      // After the table of colors one byte says how the picture is coded.
      const start = tableEnd(bytes[offset + 9] ?? 0, offset + 10) + 1;
      yield { label: 0x2c, start };
      offset = endOf(bytes, start);
    } else return;
  }
}

/** Where the sub-blocks end, each a byte with its length and as many bytes. */
function endOf(bytes: Uint8Array, start: number): number {
  let offset = start;
  while ((bytes[offset] ?? 0) !== 0) offset += 1 + bytes[offset]!;
  return offset + 1;
}

/** Reads the comments of a file. */
export function gifComments(bytes: Uint8Array): string[] {
  const comments: string[] = [];
  for (const { label, start } of blocksOf(bytes)) {
    if (label !== 0xfe) continue;
    let text = '';
    for (
      let offset = start;
      (bytes[offset] ?? 0) !== 0 && text.length < MAX_FIELD;
      offset += 1 + bytes[offset]!
    )
      text += Buffer.from(bytes.subarray(offset + 1, offset + 1 + bytes[offset]!)).toString('latin1');
    if (oneLine(text) !== '') comments.push(oneLine(text));
    if (comments.length >= MAX_COMMENTS) break;
  }
  return comments;
}

/** Returns the XMP of a file as a JPEG file without a picture, which exifr reads; undefined if it has none. */
export function gifMetadata(bytes: Uint8Array): Uint8Array | undefined {
  const latin = (from: number, to: number) => Buffer.from(bytes.subarray(from, to)).toString('latin1');
  for (const { label, start } of blocksOf(bytes)) {
    if (label !== 0xff || bytes[start] !== XMP.length || latin(start + 1, start + 1 + XMP.length) !== XMP)
      continue;
    // The packet is not in sub-blocks; a trailer of 258 bytes, the first of which is 1, leads their reader to
    // the end.
    const from = start + 1 + XMP.length;
    const end = endOf(bytes, from) - 258;
    if (end > from && end - from <= MAX_PACKET) return metadataAsJpeg([], [bytes.subarray(from, end)]);
  }
  return undefined;
}
