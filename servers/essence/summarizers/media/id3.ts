import { oneLine } from '../extracted.js';
import { TagTexts } from './facts.js';

/** Attributes by ID3v2 frame ID (three letters before version 2.3). */
const FRAMES: ReadonlyMap<string, string> = new Map([
  ['TIT2', 'Title'],
  ['TT2', 'Title'],
  ['TPE1', 'Author'],
  ['TP1', 'Author'],
  ['TALB', 'Series-Title'],
  ['TAL', 'Series-Title'],
  ['TYER', 'Date'],
  ['TDRC', 'Date'],
  ['TYE', 'Date'],
  ['TCON', 'Keywords'],
  ['TCO', 'Keywords'],
  ['COMM', 'Description'],
  ['COM', 'Description'],
]);

const ENCODINGS = ['windows-1252', 'utf-16', 'utf-16be', 'utf-8'];
/** Frames of one tag that are read. */
const MAX_FRAMES = 1000;
/** Maximum size of one text, in bytes. */
const MAX_TEXT_BYTES = 4000;

/** Reads the texts of an ID3v2 tag at the start of the file. */
export function id3v2(bytes: Uint8Array): [string, string][] {
  if (Buffer.from(bytes.subarray(0, 3)).toString('latin1') !== 'ID3') return [];
  const version = bytes[3]!;
  const short = version < 3;
  const end = Math.min(bytes.length, 10 + syncSafe(bytes, 6));
  const found: [string, string][] = [];
  const texts = new TagTexts();
  for (let offset = 10, frames = 0; offset + (short ? 6 : 10) <= end && frames < MAX_FRAMES; frames++) {
    const id = Buffer.from(bytes.subarray(offset, offset + (short ? 3 : 4))).toString('latin1');
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
  const tag = Buffer.from(bytes.subarray(Math.max(0, bytes.length - 128))).toString('latin1');
  if (!tag.startsWith('TAG')) return [];
  const field = (from: number, length: number) =>
    oneLine(tag.slice(from, from + length).replace(/\0[\s\S]*$/, ''));
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
  const parts = Buffer.from(bytes).toString('latin1').split('\0');
  return parts.map((part) => texts.decode(Buffer.from(part, 'latin1'))).join('\0');
}

/**
 * Decodes a frame: an encoding byte, then the text. In a comment, a language and a short name precede the text.
 */
function frameText(frame: Uint8Array, comment: boolean, texts: TagTexts): string {
  const label = ENCODINGS[frame[0] ?? 0] ?? 'windows-1252';
  const bytes = frame.subarray(comment ? 4 : 1);
  // What is declared as ISO-8859-1 is often in the character set of the writer's system.
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
