// MP3: the texts of its ID3 tags, and its duration.
import { latin, untilNul } from '../../bytes.js';
import { namesByWord } from '../../word-tables.js';
import { oneLine } from '../extracted.js';
import { TagTexts } from './facts.js';

/** Attributes by ID3v2 frame ID (three letters before version 2.3). */
const FRAMES: ReadonlyMap<string, string> = namesByWord({
  Title: 'TIT2 TT2',
  Author: 'TPE1 TP1',
  'Series-Title': 'TALB TAL',
  Date: 'TYER TDRC TYE',
  Keywords: 'TCON TCO',
  Description: 'COMM COM',
});

const ENCODINGS = ['windows-1252', 'utf-16', 'utf-16be', 'utf-8'];
/** Maximum number of frames that are read of one tag. */
const MAX_FRAMES = 1000;
/** Maximum size of one text, in bytes. */
const MAX_TEXT_BYTES = 4000;

/** Reads the texts of an ID3v2 tag at the start of the file. */
export function id3v2(bytes: Uint8Array): [string, string][] {
  if (latin(bytes, 0, 3) !== 'ID3') return [];
  const version = bytes[3]!;
  const short = version < 3;
  const end = Math.min(bytes.length, 10 + syncSafe(bytes, 6));
  const found: [string, string][] = [];
  const texts = new TagTexts();
  for (let offset = 10, frames = 0; offset + (short ? 6 : 10) <= end && frames < MAX_FRAMES; frames++) {
    const id = latin(bytes, offset, offset + (short ? 3 : 4));
    if (!/^[A-Z][A-Z0-9]+$/.test(id)) break;
    const size = short
      ? bigEndian(bytes, offset + 3, 3)
      : version === 4
        ? syncSafe(bytes, offset + 4)
        : bigEndian(bytes, offset + 4, 4);
    const start = offset + (short ? 6 : 10);
    const name = FRAMES.get(id);
    if (name !== undefined) {
      const text = frameText(
        bytes.subarray(start, Math.min(start + size, start + MAX_TEXT_BYTES)),
        name === 'Description',
        texts,
      );
      if (text !== '') found.push([name, text]);
    }
    offset = start + size;
  }
  return found;
}

/** Reads an ID3v1 tag, the last 128 bytes of the file. */
export function id3v1(bytes: Uint8Array): [string, string][] {
  const tag = latin(bytes, Math.max(0, bytes.length - 128));
  if (!tag.startsWith('TAG')) return [];
  const field = (from: number, length: number) => oneLine(untilNul(tag.slice(from, from + length)));
  const fields: [string, string][] = [
    ['Title', field(3, 30)],
    ['Author', field(33, 30)],
    ['Series-Title', field(63, 30)],
    ['Date', field(93, 4)],
    ['Description', field(97, 30)],
  ];
  return fields.filter(([, value]) => value !== '');
}

function westernText(bytes: Uint8Array, texts: TagTexts): string {
  const parts = latin(bytes).split('\0');
  return parts.map((part) => texts.decode(Buffer.from(part, 'latin1'))).join('\0');
}

/**
 * Decodes a frame: an encoding byte, then the text. In a comment, a language and a short name precede the text.
 */
function frameText(frame: Uint8Array, comment: boolean, texts: TagTexts): string {
  const label = ENCODINGS[frame[0] ?? 0] ?? 'windows-1252';
  const bytes = frame.subarray(comment ? 4 : 1);
  // A text declared as ISO-8859-1 is often in the character set of the writer's system.
  const text = label === 'windows-1252' ? westernText(bytes, texts) : new TextDecoder(label).decode(bytes);
  const value = comment ? text.slice(text.indexOf('\0') + 1) : text;
  return oneLine(
    value
      .replace(/\ufeff/g, '')
      .replace(/\0+$/, '')
      .replace(/\0/g, ', '),
  );
}

/** Reads a size of four bytes with seven bits each. */
function syncSafe(bytes: Uint8Array, offset: number): number {
  return [0, 1, 2, 3].reduce((size, i) => size * 128 + ((bytes[offset + i] ?? 0) & 0x7f), 0);
}

function bigEndian(bytes: Uint8Array, offset: number, count: number): number {
  let size = 0;
  for (let i = 0; i < count; i++) size = size * 256 + (bytes[offset + i] ?? 0);
  return size;
}

// From here, a frame is a block of MPEG audio, not of a tag. An encoder may write their number into the first
// one; the duration follows from it, else from the bit rate.

/** Bytes after the tag in which the first frame is searched. */
const MAX_SEARCH_BYTES = 4096;

/**
 * Kilobits per second by layer and index: MPEG 1, layers I to III, then MPEG 2, layer I, and layers II and III.
 */
const BIT_RATES: readonly (readonly number[])[] = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** Returns the duration of MPEG audio in seconds; 0 if there is no frame. */
export function mpegSeconds(bytes: Uint8Array, view: DataView): number {
  const start = tagLength(bytes);
  for (let offset = start; offset + 4 <= bytes.length && offset < start + MAX_SEARCH_BYTES; offset++) {
    if (bytes[offset] !== 0xff || (bytes[offset + 1]! & 0xe0) !== 0xe0) continue;
    const seconds = frameSeconds(bytes, view, offset);
    if (seconds > 0) return seconds;
  }
  return 0;
}

/** Length of the ID3v2 tag before the frames. */
function tagLength(bytes: Uint8Array): number {
  if (latin(bytes, 0, 3) !== 'ID3') return 0;
  return 10 + syncSafe(bytes, 6);
}

function frameSeconds(bytes: Uint8Array, view: DataView, offset: number): number {
  // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5; layer I is 3, layer III is 1.
  const version = (bytes[offset + 1]! >> 3) & 3;
  const layer = 4 - ((bytes[offset + 1]! >> 1) & 3);
  const baseRate = SAMPLE_RATES[(bytes[offset + 2]! >> 2) & 3];
  if (version === 1 || layer === 4 || baseRate === undefined) return 0;
  const table = version === 3 ? layer - 1 : layer === 1 ? 3 : 4;
  const bitRate = BIT_RATES[table]?.[bytes[offset + 2]! >> 4] ?? 0;
  const sampleRate = version === 3 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1152;
  const window = latin(bytes, offset, offset + 200);
  const found = /Xing|Info/.exec(window);
  if (found !== null && offset + found.index + 12 <= bytes.length) {
    const hasFrames = (view.getUint32(offset + found.index + 4) & 1) !== 0;
    if (hasFrames) return (view.getUint32(offset + found.index + 8) * samples) / sampleRate;
  }
  return bitRate === 0 ? 0 : ((bytes.length - offset) * 8) / (bitRate * 1000);
}
