import { isUtf8 } from 'node:buffer';
import { metaCharset, sourceCharset, xmlEncoding } from './declarations.js';
import { decodeAs, decodeUtf8, labelOf } from './decoders.js';
import { guessCharset } from './guess.js';
import { wideCharset } from './marks.js';
import { sevenBitCharset } from './seven-bit.js';

/** What is known of the bytes before they are decoded. */
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
