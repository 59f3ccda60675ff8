import { inflateSync } from 'node:zlib';
import { oneLine } from '../extracted.js';

/** Chunks and texts of one file that are read. */
const MAX_CHUNKS = 10_000;
const MAX_TEXTS = 100;
/** Bytes of a text chunk, and of its text after inflation. */
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_FIELD = 2000;
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
    const kind = Buffer.from(bytes.subarray(offset + 4, offset + 8)).toString('latin1');
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
  const keyword = Buffer.from(data.subarray(0, end)).toString('latin1');
  if (IGNORED.test(keyword)) return undefined;
  const value = oneLine(decoded(kind, data, end + 1).slice(0, MAX_FIELD));
  if (value === '') return undefined;
  const name = KEYWORDS.get(keyword.toLowerCase());
  return name === undefined ? ['Description', `${oneLine(keyword)}: ${value}`] : [name, value];
}

function decoded(kind: string, data: Uint8Array, start: number): string {
  if (kind === 'tEXt') return Buffer.from(data.subarray(start)).toString('latin1');
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
