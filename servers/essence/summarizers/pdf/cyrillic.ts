// Cyrillic fonts of TeX whose glyphs have no names that the library knows: it takes their codes for those of Latin.
import { decodeAs, isMisreadCyrillic } from '../../charset/index.js';
import { encodingOf } from '../dvi/encodings.js';

/** Characters of a font on a page by which its script is guessed. */
const MAX_LENGTH = 4096;
/** The encoding of the fonts `larm1000` and the like. */
const T2A = encodingOf('larm1000');

interface Run {
  readonly str: string;
  readonly fontName: string;
}

/** Returns a function that gives the text of a run: for a font whose text on this page is Cyrillic in T2A, by that encoding. */
export function textByFont(runs: Iterable<Run>): (run: Run) => string {
  const texts = new Map<string, string>();
  for (const { fontName, str } of runs) {
    const text = texts.get(fontName) ?? '';
    if (text.length < MAX_LENGTH) texts.set(fontName, `${text}${str} `);
  }
  const cyrillic = new Set([...texts].filter(([, text]) => isMisreadCyrillic(text)).map(([font]) => font));
  return ({ fontName, str }) =>
    cyrillic.has(fontName)
      ? str.replace(/[\x80-\xff]/g, (character) => T2A[character.charCodeAt(0)] ?? character)
      : str;
}

/** The text of a field of the information dictionary: programs wrote bytes of windows-1251, which are read as Latin. */
export function fieldText(text: string): string {
  return isMisreadCyrillic(text) && !/[^\0-\xff]/.test(text)
    ? decodeAs(Buffer.from(text, 'latin1'), 'windows-1251')
    : text;
}
