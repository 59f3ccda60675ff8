import { isAscii, isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';

/** Bytes that are searched for a META charset, as in the HTML standard. */
const META_WINDOW_BYTES = 1024;
/** Bytes that chardet analyzes: more do not change its result. */
const GUESS_WINDOW_BYTES = 64 * 1024;
/** chardet's confidence (0-100) below which windows-1252 is the better guess. */
const MIN_CONFIDENCE = 30;

/** Accepted guesses: legacy character sets that pages use and the platform decodes. */
const GUESSABLE: ReadonlySet<string> = new Set(
  (
    'Shift_JIS EUC-JP ISO-2022-JP EUC-KR Big5 GB18030 KOI8-R windows-1250 windows-1251 windows-1252 windows-1253 ' +
    'windows-1254 windows-1255 windows-1256 ISO-8859-1 ISO-8859-2 ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 ISO-8859-9'
  ).split(' '),
);

/** What is known of the bytes before they are decoded. */
export interface DecodeHints {
  /** The document is HTML: a META charset counts. */
  readonly html: boolean;
  /** Character set that the access method's reply declares. */
  readonly declared?: string;
  readonly warn?: (message: string) => void;
}

/**
 * Decodes by the first of these that applies (E-77): byte order mark, declared set, XML declaration, META charset, the escapes of
 * ISO-2022-JP, UTF-8 if valid, a guess, windows-1252. Never fails.
 */
export function decodeBytes(bytes: Uint8Array, hints: DecodeHints): string {
  const mark = byteOrderMark(bytes) ?? wideXml(bytes);
  if (mark !== undefined) return decode(bytes, mark) ?? '';
  const declared =
    decodeDeclared(bytes, hints.declared, hints.warn) ??
    decodeDeclared(bytes, xmlEncoding(bytes), hints.warn) ??
    decodeDeclared(bytes, hints.html ? metaCharset(bytes) : undefined, hints.warn);
  if (declared !== undefined) return declared;
  // Before UTF-8: its bytes are all ASCII, hence valid UTF-8.
  if (hasJapaneseEscape(bytes)) return decode(bytes, 'iso-2022-jp') ?? '';
  if (isUtf8(bytes)) return decodeUtf8(bytes);
  return decode(bytes, guess(bytes)) ?? decodeLatin(bytes);
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

function decodeDeclared(
  bytes: Uint8Array,
  label: string | undefined,
  warn: DecodeHints['warn'],
): string | undefined {
  if (label === undefined) return undefined;
  const name = label.trim().toLowerCase();
  if (name === 'utf-8' || name === 'utf8' || name === 'us-ascii') {
    // UTF-8 is often declared wrongly, which would turn every umlaut into a replacement character: check first.
    return isUtf8(bytes) ? decodeUtf8(bytes) : undefined;
  }
  const text = decode(bytes, name);
  if (text === undefined) warn?.(`unknown character set ${name.slice(0, 40)}`);
  return text;
}

/** XML in UTF-16 without a byte order mark begins with `<?` in two bytes each. */
function wideXml(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0x3c && bytes[1] === 0 && bytes[2] === 0x3f && bytes[3] === 0) return 'utf-16le';
  if (bytes[0] === 0 && bytes[1] === 0x3c && bytes[2] === 0 && bytes[3] === 0x3f) return 'utf-16be';
  return undefined;
}

/** The encoding of an XML declaration at the start of the document. */
function xmlEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== 0x3c || bytes[1] !== 0x3f) return undefined;
  const head = decodeLatin(bytes.subarray(0, META_WINDOW_BYTES));
  const label = /^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head)?.[1]?.toLowerCase();
  return label?.startsWith('utf-16') === true ? 'utf-8' : label;
}

/** ISO-2022-JP switches to Japanese by ESC `$` `@` or ESC `$` `B`, in a text without bytes beyond ASCII. */
function hasJapaneseEscape(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, GUESS_WINDOW_BYTES));
  return isAscii(head) && (head.includes('\x1b$B') || head.includes('\x1b$@'));
}

/** The charset of a META element in the first 1024 bytes. UTF-16 there is wrong: it would not be readable as ASCII. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = decodeLatin(bytes.subarray(0, META_WINDOW_BYTES));
  const found = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head);
  const label = found?.[1]?.toLowerCase();
  return label?.startsWith('utf-16') === true ? 'utf-8' : label;
}

function guess(bytes: Uint8Array): string {
  for (const match of analyse(bytes.subarray(0, GUESS_WINDOW_BYTES))) {
    if (match.confidence >= MIN_CONFIDENCE && GUESSABLE.has(match.name)) return match.name;
  }
  return 'windows-1252';
}

function decode(bytes: Uint8Array, label: string): string | undefined {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  if (isAscii(bytes)) return decodeLatin(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function decodeLatin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
