// Draws the queries of benchmark `broker` from the corpus.
import { createHash } from 'node:crypto';
import { type BenchCorpus, readBenchDocument } from './corpus.js';

/**
 * `part` is a part of a word, `error` a word without one of its letters, `regexp` a word with `.` for one
 * letter.
 */
export const QUERY_KINDS = [
  'rare',
  'common',
  'and',
  'or',
  'not',
  'phrase',
  'attribute',
  'part',
  'error',
  'regexp',
] as const;
export type QueryKind = (typeof QUERY_KINDS)[number];

/** Kinds with whole words only, for which every engine should find the same number of documents. */
export const COMPARABLE_KINDS: readonly QueryKind[] = ['rare', 'common', 'and', 'or', 'not'];

/**
 * A query independent of the syntax of an engine: one or two words, or a pattern whose `.` is any character.
 */
export interface BenchQuery {
  readonly kind: QueryKind;
  readonly words: readonly string[];
}

/** A word of the corpus and the number of its documents. */
export interface Term {
  readonly term: string;
  readonly documents: number;
}

/** Draws `count` queries of each kind from the corpus, equal for equal corpora. */
export function drawQueries(corpus: BenchCorpus, vocabulary: readonly Term[], count: number): BenchQuery[] {
  const words = vocabulary
    .filter(({ term }) => /^[a-z]{5,14}$/.test(term))
    .sort((a, b) => (scatter(a.term) < scatter(b.term) ? -1 : 1));
  const wordsWithShare = (from: number, to: number) =>
    words
      .filter(({ documents: n }) => n >= corpus.documents * from && n <= corpus.documents * to)
      .map(({ term }) => term);
  const rare = words.filter(({ documents: n }) => n >= 2 && n <= 5).map(({ term }) => term);
  const medium = wordsWithShare(0.002, 0.05);
  const common = wordsWithShare(0.1, 0.6);
  const long = medium.filter((term) => term.length >= 8);
  if (common.length < 4 || long.length < count)
    throw new Error('the corpus is too small or has no common words');
  const pick = (list: readonly string[], i: number) => list[i % list.length]!;
  const queries: BenchQuery[] = [];
  for (let i = 0; i < count; i++) {
    const word = pick(long, i);
    const center = word.length >> 1;
    queries.push(
      { kind: 'rare', words: [pick(rare, i)] },
      { kind: 'common', words: [pick(common, i)] },
      { kind: 'and', words: [pick(medium, i), pick(common, i + 1)] },
      { kind: 'or', words: [pick(medium, i + 1), pick(medium, i + 2)] },
      { kind: 'not', words: [pick(medium, i + 3), pick(common, i + 2)] },
      { kind: 'part', words: [word.slice(2, -1)] },
      { kind: 'error', words: [word.slice(0, center) + word.slice(center + 1)] },
      { kind: 'regexp', words: [`${word.slice(0, center)}.${word.slice(center + 1)}`] },
    );
  }
  const used = new Set<string>();
  for (let i = 0; i < 200 * count && used.size < 2 * count; i++) {
    const document = readBenchDocument(
      corpus,
      1 + (Number.parseInt(scatter(`d${i}`).slice(0, 8), 16) % corpus.documents),
    );
    // Starts anywhere in the text, because pages of one tool begin with the same words.
    const start = Number.parseInt(scatter(`p${i}`).slice(0, 8), 16) % Math.max(1, document.body.length - 200);
    const title = /\b[A-Za-z]{5,12}\b/.exec(document.title)?.[0]?.toLowerCase();
    const pair = /(?<![\w-])([a-z]{5,12}) ([a-z]{5,12})(?![\w-])/.exec(document.body.slice(start));
    if (title === undefined || pair === null || used.has(`t${title}`) || used.has(pair[0])) continue;
    used.add(`t${title}`).add(pair[0]);
    queries.push({ kind: 'attribute', words: [title] }, { kind: 'phrase', words: [pair[1]!, pair[2]!] });
  }
  return queries;
}

/** A hash that orders words pseudorandomly. */
function scatter(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
