// The texts and packets of metadata in PNG, GIF and WebP files.

import { inflateSync } from 'node:zlib';
import { latin } from '../../bytes.js';
import { oneLine } from '../extracted.js';

/** Texts of one file that are read. */
const MAX_TEXTS = 100;
/** Bytes of a text chunk, and of its text after inflation. */
const MAX_TEXT_BYTES = 64 * 1024;
const TEXT_CHUNKS = new Set(['tEXt', 'zTXt', 'iTXt']);

/** Attributes by the keywords of the PNG specification (11.3.3.2). */
const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ['title', 'Title'],
  ['author', 'Author'],
  ['description', 'Description'],
  ['comment', 'Description'],
  ['copyright', 'Copyright'],
  ['creation time', 'Date'],
]);

/** Keywords of embedded EXIF, IPTC and XMP, and of the facts that a program notes about the file. */
const IGNORED = /^(?:xml:com\.adobe|raw profile|software$|date:|exif:|thumb::)/i;

/**
 * Reads the texts of a PNG file (`tEXt`, `zTXt`, `iTXt`), before and after the picture. A text without an
 * attribute of its own is a description with its keyword. Compressed texts beyond 64 KiB are left out.
 */
export function pngTexts(bytes: Uint8Array, view: DataView): (readonly [name: string, value: string])[] {
  const texts: (readonly [string, string])[] = [];
  for (let offset = 8, chunks = 0; offset + 12 <= bytes.length && chunks < MAX_CHUNKS; chunks++) {
    const length = view.getUint32(offset);
    const kind = latin(bytes, offset + 4, offset + 8);
    if (kind === 'IEND' || texts.length >= MAX_TEXTS) break;
    if (TEXT_CHUNKS.has(kind) && length < MAX_TEXT_BYTES) {
      const text = textOf(kind, bytes.subarray(offset + 8, offset + 8 + length));
      if (text !== undefined) texts.push(text);
    }
    offset += 12 + length;
  }
  return texts;
}

function textOf(kind: string, data: Uint8Array): readonly [string, string] | undefined {
  const end = data.indexOf(0);
  if (end < 1) return undefined;
  const keyword = latin(data, 0, end);
  if (IGNORED.test(keyword)) return undefined;
  const value = oneLine(decoded(kind, data, end + 1).slice(0, MAX_FIELD));
  if (value === '') return undefined;
  const name = KEYWORDS.get(keyword.toLowerCase());
  return name === undefined ? ['Description', `${oneLine(keyword)}: ${value}`] : [name, value];
}

function decoded(kind: string, data: Uint8Array, start: number): string {
  if (kind === 'tEXt') return latin(data, start);
  if (kind === 'zTXt') return Buffer.from(inflate(data.subarray(start + 1))).toString('latin1');
  // iTXt: whether it is compressed, the method, a language, the keyword in this language.
  const language = data.indexOf(0, start + 2);
  const translated = language < 0 ? -1 : data.indexOf(0, language + 1);
  if (translated < 0) return '';
  const value = data.subarray(translated + 1);
  return Buffer.from(data[start] === 1 ? inflate(value) : value).toString('utf8');
}

/** Returns no bytes for damaged data and for a text beyond the limit. */
function inflate(data: Uint8Array): Uint8Array {
  try {
    return inflateSync(data, { maxOutputLength: MAX_TEXT_BYTES });
  } catch {
    return new Uint8Array();
  }
}

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
      text += latin(bytes, offset + 1, offset + 1 + bytes[offset]!);
    if (oneLine(text) !== '') comments.push(oneLine(text));
    if (comments.length >= MAX_COMMENTS) break;
  }
  return comments;
}

/** Returns the XMP of a file as a JPEG file without a picture, which exifr reads; undefined if it has none. */
export function gifMetadata(bytes: Uint8Array): Uint8Array | undefined {
  for (const { label, start } of blocksOf(bytes)) {
    if (
      label !== 0xff ||
      bytes[start] !== XMP.length ||
      latin(bytes, start + 1, start + 1 + XMP.length) !== XMP
    )
      continue;
    // The packet is not in sub-blocks; a trailer of 258 bytes, the first of which is 1, leads their reader to
    // the end.
    const from = start + 1 + XMP.length;
    const end = endOf(bytes, from) - 258;
    if (end > from && end - from <= MAX_PACKET) return metadataAsJpeg([], [bytes.subarray(from, end)]);
  }
  return undefined;
}

/** Chunks of one file that are read. */
const MAX_CHUNKS = 10_000;
/** Bytes of one metadata chunk: a JPEG segment has at most 65 533. */
const MAX_SEGMENT_BYTES = 65_000;

/**
 * Returns the EXIF and XMP chunks of a WebP file as a JPEG file without a picture, which exifr reads; undefined
 * if it has none.
 */
export function webpMetadata(bytes: Uint8Array, view: DataView): Uint8Array | undefined {
  const exif: Uint8Array[] = [];
  const xmp: Uint8Array[] = [];
  for (let offset = 12, chunks = 0; offset + 8 <= bytes.length && chunks < MAX_CHUNKS; chunks++) {
    const kind = latin(bytes, offset, offset + 4);
    const size = view.getUint32(offset + 4, true);
    const data = bytes.subarray(offset + 8, offset + 8 + size);
    if (kind === 'EXIF') exif.push(withoutHeader(data));
    else if (kind === 'XMP ') xmp.push(data);
    offset += 8 + size + (size % 2);
  }
  return metadataAsJpeg(exif, xmp);
}

/** Returns EXIF and XMP as a JPEG file without a picture, which exifr reads; undefined without them. */
function metadataAsJpeg(exif: readonly Uint8Array[], xmp: readonly Uint8Array[]): Uint8Array | undefined {
  const segments = [
    ...exif.map((data) => segment('Exif\0\0', data)),
    ...xmp.map((data) => segment('http://ns.adobe.com/xap/1.0/\0', data)),
  ];
  const some = segments.filter(({ length }) => length > 0).slice(0, 2);
  if (some.length === 0) return undefined;
  return Buffer.concat([Buffer.from('ffd8', 'hex'), ...some, Buffer.from('ffd9', 'hex')]);
}

/** Some programs write the header of JPEG's segment into the chunk. */
function withoutHeader(data: Uint8Array): Uint8Array {
  return latin(data, 0, 6) === 'Exif\0\0' ? data.subarray(6) : data;
}

function segment(header: string, data: Uint8Array): Buffer {
  if (data.length === 0 || data.length > MAX_SEGMENT_BYTES) return Buffer.alloc(0);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(2 + header.length + data.length, 2);
  return Buffer.concat([head, Buffer.from(header, 'latin1'), data]);
}
