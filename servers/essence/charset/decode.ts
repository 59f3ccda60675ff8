import { isUtf8 } from 'node:buffer';
import { latin } from '../bytes.js';
import { words } from '../word-tables.js';
import { decodeAs, decodeUtf8, labelOf } from './decoders.js';
import { guessCharset } from './guess.js';
import { wideCharset } from './marks.js';
import { sevenBitCharset } from './seven-bit.js';

/** The known facts about bytes before they are decoded. */
export interface DecodeHints {
  /** The document is HTML: a META charset counts. */
  readonly html: boolean;
  /** Character set that the access method's reply declares. */
  readonly declared?: string | undefined;
  /** Character sets of other texts of the same origin: a guess prefers them. */
  readonly likely?: readonly string[] | undefined;
  readonly warn?: (message: string) => void;
}

/** A text, and the character set of its bytes. */
export interface DecodedText {
  readonly text: string;
  /**
   * Undefined if it says nothing about other texts of the same origin: ASCII, Unicode, a guess by a few words.
   */
  readonly charset?: string;
}

/** Bytes of words that make a guess a reason to prefer the character set for other texts. */
const MIN_EVIDENCE = 200;

/**
 * Decodes by the first of these that applies (E-77): byte order mark, Unicode in units of two or four bytes,
 * declared set, XML declaration, META charset, the escapes of ISO-2022 and HZ, UTF-8 if valid, the declaration
 * of a source for TeX or an editor, a guess. Never fails.
 */
export function decodeText(bytes: Uint8Array, hints: DecodeHints): DecodedText {
  const wide = wideCharset(bytes);
  if (wide !== undefined) return { text: decodeAs(bytes, wide) };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { text: decodeUtf8(bytes) };
  const declared =
    decodeDeclared(bytes, hints.declared, hints.warn) ??
    decodeDeclared(bytes, xmlEncoding(bytes), hints.warn) ??
    decodeDeclared(bytes, hints.html ? metaCharset(bytes) : undefined, hints.warn);
  if (declared !== undefined) return declared;
  // Before UTF-8: their bytes are all ASCII, hence valid UTF-8.
  const sevenBit = sevenBitCharset(bytes);
  if (sevenBit !== undefined) return { text: decodeAs(bytes, sevenBit) };
  if (isUtf8(bytes)) return { text: decodeUtf8(bytes) };
  const ofSource = decodeDeclared(bytes, sourceCharset(bytes), undefined);
  if (ofSource !== undefined) return ofSource;
  const { label, evidence } = guessCharset(bytes, hints);
  return { text: decodeAs(bytes, label), ...(evidence < MIN_EVIDENCE ? {} : { charset: label }) };
}

/** The text of {@link decodeText}. */
export function decodeBytes(bytes: Uint8Array, hints: DecodeHints): string {
  return decodeText(bytes, hints).text;
}

function decodeDeclared(
  bytes: Uint8Array,
  written: string | undefined,
  warn: DecodeHints['warn'],
): DecodedText | undefined {
  if (written === undefined) return undefined;
  const name = written.trim().toLowerCase();
  const label = labelOf(name);
  if (label === undefined) {
    warn?.(`unknown character set ${name.slice(0, 40)}`);
    return undefined;
  }
  // ASCII and UTF-8 are often declared wrongly, which would turn every umlaut into a replacement character:
  // check first.
  if (label === 'utf-8' || name === 'us-ascii')
    return isUtf8(bytes) ? { text: decodeUtf8(bytes) } : undefined;
  return { text: decodeAs(bytes, label), charset: label };
}

// The declarations of a character set in a document.

/**
 * Bytes that are searched for an XML declaration or a META element: those of the HTML standard, and more for
 * pages with long heads.
 */
const MARKUP_WINDOW_BYTES = 4096;
/**
 * Bytes that are searched for a declaration of a source: the start, and the end with the variables of Emacs and
 * vi.
 */
const SOURCE_WINDOW_BYTES = 4096;
const END_WINDOW_BYTES = 1024;

/** The encoding of an XML declaration at the start of the document. */
function xmlEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] !== 0x3c || bytes[1] !== 0x3f) return undefined;
  const head = latin(bytes.subarray(0, MARKUP_WINDOW_BYTES));
  return narrow(/^<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(head)?.[1]);
}

/** The charset of a META element near the start. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = latin(bytes.subarray(0, MARKUP_WINDOW_BYTES));
  return narrow(/<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)?.[1]);
}

/** UTF-16 is wrong in a declaration that was readable as ASCII. */
function narrow(label: string | undefined): string | undefined {
  const name = label?.toLowerCase();
  return name?.startsWith('utf-16') === true ? 'utf-8' : name;
}

/** Declarations anywhere in the start of a source. */
const IN_HEAD: readonly RegExp[] = [
  /^[^%\n]{0,200}\\(?:usepackage|RequirePackage)\s*\[([\w, -]{1,60})\]\s*\{(?:inputenc|inputenx|selinput)\}/m,
  /^[^%\n]{0,200}\\inputencoding\s*\{([\w-]{1,40})\}/m,
  /^%\s*!\s*TEX\s+encoding\s*=\s*([\w-]{1,40})/im,
  /^@documentencoding\s+([\w-]{1,40})/m,
  /^=encoding\s+([\w-]{1,40})/m,
  /^@charset\s+["']([\w-]{1,40})["']/m,
  /^"Content-Type: text\/plain; charset=([\w-]{1,40})\\n"/im,
];
/** PEP 263, Emacs, Ruby: in one of the first two lines. */
const IN_FIRST_LINES = /^(?:[^\n]{0,300}\n)?[^\n]{0,300}?coding[:=]\s*["']?([\w.-]{1,40})/i;
/** Variables of Emacs, and a mode line of vi. */
const IN_END = /(?:^|[\s;#%*])(?:coding:|vim?:[^\n]{0,80}\b(?:fenc|fileencoding)=)\s*([\w.-]{1,40})/gi;

/**
 * The name by which a source declares its character set for TeX, Texinfo, gettext, an editor or an interpreter;
 * undefined if it does not.
 */
function sourceCharset(bytes: Uint8Array): string | undefined {
  const head = latin(bytes.subarray(0, SOURCE_WINDOW_BYTES));
  const first = IN_FIRST_LINES.exec(head)?.[1];
  if (first !== undefined) return first;
  for (const pattern of IN_HEAD) {
    const found = pattern.exec(head)?.[1];
    // Options of a package: the last one is in use.
    if (found !== undefined) return found.split(',').at(-1)?.trim();
  }
  const end = latin(bytes.subarray(-END_WINDOW_BYTES));
  return [...end.matchAll(IN_END)].at(-1)?.[1];
}

// Names without a declared character set: of the files of an archive.

/** Bytes of names by which the character set is guessed. */
const MAX_BYTES = 2048;

/** The sets of DOS, in which its programs and those of Windows write the names in archives. */
export const DOS_CHARSETS: readonly string[] = words(
  'ibm866 ibm437 ibm850 ibm852 ibm855 ibm737 ibm857 ibm775 ibm862',
);

/**
 * Decodes the names of one archive: as UTF-8 if valid, else all in the same character set, which is guessed by
 * the first ones.
 */
export class NameDecoder {
  readonly #likely: readonly string[];
  #known = Buffer.alloc(0);
  #label: string | undefined;

  /** @param likely - character sets that the format makes probable */
  constructor(likely: readonly string[] = []) {
    this.#likely = likely;
  }

  /** Takes a name into account for the guess. Returns false when no further ones are. */
  learn(name: Uint8Array): boolean {
    if (this.#known.length >= MAX_BYTES) return false;
    if (!isUtf8(name)) {
      this.#known = Buffer.concat([this.#known, name.subarray(0, MAX_BYTES), Buffer.of(0x0a)]);
      this.#label = undefined;
    }
    return true;
  }

  decode(name: Uint8Array): string {
    if (isUtf8(name)) return decodeUtf8(name);
    // A name that was learned before is not learned again once the guess is made.
    if (this.#known.indexOf(name) < 0) this.learn(name);
    this.#label ??= guessCharset(this.#known, { likely: this.#likely }).label;
    return decodeAs(name, this.#label);
  }
}

// The character sets of the servers from which documents come: a page without a declaration is probably in that
// of its neighbors.

/** Servers that are remembered. */
const MAX_ORIGINS = 1000;

/**
 * Remembers the character set of the last text of each server that declared one, or was long enough for a
 * guess.
 */
export class OriginCharsets {
  readonly #max: number;
  readonly #byOrigin = new Map<string, string>();

  /** @param max - servers that are remembered; the one that was used longest ago is forgotten. */
  constructor(max = MAX_ORIGINS) {
    this.#max = max;
  }

  /** The character set of a text from the server of this URL. */
  likely(url: string): string | undefined {
    const origin = originOf(url);
    const charset = origin === undefined ? undefined : this.#byOrigin.get(origin);
    if (origin !== undefined && charset !== undefined) this.#put(origin, charset);
    return charset;
  }

  remember(url: string, charset: string): void {
    const origin = originOf(url);
    if (origin !== undefined) this.#put(origin, charset);
  }

  #put(origin: string, charset: string): void {
    this.#byOrigin.delete(origin);
    this.#byOrigin.set(origin, charset);
    const oldest = this.#byOrigin.keys().next();
    if (this.#byOrigin.size > this.#max && oldest.done !== true) this.#byOrigin.delete(oldest.value);
  }
}

/** Scheme, host and port of a canonical URL. */
function originOf(url: string): string | undefined {
  return /^[a-z]+:\/\/[^/?#]{1,300}/.exec(url)?.[0];
}
