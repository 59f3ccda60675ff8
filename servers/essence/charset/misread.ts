// Cyrillic that was read as Latin: each byte became the character of ISO-8859-1 with its number.
import { guessCharset } from './guess.js';

/** The least number, and share of the letters, of letters from U+00C0 to U+00FF. No text in a Latin script has as many. */
const MIN_LETTERS = 4;
const MIN_SHARE = 0.5;
const MAX_LENGTH = 16 * 1024;

/** Whether a text consists of the bytes of windows-1251, each of which became a character of Latin. T2A has the letters of Russian there too. */
export function isMisreadCyrillic(text: string): boolean {
  const start = text.slice(0, MAX_LENGTH);
  const high = start.match(/[\u00c0-\u00ff]/g)?.length ?? 0;
  if (high < MIN_LETTERS || high < MIN_SHARE * (start.match(/\p{L}/gu)?.length ?? 0)) return false;
  const bytes = Buffer.from(start.replace(/[^\0-\xff]/g, ' '), 'latin1');
  return guessCharset(bytes).label === 'windows-1251';
}
