// The words of a text that the word index looks up: whole words, and parts of words at its ends.
import type { LiteralLookup } from './leaf.js';
import { MAX_LOOKUP, phraseOf, type Word, wordsOf } from './words.js';

/** Where in a word of the index a text must occur. */
export type WordPosition = 'start' | 'end' | 'anywhere';

/**
 * Splits a text into runs of consecutive whole words and parts of words at its ends. `foo bar baz` is the end
 * of a word, a word and the start of a word.
 */
export function splitLookup({ text, leftBounded, rightBounded }: LiteralLookup): {
  phrases: string[][];
  parts: { text: string; position: WordPosition }[];
} {
  const phrases: string[][] = [];
  const parts: { text: string; position: WordPosition }[] = [];
  let phrase: Word[] = [];
  const endPhrase = () => {
    if (phrase.length > 0) phrases.push(phraseOf(text, phrase));
    phrase = [];
  };
  for (const word of wordsOf(text)) {
    const position = openPosition(word, text, leftBounded, rightBounded);
    if (position === undefined) phrase.push(word);
    else {
      endPhrase();
      parts.push({ text: truncated(word.text), position });
    }
  }
  endPhrase();
  return { phrases, parts };
}

/** Where the text is in a word of the object; undefined if it is the whole word. */
function openPosition(
  word: Word,
  text: string,
  leftBounded: boolean,
  rightBounded: boolean,
): WordPosition | undefined {
  // A longer word may be indexed in pieces (words.ts).
  if (word.text.length > MAX_LOOKUP) return 'anywhere';
  const openLeft = word.start === 0 && !leftBounded;
  const openRight = word.end === text.length && !rightBounded;
  if (openLeft) return openRight ? 'anywhere' : 'end';
  return openRight ? 'start' : undefined;
}

function truncated(text: string): string {
  const cut = text.slice(0, MAX_LOOKUP);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
