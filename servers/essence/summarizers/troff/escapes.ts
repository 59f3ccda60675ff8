import { troffCharacter } from './characters.js';

/** Splits a macro line into words; double quotes group blanks, a doubled one is a quote. */
export function macroArguments(text: string): string[] {
  return Array.from(text.matchAll(/"([^"]*(?:""[^"]*)*)"?|[^\s"]\S*/g), (found) => {
    const word = found[1] === undefined ? found[0] : found[1].replaceAll('""', '"');
    return removeEscapes(word);
  }).filter((word) => word !== '');
}

/** Replaces troff's escapes (E-74): removes fonts and sizes, converts characters. */
export function removeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text
    .replace(/\\["#].*$/s, '')
    .replace(/\\f(?:\[[^\]]{0,200}\]|\(..|.)|\\s[-+]?\d{1,2}|\\[hvwNoxbl]'[^']{0,200}'|\\[&|^/,:%)]/g, '')
    .replace(/\\\*(?:\[[^\]]{0,200}\]|\(..|.)/g, '')
    .replace(/\\(?:\((..)|\[([^\]]{0,200})\]|(.))/g, (_, two?: string, name?: string, one?: string) =>
      one === undefined ? troffCharacter(two ?? name ?? '') : oneCharacter(one),
    );
}

/**
 * The escapes of one character: `\\e` is a backslash, `\\0` and `\\~` are spaces, all others stand for
 * themselves.
 */
function oneCharacter(character: string): string {
  if (character === 'e') return '\\';
  return character === '0' || character === '~' ? ' ' : character;
}
