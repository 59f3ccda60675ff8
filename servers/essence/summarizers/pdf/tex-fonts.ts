// Fonts of TeX whose glyphs have no Unicode: PDFium gives their codes, which are those of an encoding of TeX.
import { decodeAs } from '../../charset/decoders.js';
import { isMisreadCyrillic } from '../../charset/guess.js';
import { FONT_ACCENTS } from '../accents.js';
import { encodingOf, type FontEncoding } from '../dvi/encodings.js';

/** Characters of a font on a page by which its encoding is guessed. */
const MAX_LENGTH = 4096;
/** The encodings of `larm1000`, `ecrm1000` and `cmr10` and the like. */
const [T2A, T1, OT1] = [encodingOf('larm1000'), encodingOf('ecrm1000'), encodingOf('cmr10')];
/** What PDFium puts in place of a hyphen at the end of a line. */
const HYPHEN = 2;

/** Letters that TeX sets under accents. */
const UNDER_ACCENTS: ReadonlyMap<string, string> = new Map([
  ['ı', 'i'],
  ['ȷ', 'j'],
]);

interface Character {
  readonly code: number;
  /** Any number that tells fonts apart; 0 for characters that PDFium adds. */
  readonly font: number;
}

/**
 * Whether a text may have characters of such fonts: controls that are neither ends of lines nor PDFium's
 * hyphens, characters without a meaning, or words of letters beyond ASCII only, which no Latin language has
 * many of. The font of each character takes long to find.
 */
export function mayHaveTexFonts(text: string): boolean {
  return /[\x01\x03-\x08\x0b\x0c\x0e-\x1f\ufffd\uffff]|\r(?!\n)|[\xc0-\xff]{3}/.test(text);
}

/** The encodings of the fonts on a page whose characters PDFium does not know. */
export function texEncodings(characters: Iterable<Character>): ReadonlyMap<number, FontEncoding> {
  const texts = new Map<number, string>();
  for (const { code, font } of characters) {
    const text = texts.get(font) ?? '';
    if (font !== 0 && text.length < MAX_LENGTH && code > 0 && code <= 0x10ffff)
      texts.set(font, text + String.fromCodePoint(code));
  }
  const encodings = new Map<number, FontEncoding>();
  for (const [font, text] of texts) {
    const encoding = texEncoding(text);
    if (encoding !== undefined) encodings.set(font, encoding);
  }
  return encodings;
}

function texEncoding(text: string): FontEncoding | undefined {
  if (isMisreadCyrillic(text)) return T2A;
  if (/[^\0-\xff]/.test(text)) return undefined;
  // The ligatures ff, fi, fl, ffi, ffl, and the quotation marks of T1, within words or beside them.
  const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
  const knuth = count(/[a-zA-Z][\x0b-\x0f]|[\x0b-\x0f][a-z]/g);
  const cork = count(/[a-zA-Z][\x1b-\x1f]|[\x1b-\x1f][a-z]|\x10[\w]|[\w.,!?]\x11/g);
  if (knuth + cork === 0) return undefined;
  return knuth > cork ? OT1 : T1;
}

/**
 * Returns a text in which the characters of these fonts are those of their encodings, without accents, whose
 * letters are elsewhere.
 */
export function withTexFonts(
  characters: Iterable<Character>,
  encodings: ReadonlyMap<number, FontEncoding>,
): string {
  let text = '';
  for (const { code, font } of characters) {
    if (code <= 0 || code > 0x10ffff) continue;
    const encoding = encodings.get(font);
    if (encoding === undefined || code > 0xff || code === 0x20 || code === HYPHEN) {
      text += String.fromCodePoint(code);
      continue;
    }
    const character = encoding[code] ?? (encoding === T2A ? String.fromCodePoint(code) : '');
    if (!FONT_ACCENTS.has(character)) text += UNDER_ACCENTS.get(character) ?? character;
  }
  return text;
}

/**
 * The text of a field of the information dictionary: programs wrote bytes of windows-1251, which are read as
 * Latin.
 */
export function fieldText(text: string): string {
  return isMisreadCyrillic(text) && !/[^\0-\xff]/.test(text)
    ? decodeAs(Buffer.from(text, 'latin1'), 'windows-1251')
    : text;
}
