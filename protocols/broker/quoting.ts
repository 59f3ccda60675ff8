// Writes words and strings of a message (BRK-2.5 to 2.8).
import { isOperatorWord } from './query-parser.js';

/** A word that the lexer reads back as itself (BRK-2.6, BRK-2.8); only ASCII blanks end a word. */
function isBareWord(text: string): boolean {
  return /^[^\t-\r ()":#][^\t-\r ()":]*$/.test(text) && !isOperatorWord(text);
}

/** Writes an ID: bare if possible, otherwise in double quotes. */
export function quoteId(text: string): string {
  return isBareWord(text) ? text : quoteString(text);
}

/**
 * Writes an ID in double quotes (BRK-2.5). Backslash pairs stay (BRK-2.7). A single backslash at the end would
 * escape the closing quote, so it becomes a pair, which means the same to the indexer.
 */
export function quoteString(text: string): string {
  const escaped = text.replace(/\\([\s\S]?)|"/g, (found, after: string | undefined) => {
    if (found === '"') return '\\"';
    return after === '' ? '\\\\' : found;
  });
  return `"${escaped}"`;
}
