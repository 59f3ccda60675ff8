import { ApproximateMatcher } from './approximate.js';
import { MAX_LOOKUP, wordsOf } from './words.js';

/** What a word of the vocabulary says about the objects that have it. */
type TermVerdict =
  /** They match. */
  | 'certain'
  /** They may: a match may begin or end in this word and go on in its neighbor. */
  | 'possible'
  | undefined;

/** How the vocabulary can answer for a leaf, without a look at any object. */
export interface TermLookup {
  /** Folded texts; a word with something to say contains one of them. */
  readonly containing: readonly string[];
  verdict(term: string): TermVerdict;
  /** Objects none of whose words got a verdict do not match. */
  readonly complete: boolean;
}

/** Shorter texts are in too many words. */
const SHORTEST = 2;
const ASCII = /^[\0-\x7f]*$/;

/** Parts of words, case ignored: what contains the text decides. */
export function partLookup(folded: string): TermLookup | undefined {
  if (!isOneWord(folded)) return undefined;
  return { containing: [folded], verdict: () => 'certain', complete: true };
}

/**
 * A word with spelling errors. A match within one word leaves one of `errors + 1` parts of the pattern unchanged.
 * With one error, a match over two words has spent it on what stands between them: it is the end of one and the start
 * of the other, and the longer half of the pattern lies in one of them unchanged.
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
  if (!isOneWord(folded) || part < SHORTEST) return undefined;
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
    // One letter that folds to two (a capital I with a dot) may count as one error in the text as it is written.
    return atBorder || (!ignoreCase && term.includes('\u0307')) ? 'possible' : undefined;
  };
  return { containing: [text(0, part), text(length - part)], verdict, complete: true };
}

/** A regular expression, case ignored: a word in which it is found is enough where it says nothing about borders. */
export function regexpLookup(
  source: string,
  required: readonly string[],
  test: (text: string) => boolean,
): TermLookup | undefined {
  if (/[\^$]|\\[A-Za-z]|\(\?/.test(source)) return undefined;
  const longest = required
    .flatMap((text) => wordsOf(text))
    .reduce((best, { text }) => (text.length > best.length ? text : best), '');
  if (longest.length < SHORTEST) return undefined;
  // Folding beyond ASCII is ours, and the expression's own may differ.
  const verdict = (term: string): TermVerdict => (ASCII.test(term) && test(term) ? 'certain' : undefined);
  return { containing: [longest], verdict, complete: false };
}

function isOneWord(folded: string): boolean {
  return folded.length <= MAX_LOOKUP && wordsOf(folded)[0]?.text === folded;
}
