// The survey of a Broker's data, which its cases compare with: the URLs of the dump, and words with the URLs
// that they find.
import { NotApplicable } from '../case.js';

/** Time limit of a case that may have to take the survey first. */
export const SURVEY_MS = 60_000;
const OPERATORS = new Set(['and', 'or', 'not', 'except', 'exact', 'regexp']);

/** An object of the dump, with the texts that were sent. */
export interface Sample {
  readonly url: string;
  /** Description and title, as Latin-1; empty if it has neither. */
  readonly text: string;
}

/** A word of the Broker's data, and the URLs of the objects that it finds. */
export interface Word {
  readonly text: string;
  readonly urls: ReadonlySet<string>;
}

/** Facts about the Broker's data, which should not change during the run. */
export interface Survey {
  /** URLs of the dump (BRK-2.11), or of its beginning if `complete` is false. */
  readonly all: ReadonlySet<string>;
  readonly complete: boolean;
  /** URLs that several objects share; no case checks them. */
  readonly shared: ReadonlySet<string>;
  readonly samples: readonly Sample[];
  /** Words that find at least one object and not all. */
  readonly words: readonly Word[];
  /** Whether the Broker accepts the flag `#attribute`, which only later versions of the original have. */
  readonly attributes: boolean;
}

/** Splits a text into words that every engine recognizes: ASCII letters between blanks and punctuation. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,.;:()/?&=]+/)
    .filter((word) => /^[a-z]{3,20}$/.test(word) && !OPERATORS.has(word));
}

/**
 * Returns a word that finds few objects, preferably a long one. @throws NotApplicable if the data has no such
 * word
 */
export function pickWord({ words }: Survey, atLeast = 3): Word {
  const fitting = words.filter(({ text }) => text.length >= atLeast);
  const [word] = fitting.toSorted((a, b) => a.urls.size - b.urls.size || b.text.length - a.text.length);
  if (word === undefined) {
    throw new NotApplicable(`the data has no word of ${atLeast} letters that finds some objects but not all`);
  }
  return word;
}

/**
 * Returns two words that find some common objects, and each some that the other does not find. @throws
 * NotApplicable
 */
export function pickOverlapping({ words }: Survey): readonly [Word, Word] {
  for (const a of words) {
    for (const b of words) {
      if (
        intersect(a.urls, b.urls).size > 0 &&
        minus(a.urls, b.urls).size > 0 &&
        minus(b.urls, a.urls).size > 0
      )
        return [a, b];
    }
  }
  throw new NotApplicable('the data has no two words that overlap');
}

/** Returns three words for which `a and (b or c)` is not `(a and b) or c` (BRK-2.12). @throws NotApplicable */
export function pickTriple({ words }: Survey): readonly [Word, Word, Word] {
  for (const a of words) {
    for (const b of words) {
      if (a === b || intersect(a.urls, b.urls).size === 0) continue;
      for (const c of words) {
        if (c !== a && c !== b && minus(c.urls, a.urls).size > 0) return [a, b, c];
      }
    }
  }
  throw new NotApplicable('the data has no three words that distinguish right grouping from left grouping');
}

/** Returns two adjacent words in a line of a sample. @throws NotApplicable */
export function pickPhrase({ samples }: Survey): {
  readonly url: string;
  readonly words: readonly [string, string];
} {
  for (const { url, text } of samples) {
    const match = /(?:^|\n| )([A-Za-z]{3,20}) ([A-Za-z]{3,20})(?= |\n|$)/.exec(text);
    const [, first, second] = match ?? [];
    if (first === undefined || second === undefined) continue;
    const words = [first.toLowerCase(), second.toLowerCase()] as const;
    if (!words.some((word) => OPERATORS.has(word))) return { url, words };
  }
  throw new NotApplicable('no text of the dump has two words side by side');
}

/** Pairs of words that are tried. */
const MAX_PAIRS = 8;

/**
 * Returns pairs of words that a sample has, but not side by side in this order: neighbors in reversed
 * order. No text of the dump has them side by side. @throws NotApplicable
 */
export function pickReversed({ samples }: Survey): readonly {
  readonly url: string;
  readonly words: readonly [string, string];
}[] {
  // Words of two lines are not neighbors, since lines may belong to different attributes; but they may look
  // like it.
  const texts = samples.flatMap(({ url, text }) =>
    text.split('\n').map((line) => ({ url, words: wordsInOrder(line) })),
  );
  const adjacent = new Set(
    samples
      .map(({ text }) => wordsInOrder(text))
      .flatMap((words) => words.slice(1).map((word, at) => `${words[at]} ${word}`)),
  );
  const pairs: { url: string; words: readonly [string, string] }[] = [];
  for (const { url, words } of texts) {
    for (let at = 1; at < words.length; at++) {
      const pair = [words[at] ?? '', words[at - 1] ?? ''] as const;
      const fits = pair.every((word) => /^[a-z]{3,20}$/.test(word) && !OPERATORS.has(word));
      if (fits && pair[0] !== pair[1] && !adjacent.has(pair.join(' '))) pairs.push({ url, words: pair });
      if (pairs.length === MAX_PAIRS) return pairs;
    }
  }
  if (pairs.length === 0) throw new NotApplicable('no text of the dump has two words side by side');
  return pairs;
}

/** All words of a text in their order, with those that no case queries. */
function wordsInOrder(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^a-z0-9\x80-\xff]+/)
    .filter((word) => word !== '');
}

export function intersect(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a].filter((url) => b.has(url)));
}

export function union(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a, ...b]);
}

export function minus(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a].filter((url) => !b.has(url)));
}
