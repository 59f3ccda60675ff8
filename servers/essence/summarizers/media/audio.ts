import { bufferOf, latin, untilNul, viewOf } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, present } from '../extracted.js';
import { titledFields } from '../text.js';
import { fourCharacters, MediaFacts } from './facts.js';
import { readIsoMedia } from './iso-media.js';
import { readMatroska } from './matroska.js';
import { id3v1, id3v2, mpegSeconds } from './mp3.js';

/** Maximum number of comments of one file. */
const MAX_COMMENTS = 200;
/** Maximum number of chunks or blocks of one file. */
const MAX_CHUNKS = 10_000;
/** Bytes at the end of an Ogg file that are searched for its last page, which has at most this size. */
const MAX_PAGE_BYTES = 65_307;

/** Encodings of Sun audio files. */
const SUN_CODINGS: ReadonlyMap<number, string> = new Map([
  [1, 'mu-law'],
  [2, '8-bit PCM'],
  [3, '16-bit PCM'],
  [6, 'floating point'],
  [27, 'A-law'],
]);

/**
 * Audio and video: title (else the file's name), artist and other tags; format, size of the picture and
 * duration (6.2).
 */
export function summarizeMedia(document: SourceDocument): Summary {
  const facts = new MediaFacts();
  const kind = 'the sound or video file';
  guarded(document, kind, undefined, () => readMedia(document.body, facts));
  return {
    attributes: [
      ...titledFields(document, facts.fields),
      ...present([
        ['Description', facts.summary],
        ['Duration', facts.hasDuration ? facts.seconds.toFixed(1) : undefined],
      ]),
    ],
    text: '',
  };
}

function readMedia(bytes: Uint8Array, facts: MediaFacts): void {
  const view = viewOf(bytes);
  const start = latin(bytes, 0, 12);
  if (start.startsWith('RIFF')) readChunks(bytes, view, facts, true);
  else if (start.startsWith('FORM')) readChunks(bytes, view, facts, false);
  else if (start.startsWith('.snd')) readSun(bytes, view, facts);
  else if (start.startsWith('fLaC')) readFlac(bytes, view, facts);
  else if (start.startsWith('OggS')) readOgg(bytes, view, facts);
  else if (start.startsWith('\x1a\x45\xdf\xa3')) readMatroska(bytes, facts);
  else if (ISO_BOXES.has(start.slice(4, 8))) readIsoMedia(bytes, facts);
  else if (start.startsWith('ID3') || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0)) {
    facts.format = 'MPEG audio';
    const fields = [...id3v2(bytes), ...id3v1(bytes)];
    for (const [name, value] of fields) {
      if (!facts.fields.some(([known]) => known === name)) facts.addField(name, value);
    }
    facts.seconds = mpegSeconds(bytes, view);
  }
}

/** Types of the first box of ISO media; QuickTime files may begin without `ftyp`. */
const ISO_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

/** Lists of RIFF that are read; others, with the sound and pictures, are skipped. */
const LISTS = new Set(['INFO', 'hdrl', 'strl']);

/** WAVE, AVI and AIFF: chunks with a name, a size and data. */
function readChunks(bytes: Uint8Array, view: DataView, facts: MediaFacts, little: boolean): void {
  let rate = 0;
  const kind = fourCharacters(bytes, 8);
  facts.format = little ? (kind === 'AVI ' ? 'AVI video' : 'WAVE audio') : 'AIFF audio';
  for (let offset = 12, chunks = 0; offset + 8 <= bytes.length && chunks < MAX_CHUNKS; chunks++) {
    const name = fourCharacters(bytes, offset);
    const size = view.getUint32(offset + 4, little);
    const data = offset + 8;
    if (little && name === 'LIST' && LISTS.has(fourCharacters(bytes, data))) {
      // A list contains chunks: descend into it.
      offset += 12;
      continue;
    }
    if (little && name === 'fmt ') rate = view.getUint32(offset + 16, true);
    else if (little && name === 'data' && rate > 0) facts.seconds = size / rate;
    else if (name === 'avih') {
      facts.seconds = (view.getUint32(data, true) * view.getUint32(data + 16, true)) / 1e6;
      facts.width = view.getUint32(data + 32, true);
      facts.height = view.getUint32(data + 36, true);
    } else if (!little && name === 'COMM')
      facts.seconds = view.getUint32(offset + 10) / extendedFloat(view, offset + 16);
    else if (/^id3 $/i.test(name)) {
      for (const [field, value] of id3v2(bytes.subarray(data, data + size))) facts.addField(field, value);
    } else facts.add(name, untilNul(facts.texts.decode(bytes.subarray(data, data + Math.min(size, 6000)))));
    offset += 8 + size + (size % 2);
  }
}

/** The 80-bit number of AIFF's sample rate. */
function extendedFloat(view: DataView, offset: number): number {
  return view.getUint32(offset + 2) * 2 ** ((view.getUint16(offset) & 0x7fff) - 16383 - 31) || 1;
}

function readSun(bytes: Uint8Array, view: DataView, facts: MediaFacts): void {
  const start = view.getUint32(4);
  const coding = view.getUint32(12);
  const rate = view.getUint32(16) * Math.max(1, view.getUint32(20));
  facts.format = `Sun audio, ${SUN_CODINGS.get(coding) ?? `coding ${coding}`}`;
  facts.seconds = (bytes.length - start) / (rate * (coding === 3 ? 2 : 1)) || 0;
  facts.add('COMMENT', untilNul(latin(bytes, 24, Math.min(start, 2024))));
}

function readFlac(bytes: Uint8Array, view: DataView, facts: MediaFacts): void {
  facts.format = 'FLAC audio';
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

/** Ogg: the comment header is in the second page of a stream; its first packet begins with its name. */
function readOgg(bytes: Uint8Array, view: DataView, facts: MediaFacts): void {
  const head = bufferOf(bytes, 65_536);
  const isVideo = head.indexOf('\x80theora', 0, 'latin1') >= 0;
  const opusHead = head.indexOf('OpusHead');
  const vorbisHead = head.indexOf('\x01vorbis', 0, 'latin1');
  facts.format = isVideo ? 'Ogg Theora video' : opusHead >= 0 ? 'Opus audio' : 'Ogg Vorbis audio';
  if (!isVideo && opusHead >= 0) facts.seconds = lastPosition(bytes) / 48_000;
  else if (!isVideo && vorbisHead >= 0)
    facts.seconds = lastPosition(bytes) / Math.max(1, view.getUint32(vorbisHead + 12, true));
  if (isVideo) {
    const theora = head.indexOf('\x80theora', 0, 'latin1');
    facts.width = view.getUint32(theora + 13) & 0xffffff;
    facts.height = view.getUint32(theora + 16) & 0xffffff;
  }
  for (const name of ['OpusTags', '\x03vorbis', '\x81theora']) {
    const comments = head.indexOf(name, 0, 'latin1');
    if (comments >= 0) vorbisComments(bytes, view, comments + name.length, facts);
  }
}

/** Samples up to the end of the last page; 0 if that is unknown. */
function lastPosition(bytes: Uint8Array): number {
  const tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - MAX_PAGE_BYTES)));
  const page = tail.lastIndexOf('OggS');
  if (page < 0 || page + 14 > tail.length) return 0;
  const position = Number(tail.readBigInt64LE(page + 6));
  return position > 0 ? position : 0;
}

function vorbisComments(bytes: Uint8Array, view: DataView, start: number, facts: MediaFacts): void {
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
