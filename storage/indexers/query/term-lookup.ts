// Looks up parts of words, misspelled words and regular expressions in the vocabulary.
import { ApproximateMatcher } from './approximate.js';
import { MAX_LOOKUP, wordsOf } from './words.js';

/** What a word of the vocabulary decides about the objects that contain it; undefined if nothing. */
type TermVerdict =
  /** The objects match. */
  | 'certain'
  /** The objects may match: a match may begin or end in this word and extend into an adjacent word. */
  | 'possible'
  | undefined;

/** Answers a leaf from the vocabulary, without reading objects. */
export interface TermLookup {
  /** Folded texts; every word with a verdict contains one of them. */
  readonly containing: readonly string[];
  verdict(term: string): TermVerdict;
  /** Whether an object without a word that has a verdict does not match. */
  readonly complete: boolean;
}

/** Minimum length of a text to search for; shorter ones occur in too many words. */
const MIN_TEXT = 2;
const ASCII = /^[\0-\x7f]*$/;

/** Looks up a part of a word, ignoring case: every word that contains the text is a match. */
export function partLookup(folded: string): TermLookup | undefined {
  if (!isOneWord(folded)) return undefined;
  return { containing: [folded], verdict: () => 'certain', complete: true };
}

/**
 * Looks up a word with spelling errors. A match within one word leaves one of `errors + 1` parts of the pattern
 * unchanged. With one error, a match across two words uses that error for the separator: the match is the end
 * of one word and the start of the other, and one of them contains the longer half of the pattern unchanged.
 */
export function approximateLookup(
  folded: string,
  errors: number,
  matchWord: boolean,
  ignoreCase: boolean,
): TermLookup | undefined {
  const characters = Array.from(folded);
  const length = characters.length;
  const part = errors === 1 ? Math.floor((length - 1) / 2) : Math.floor(length / (errors + 1));
  if (!isOneWord(folded) || part < MIN_TEXT) return undefined;
  const text = (from: number, to = length) => characters.slice(from, to).join('');
  const matcher = new ApproximateMatcher(folded, errors, matchWord);
  const inside: TermVerdict = ignoreCase ? 'certain' : 'possible';
  if (errors > 1) {
    const containing = Array.from({ length: errors + 1 }, (_, i) =>
      text(Math.floor((i * length) / (errors + 1)), Math.floor(((i + 1) * length) / (errors + 1))),
    );
    return { containing, verdict: (term) => (matcher.test(term) ? inside : undefined), complete: false };
  }
  const starts = Array.from({ length: length - part - 1 }, (_, i) => text(0, part + i));
  const ends = Array.from({ length: length - part }, (_, i) => text(i + 1)).filter((end) => end !== '');
  const verdict = (term: string): TermVerdict => {
    if (matcher.test(term)) return inside;
    const atBorder = starts.some((start) => term.endsWith(start)) || ends.some((end) => term.startsWith(end));
    // A letter that folds to two (a capital I with a dot) may count as one error in the unfolded text.
    return atBorder || (!ignoreCase && term.includes('\u0307')) ? 'possible' : undefined;
  };
  return { containing: [text(0, part), text(length - part)], verdict, complete: true };
}

/**
 * Looks up a regular expression, ignoring case. If it has no anchors, a match within one word is sufficient.
 */
export function regexpLookup(
  source: string,
  required: readonly string[],
  test: (text: string) => boolean,
): TermLookup | undefined {
  if (/[\^$]|\\[A-Za-z]|\(\?/.test(source)) return undefined;
  const longest = required
    .flatMap((text) => wordsOf(text))
    .reduce((best, { text }) => (text.length > best.length ? text : best), '');
  if (longest.length < MIN_TEXT) return undefined;
  // Beyond ASCII, the case folding of RE2 may differ from that of the index.
  const verdict = (term: string): TermVerdict => (ASCII.test(term) && test(term) ? 'certain' : undefined);
  return { containing: [longest], verdict, complete: false };
}

function isOneWord(folded: string): boolean {
  return folded.length <= MAX_LOOKUP && wordsOf(folded)[0]?.text === folded;
}
