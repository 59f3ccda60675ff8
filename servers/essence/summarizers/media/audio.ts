import type { SourceDocument } from '../../document.js';
import type { Summary } from '../../summary.js';
import { guarded, oneLine, present } from '../extracted.js';
import { summarizeUnrecognized } from '../text.js';
import { id3v1, id3v2 } from './id3.js';

/** Maximum number of comments of one file. */
const MAX_COMMENTS = 200;
/** Maximum number of chunks or blocks of one file. */
const MAX_CHUNKS = 10_000;

/** Attributes by the names of Vorbis comments and of WAVE INFO chunks. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['TITLE', 'Title'],
  ['ARTIST', 'Author'],
  ['COMPOSER', 'Author'],
  ['ALBUM', 'Series-Title'],
  ['DATE', 'Date'],
  ['GENRE', 'Keywords'],
  ['DESCRIPTION', 'Description'],
  ['COMMENT', 'Description'],
  ['INAM', 'Title'],
  ['IART', 'Author'],
  ['IPRD', 'Series-Title'],
  ['ICRD', 'Date'],
  ['IGNR', 'Keywords'],
  ['ICMT', 'Description'],
  ['NAME', 'Title'],
  ['AUTH', 'Author'],
  ['ANNO', 'Description'],
]);

/** Encodings of Sun audio files. */
const SUN_CODINGS: ReadonlyMap<number, string> = new Map([
  [1, 'mu-law'],
  [2, '8-bit PCM'],
  [3, '16-bit PCM'],
  [6, 'floating point'],
  [27, 'A-law'],
]);

/** Metadata of a sound file. */
class AudioFacts {
  readonly fields: (readonly [string, string])[] = [];
  codec = '';
  seconds = 0;

  add(tag: string, value: string): void {
    const name = FIELDS.get(tag.toUpperCase());
    if (name !== undefined && this.fields.length < MAX_COMMENTS)
      this.fields.push([name, oneLine(value.slice(0, 2000))]);
  }
}

/** Audio: title (else the file's name), artist and other tags; codec and duration (6.2). */
export function summarizeAudio(document: SourceDocument): Summary {
  const facts = new AudioFacts();
  guarded(document, 'the sound file', undefined, () => readAudio(document.body, facts));
  const fields = present(facts.fields);
  const title = fields.some(([name]) => name === 'Title') ? [] : summarizeUnrecognized(document).attributes;
  const duration = facts.seconds > 0 ? `, ${facts.seconds.toFixed(1)} seconds` : '';
  return {
    attributes: [
      ...title,
      ...fields,
      ...present([['Description', facts.codec === '' ? undefined : `${facts.codec}${duration}`]]),
    ],
    text: '',
  };
}

function readAudio(bytes: Uint8Array, facts: AudioFacts): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = latin(bytes, 0, 12);
  if (start.startsWith('RIFF')) readChunks(bytes, view, facts, true);
  else if (start.startsWith('FORM')) readChunks(bytes, view, facts, false);
  else if (start.startsWith('.snd')) readSun(bytes, view, facts);
  else if (start.startsWith('fLaC')) readFlac(bytes, view, facts);
  else if (start.startsWith('OggS')) readOgg(bytes, view, facts);
  else if (start.startsWith('ID3') || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0)) {
    facts.codec = 'MPEG audio';
    for (const [name, value] of [...id3v2(bytes), ...id3v1(bytes)]) {
      if (!facts.fields.some(([known]) => known === name)) facts.fields.push([name, value]);
    }
  }
}

function latin(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.subarray(from, to)).toString('latin1');
}

/** WAVE and AIFF: chunks with a name, a size and data. */
function readChunks(bytes: Uint8Array, view: DataView, facts: AudioFacts, little: boolean): void {
  let rate = 0;
  facts.codec = little ? 'WAVE audio' : 'AIFF audio';
  for (let offset = 12, chunks = 0; offset + 8 <= bytes.length && chunks < MAX_CHUNKS; chunks++) {
    const name = latin(bytes, offset, offset + 4);
    const size = view.getUint32(offset + 4, little);
    if (little && name === 'fmt ') rate = view.getUint32(offset + 16, true);
    else if (little && name === 'data' && rate > 0) facts.seconds = size / rate;
    else if (!little && name === 'COMM')
      facts.seconds = view.getUint32(offset + 10) / extendedFloat(view, offset + 16);
    else if (name === 'LIST' && latin(bytes, offset + 8, offset + 12) === 'INFO') {
      // A list contains chunks: descend into it.
      offset += 12;
      continue;
    } else
      facts.add(name, latin(bytes, offset + 8, offset + 8 + Math.min(size, 2000)).replace(/\0[\s\S]*$/, ''));
    offset += 8 + size + (size % 2);
  }
}

/** The 80-bit number of AIFF's sample rate. */
function extendedFloat(view: DataView, offset: number): number {
  return view.getUint32(offset + 2) * 2 ** ((view.getUint16(offset) & 0x7fff) - 16383 - 31) || 1;
}

function readSun(bytes: Uint8Array, view: DataView, facts: AudioFacts): void {
  const start = view.getUint32(4);
  const coding = view.getUint32(12);
  const rate = view.getUint32(16) * Math.max(1, view.getUint32(20));
  facts.codec = `Sun audio, ${SUN_CODINGS.get(coding) ?? `coding ${coding}`}`;
  facts.seconds = (bytes.length - start) / (rate * (coding === 3 ? 2 : 1)) || 0;
  facts.add('COMMENT', latin(bytes, 24, Math.min(start, 2024)).replace(/\0[\s\S]*$/, ''));
}

function readFlac(bytes: Uint8Array, view: DataView, facts: AudioFacts): void {
  facts.codec = 'FLAC audio';
  for (let offset = 4, blocks = 0; offset + 4 <= bytes.length && blocks < MAX_CHUNKS; blocks++) {
    const kind = bytes[offset]!;
    const size = view.getUint32(offset) & 0xffffff;
    if ((kind & 0x7f) === 0) {
      const rate = view.getUint32(offset + 14) >>> 12;
      const samples = (view.getUint8(offset + 17) & 15) * 2 ** 32 + view.getUint32(offset + 18);
      facts.seconds = rate > 0 ? samples / rate : 0;
    } else if ((kind & 0x7f) === 4) vorbisComments(bytes, view, offset + 4, facts);
    if ((kind & 0x80) !== 0) return;
    offset += 4 + size;
  }
}

/** Ogg: the comment header is in the second page, whose first packet begins with its name. */
function readOgg(bytes: Uint8Array, view: DataView, facts: AudioFacts): void {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 65_536));
  facts.codec = head.includes('OpusHead') ? 'Opus audio' : 'Ogg Vorbis audio';
  const opus = head.indexOf('OpusTags');
  const vorbis = head.indexOf('\x03vorbis', 0, 'latin1');
  if (opus >= 0) vorbisComments(bytes, view, opus + 8, facts);
  else if (vorbis >= 0) vorbisComments(bytes, view, vorbis + 7, facts);
}

function vorbisComments(bytes: Uint8Array, view: DataView, start: number, facts: AudioFacts): void {
  let offset = start + 4 + view.getUint32(start, true);
  const count = Math.min(MAX_COMMENTS, view.getUint32(offset, true));
  offset += 4;
  for (let i = 0; i < count && offset + 4 <= bytes.length; i++) {
    const length = view.getUint32(offset, true);
    const comment = Buffer.from(bytes.subarray(offset + 4, offset + 4 + Math.min(length, 4000))).toString(
      'utf8',
    );
    offset += 4 + length;
    const equals = comment.indexOf('=');
    if (equals > 0) facts.add(comment.slice(0, equals), comment.slice(equals + 1));
  }
}
