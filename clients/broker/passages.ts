// Chooses the passages of a text that show best why a query found it.

import { type BrokerHit, parseMatchedLine } from '../../protocols/broker/index.js';
import { sortLines } from './link-lines.js';
import type { TermFinder } from './query-terms.js';

/** A part of the text, and whether text before and after it is left out. */
export interface Passage {
  readonly text: string;
  readonly cutBefore: boolean;
  readonly cutAfter: boolean;
}

/** Passages of a text and how well they show the query: 0 if no word of it occurs. */
export interface Passages {
  readonly passages: readonly Passage[];
  readonly score: number;
}

/** Characters of all passages together. */
const MAX_CHARACTERS = 280;
/** Occurrences that are considered. */
const MAX_MATCHES = 2_000;
/** Characters before the first word: at most, and if no sentence begins there. */
const MAX_LEAD = 90;
const LEAD = 40;
/** What repeated words and neighbors count beside different words, which count at most 1 each. */
const REPEATED = 0.02;
const ADJACENT = 0.5;

interface Match {
  readonly start: number;
  readonly end: number;
  readonly term: string;
}

interface Stretch {
  readonly first: Match;
  readonly last: Match;
  readonly terms: ReadonlySet<string>;
  readonly score: number;
}

/**
 * Finds the stretch of the text with most of the query's words, rare ones first, and a second one if it has
 * words that the first lacks. Takes time in proportion to the text.
 *
 * @param text without line ends
 * @param terms the words of the query
 */
export function findPassages(text: string, terms: TermFinder): Passages {
  const matches = matchesOf(text, terms);
  const counts = new Map<string, number>();
  for (const { term } of matches) counts.set(term, (counts.get(term) ?? 0) + 1);
  const whole = bestStretch(matches, counts, MAX_CHARACTERS - LEAD);
  if (whole === undefined) return { passages: [], score: 0 };
  const others = matches.filter(({ term }) => !whole.terms.has(term));
  if (others.length === 0) return { passages: [cut(text, whole, MAX_CHARACTERS)], score: whole.score };
  const half = MAX_CHARACTERS / 2;
  const first = bestStretch(matches, counts, half - LEAD) ?? whole;
  const rest = matches.filter(
    ({ term, start, end }) =>
      !first.terms.has(term) && (end < first.first.start - half || start > first.last.end + half),
  );
  const second = bestStretch(rest, counts, half - LEAD);
  if (second === undefined) return { passages: [cut(text, whole, MAX_CHARACTERS)], score: whole.score };
  const inOrder = first.first.start < second.first.start ? [first, second] : [second, first];
  return {
    passages: inOrder.map((stretch) => cut(text, stretch, half)),
    score: first.score + second.score,
  };
}

function matchesOf(text: string, terms: TermFinder): Match[] {
  const matches: Match[] = [];
  for (const { start, end } of terms.matches(text)) {
    matches.push({ start, end, term: text.slice(start, end).toLowerCase() });
    if (matches.length === MAX_MATCHES) break;
  }
  return matches;
}

function bestStretch(
  matches: readonly Match[],
  counts: ReadonlyMap<string, number>,
  length: number,
): Stretch | undefined {
  let best: Stretch | undefined;
  for (const [i, first] of matches.entries()) {
    const terms = new Set<string>();
    let score = 0;
    let last = first;
    for (let j = i; j < matches.length; j++) {
      const match = matches[j];
      if (match === undefined || (j > i && match.end - first.start > length)) break;
      score += terms.has(match.term) ? REPEATED : 1 / Math.log2(1 + (counts.get(match.term) ?? 1));
      if (j > i && match.term !== last.term && match.start - last.end <= 2) score += ADJACENT;
      terms.add(match.term);
      last = match;
    }
    if (best === undefined || score > best.score) best = { first, last, terms, score };
  }
  return best;
}

/** Begins with a sentence if one begins shortly before the words, and ends between two words. */
function cut(text: string, { first, last }: Stretch, length: number): Passage {
  let start = 0;
  if (first.start > LEAD) {
    const before = text.slice(Math.max(0, first.start - MAX_LEAD), first.start);
    const sentence = Math.max(...['. ', '! ', '? ', '。'].map((end) => before.lastIndexOf(end)));
    const lead = sentence < 0 ? LEAD : before.length - sentence - 1;
    start = first.start - lead;
    const blank = text.indexOf(' ', start);
    if (blank >= 0 && blank < first.start) start = blank + 1;
    else if (isLowSurrogate(text, start)) start--;
  }
  let end = Math.min(text.length, Math.max(start + length, last.end));
  if (end < text.length) {
    const blank = text.lastIndexOf(' ', end);
    if (blank >= last.end) end = blank;
    else if (isLowSurrogate(text, end)) end--;
  }
  return { text: text.slice(start, end).trim(), cutBefore: start > 0, cutAfter: end < text.length };
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Writes passages as one text. */
export function passageText(passages: readonly Passage[]): string {
  return passages
    .map(
      ({ text, cutBefore, cutAfter }, i) =>
        `${cutBefore && i === 0 ? '… ' : ''}${text}${cutAfter ? ' …' : ''}`,
    )
    .join(' ');
}

/** Attributes with the text of a document; the group with the best passage is shown. */
export const TEXTS: readonly (readonly string[])[] = [
  ['main-text'],
  ['body', 'full-text', 'partial-text'],
  ['abstract', 'description'],
];

/** What is known of the text of a document. */
export interface PassageText {
  /** The lines of each group of {@link TEXTS}, see {@link textLines}. */
  readonly groups: readonly (readonly string[])[];
  /** Whether the lines are the whole text; if not, they are lines that matched. */
  readonly isWhole: boolean;
  /** Whether there is a description to show in place of links. */
  readonly hasDescription: boolean;
}

/**
 * The passages of the group that shows the query best; undefined if no word of it occurs. Lines that the pages
 * beside a document repeat are no passages. Lines of links are passages only if nothing else has a word of the
 * query; rows of links not even then if there is a description.
 *
 * @param repeated reads the lines that the pages beside the document repeat; called only if a line has a word
 * @param pause is awaited between groups, so that a caller can let others work; default: it resolves immediately
 */
export async function passagesOfText(
  { groups, isWhole, hasDescription }: PassageText,
  terms: TermFinder,
  repeated: () => Promise<ReadonlySet<string>>,
  pause: () => Promise<void> = () => Promise.resolve(),
): Promise<Passages | undefined> {
  if (!(await isInSome(groups, terms, pause))) return undefined;
  const others = await repeated();
  const sorted: ReturnType<typeof sortLines>[] = [];
  for (const lines of groups) {
    await pause();
    sorted.push(
      sortLines(
        lines.filter((line) => !others.has(line)),
        isWhole,
      ),
    );
  }
  const best = (kind: 'text' | 'withLabels' | 'all') =>
    bestPassages(
      sorted.map((group) => group[kind].join(isWhole ? ' ' : ' … ')),
      terms,
      pause,
    );
  return (
    (await best('text')) ?? (await best('withLabels')) ?? (hasDescription ? undefined : await best('all'))
  );
}

async function isInSome(
  groups: readonly (readonly string[])[],
  terms: TermFinder,
  pause: () => Promise<void>,
): Promise<boolean> {
  for (const lines of groups) {
    await pause();
    if (lines.some((line) => terms.isIn(line))) return true;
  }
  return false;
}

/** The passages of the text that shows the query best; undefined if no word of it occurs. */
async function bestPassages(
  texts: readonly string[],
  terms: TermFinder,
  pause: () => Promise<void>,
): Promise<Passages | undefined> {
  let best: Passages | undefined;
  for (const text of texts) {
    await pause();
    const passages = findPassages(text, terms);
    if (passages.score > (best?.score ?? 0)) best = passages;
  }
  return best;
}

/**
 * The passage of a match, from its matched lines and its description; undefined if no word of the query occurs in
 * them.
 *
 * @param repeated reads the lines that the pages beside the document repeat
 */
export async function passageOfHit(
  { matchedLines, description = '' }: BrokerHit,
  terms: TermFinder,
  repeated: () => Promise<ReadonlySet<string>>,
): Promise<string | undefined> {
  const lines = matchedLines.map(parseMatchedLine);
  const groups = TEXTS.map((names) =>
    lines.flatMap((line) =>
      line !== undefined && names.includes(line.attribute.toLowerCase()) ? textLines(line.text) : [],
    ),
  );
  const text = {
    groups: [...groups, textLines(description)],
    isWhole: false,
    hasDescription: description !== '',
  };
  const best = await passagesOfText(text, terms, repeated);
  return best && passageText(best.passages).replace(/(?:… ?){2,}/g, '… ');
}

/** A line that has blanks other than single ones between words. */
const UNEVEN = /[^\S \ufeff]| {2}|^ | $/;

/** The lines of a text, with single blanks. A zero-width no-break space is no blank. */
export function textLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => (UNEVEN.test(line) ? line.replace(/[^\S\ufeff]+/g, ' ').replace(/^ | $/g, '') : line))
    .filter((line) => line !== '');
}
