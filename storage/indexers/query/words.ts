/**
 * Word boundaries and case folding of normalized texts (`normalize.ts`). The index and the matcher share these
 * rules, because a match that the index does not predict is lost.
 *
 * A word is a maximal run of Unicode letters, marks, numbers and `_`. Case folding maps each character
 * independently of its neighbors, so `fold(a + b) === fold(a) + fold(b)`.
 */

/** The Unicode version that defines letters; an index made with another version is rebuilt. */
export const UNICODE_VERSION: string = process.versions.unicode ?? 'unknown';

/**
 * Maximum length of a term of the index, in UTF-16 units; longer words are indexed as overlapping pieces of
 * this length.
 */
export const MAX_TERM = 4096;
/** Overlap of two pieces: every shorter part of a long word is contained in one piece. */
export const MAX_LOOKUP = 1024;

const NOT_ASCII = /[^\0-\x7f]/;
/**
 * Characters whose lower case differs from the lower case of their upper case, though they equal another
 * letter.
 */
const VARIANTS =
  /[\u0345\u00b5\u017f\u03c2\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1c80-\u1c88\u1e9b\u1fbe\u1fd3\u1fe3\ufb05]/g;
/** Letters without a capital that are equal to another letter. */
const EQUIVALENTS = new Map([
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
]);
const SEPARATORS = /[^\p{L}\p{M}\p{N}_]+/gu;
const ONLY_BLANKS = /^[^\S\n]*$/;
/** A hyphen between two parts of a word, which a phrase has with a blank or without. */
const HYPHEN = '-';
const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
const WORDS = /[\p{L}\p{M}\p{N}_]+/gu;

/** Folds the case of a text (Unicode simple folding). */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  return NOT_ASCII.test(lower) ? lower.replace(VARIANTS, canonical) : lower;
}

function canonical(letter: string): string {
  return EQUIVALENTS.get(letter) ?? letter.toUpperCase().toLowerCase();
}

/** Whether the text is empty or consists of white space without a line end. */
export function isBlank(text: string): boolean {
  return ONLY_BLANKS.test(text);
}

/** Whether what separates two words lets a phrase continue: blanks, or the hyphen of `retry-backoff`. */
function joinsPhrase(gap: string): boolean {
  return gap === HYPHEN || isBlank(gap);
}

/** Replaces the hyphens between the parts of words by blanks, which they equal in a phrase (BRK-2.5). */
export function withoutHyphens(text: string): string {
  return text.replaceAll(HYPHEN, (hyphen, offset: number) =>
    isWordBefore(text, offset) && isWordAt(text, offset + 1) ? ' ' : hyphen,
  );
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

/** Whether the code point that begins at `offset` is a word character; false outside the text. */
export function isWordAt(text: string, offset: number): boolean {
  const code = text.codePointAt(offset);
  if (code === undefined || offset < 0) return false;
  if (code < 0x80) {
    const letter = code | 0x20;
    return (letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
  }
  return WORD_CHARACTER.test(String.fromCodePoint(code));
}

/** Whether the code point that ends before `offset` is a word character; false at the start. */
export function isWordBefore(text: string, offset: number): boolean {
  if (offset <= 0) return false;
  const last = text.charCodeAt(offset - 1);
  const low = last >= 0xdc00 && last <= 0xdfff && offset > 1;
  return isWordAt(text, low ? offset - 2 : offset - 1);
}

/**
 * A term that the index inserts where more than blanks separates two adjacent words, so that an indexed phrase
 * does not cross a comma or a line end (BRK-2.5). No word of a query equals it.
 */
export const BREAK = '\x01';

/**
 * The first character of a term that the index has for a part of an identifier. No word of a query begins with it, so that
 * only requests that ask for parts find them.
 */
export const PART = '\x02';

/** The words of a folded text in the order of the index, with {@link BREAK}s. */
export function phraseOf(folded: string, words: readonly Word[]): string[] {
  const terms: string[] = [];
  for (const [i, word] of words.entries()) {
    if (i > 0 && !joinsPhrase(folded.slice(words[i - 1]!.end, word.start))) terms.push(BREAK);
    terms.push(word.text);
  }
  return terms;
}

/**
 * Prepares a text for the ASCII tokenizer of the index. The tokenizer treats every character beyond ASCII as a
 * letter and folds only ASCII, so this function folds letters and turns everything else into blanks and
 * {@link BREAK}s.
 */
export function indexText(text: string): string {
  return fold(text)
    .replace(SEPARATORS, (gap) => (joinsPhrase(gap) ? ' ' : ` ${BREAK} `))
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

function splitsPair(text: string, offset: number): boolean {
  const code = text.charCodeAt(offset);
  return offset > 0 && code >= 0xdc00 && code <= 0xdfff;
}
