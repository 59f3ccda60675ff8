import { createHash } from 'node:crypto';
import { type BenchCorpus, readBenchDocument } from './corpus.js';

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

/** Kinds that every engine counts equally, by whole words. */
export const COUNTED: readonly QueryKind[] = ['rare', 'common', 'and', 'or', 'not'];

/** A query before an engine's own syntax: one or two words, or a pattern whose `.` is any character. */
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
  const share = (from: number, to: number) =>
    words
      .filter(({ documents: n }) => n >= corpus.documents * from && n <= corpus.documents * to)
      .map(({ term }) => term);
  const rare = words.filter(({ documents: n }) => n >= 2 && n <= 5).map(({ term }) => term);
  const middle = share(0.002, 0.05);
  const common = share(0.1, 0.6);
  const long = middle.filter((term) => term.length >= 8);
  if (common.length < 4 || long.length < count)
    throw new Error('the corpus is too small or has no common words');
  const at = (list: readonly string[], i: number) => list[i % list.length]!;
  const queries: BenchQuery[] = [];
  for (let i = 0; i < count; i++) {
    const word = at(long, i);
    const middleOfWord = word.length >> 1;
    queries.push(
      { kind: 'rare', words: [at(rare, i)] },
      { kind: 'common', words: [at(common, i)] },
      { kind: 'and', words: [at(middle, i), at(common, i + 1)] },
      { kind: 'or', words: [at(middle, i + 1), at(middle, i + 2)] },
      { kind: 'not', words: [at(middle, i + 3), at(common, i + 2)] },
      { kind: 'part', words: [word.slice(2, -1)] },
      { kind: 'error', words: [word.slice(0, middleOfWord) + word.slice(middleOfWord + 1)] },
      { kind: 'regexp', words: [`${word.slice(0, middleOfWord)}.${word.slice(middleOfWord + 1)}`] },
    );
  }
  const used = new Set<string>();
  for (let i = 0; i < 200 * count && used.size < 2 * count; i++) {
    const document = readBenchDocument(
      corpus,
      1 + (Number.parseInt(scatter(`d${i}`).slice(0, 8), 16) % corpus.documents),
    );
    // From anywhere in the text, because pages of one tool begin with the same words.
    const from = Number.parseInt(scatter(`p${i}`).slice(0, 8), 16) % Math.max(1, document.body.length - 200);
    const title = /\b[A-Za-z]{5,12}\b/.exec(document.title)?.[0]?.toLowerCase();
    const pair = /(?<![\w-])([a-z]{5,12}) ([a-z]{5,12})(?![\w-])/.exec(document.body.slice(from));
    if (title === undefined || pair === null || used.has(`t${title}`) || used.has(pair[0])) continue;
    used.add(`t${title}`).add(pair[0]);
    queries.push({ kind: 'attribute', words: [title] }, { kind: 'phrase', words: [pair[1]!, pair[2]!] });
  }
  return queries;
}

function scatter(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
