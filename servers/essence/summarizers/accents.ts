// Accents as combining characters, by the names that formats give them.
import { words } from '../word-tables.js';

/**
 * Code point; command of TeX, name of Texinfo, sign of groff, character of fonts, name of the glyph; `-` is
 * none.
 */
const ACCENTS = `
  0300 \` - \` \` grave
  0301 ' - ' ´ acute
  0302 ^ - ^ ˆ circumflex
  0303 ~ - ~ ˜ tilde
  0304 = - - ¯ macron
  0306 u - - ˘ breve
  0307 . dotaccent - ˙ dotaccent
  0308 " - : ¨ dieresis
  030a r ringaccent o ˚ ring
  030b H - - ˝ hungarumlaut
  030c v - v ˇ caron
  0323 d udotaccent - - -
  0326 - - - - commaaccent
  0327 c - , ¸ cedilla
  0328 k ogonek - - ogonek
  0331 b ubaraccent - - -
`;

/** The combining characters by one of the names. */
function accentsBy(column: number): ReadonlyMap<string, string> {
  const rows = ACCENTS.trim().split('\n').map(words);
  return new Map(
    rows
      .filter((row) => row[column] !== '-')
      .map((row) => [row[column]!, String.fromCharCode(Number.parseInt(row[0]!, 16))]),
  );
}

export const TEX_ACCENTS = accentsBy(1);
export const TEXINFO_ACCENTS = accentsBy(2);
export const GROFF_ACCENTS = accentsBy(3);
export const FONT_ACCENTS = accentsBy(4);
export const GLYPH_ACCENTS = accentsBy(5);
