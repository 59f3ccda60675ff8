/**
 * What a word is and when two spellings are the same. The index and the matcher share these, because a match
 * that the index cannot predict would be lost.
 *
 * A word is a maximal run of letters, marks, numbers and `_` of Unicode. Case folding maps each character by
 * itself, never looking at its neighbors, so that `fold(a + b) === fold(a) + fold(b)`.
 */

/** The Unicode version that decides what a letter is; an index made by another one is rebuilt. */
export const UNICODE_VERSION: string = process.versions.unicode ?? 'unknown';

/** Longest term of the index, UTF-16 units; longer words are indexed as overlapping pieces of this length. */
export const MAX_TERM = 4096;
/** Pieces overlap by this much, so that a shorter part of a long word lies within one of them. */
export const MAX_LOOKUP = 1024;

const NOT_ASCII = /[^\0-\x7f]/;
/** Characters whose lower case is not that of their upper case: they are equal to another letter all the same. */
const VARIANTS =
  /[\u0345\u00b5\u017f\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1c80-\u1c88\u1e9b\u1fbe\u1fd3\u1fe3\ufb05]/g;
/** Letters without a capital that are spellings of another one. */
const TWINS = new Map([
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
]);
const SEPARATORS = /[^\p{L}\p{M}\p{N}_]+/gu;
const ONLY_BLANKS = /^[^\S\n]*$/;
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
const WORDS = /[\p{L}\p{M}\p{N}_]+/gu;

/** The text without differences of case (Unicode simple folding). */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return NOT_ASCII.test(lower) ? lower.replace(VARIANTS, canonical) : lower;
}

function canonical(letter: string): string {
  return TWINS.get(letter) ?? letter.toUpperCase().toLowerCase();
}

/** Whether there is nothing but white space of one line. */
export function isBlank(text: string): boolean {
  return ONLY_BLANKS.test(text);
}

/** A word within a folded text. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The words of a folded text in order. */
export function wordsOf(folded: string): Word[] {
  return Array.from(folded.matchAll(WORDS), (m) => ({
    text: m[0],
    start: m.index,
    end: m.index + m[0].length,
  }));
}

/** Whether the code point that begins at `at` belongs to a word; false beyond the ends. */
export function isWordAt(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  if (code === undefined || at < 0) return false;
  if (code < 0x80) {
    const letter = code | 0x20;
    return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
  }
  return WORD_CHARACTER.test(String.fromCodePoint(code));
}

/** Whether the code point that ends before `at` belongs to a word; false at the start. */
export function isWordBefore(text: string, at: number): boolean {
  if (at <= 0) return false;
  const last = text.charCodeAt(at - 1);
  const low = last >= 0xdc00 && last <= 0xdfff && at > 1;
  return isWordAt(text, low ? at - 2 : at - 1);
}

/**
 * A term of the index that stands where two neighboring words are parted by more than blanks: so a phrase of the
 * index does not reach over a comma or the end of a line (BRK-2.5). No word of a query is spelled like it.
 */
export const BREAK = '\x01';

/** The words of a folded text as the index has them one behind the other, with {@link BREAK}s. */
export function phraseOf(folded: string, words: readonly Word[]): string[] {
  const terms: string[] = [];
  for (const [i, word] of words.entries()) {
    if (i > 0 && !isBlank(folded.slice(words[i - 1]!.end, word.start))) terms.push(BREAK);
    terms.push(word.text);
  }
  return terms;
}

/**
 * The text as the index's ASCII tokenizer must see it: that one takes every character beyond ASCII for a letter
 * and folds ASCII only, so letters are folded here and everything else becomes blanks and {@link BREAK}s.
 */
export function indexText(text: string): string {
  return fold(text)
    .replace(SEPARATORS, (gap) => (isBlank(gap) ? ' ' : ` ${BREAK} `))
    .replace(WORDS, cutLongWord);
}

function cutLongWord(word: string): string {
  if (word.length <= MAX_TERM) return word;
  const pieces: string[] = [];
  for (let start = 0; ; start += MAX_TERM - MAX_LOOKUP) {
    const from = splitsPair(word, start) ? start - 1 : start;
    const to = splitsPair(word, from + MAX_TERM) ? from + MAX_TERM - 1 : from + MAX_TERM;
    pieces.push(word.slice(from, to));
    if (to >= word.length) return pieces.join(' ');
  }
}

function splitsPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff;
}
