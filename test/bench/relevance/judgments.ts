// Queries with the pages that answer them, and how good an order of results is.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../helpers/random.js';

/** A query, and the pages that answer it. */
export interface Judged {
  readonly query: string;
  /** Paths below the root of the corpus without `.html`, any of which is right. */
  readonly pages: readonly string[];
}

/** How good the results of all queries are. */
export interface Measures {
  /** The mean of 1 / rank of the first right page; 0 for a query without one. */
  readonly meanReciprocalRank: number;
  /** Share of the queries with a right page among the first three results. */
  readonly inFirstThree: number;
  /** Number of queries without a right page. */
  readonly missing: number;
}

/**
 * Reads the judgments of a corpus: a query and its pages, separated by tabs, one query a line. They stand
 * beside this file's source.
 */
export async function readJudgments(corpus: string): Promise<Judged[]> {
  const text = await readFile(join('test', 'bench', 'relevance', `${corpus}.tsv`), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [query = '', ...pages] = line.split('\t');
      return { query, pages };
    });
}

/**
 * Returns a corpus's pages of one query without copies: the sources of pages, which python3.11-doc and git-doc
 * have beside them, are the pages that are made of them. Who finds either has found the page.
 */
export function foldCopies(pages: readonly string[]): string[] {
  return [...new Set(pages.map((page) => page.replace(/^_sources\//, '').replace(/(?:\.rst)?\.txt$/, '')))];
}

/**
 * The rank of the first right page of each query, from 1; 0 without one.
 *
 * @param found the pages of each query's results in their order
 */
export function ranksOf(judged: readonly Judged[], found: readonly (readonly string[])[]): number[] {
  return judged.map(({ pages }, i) => (found[i] ?? []).findIndex((page) => pages.includes(page)) + 1);
}

/** The first pages of several searchers for one query, in order of their paths. */
export function poolOf(found: readonly (readonly string[])[], depth: number): string[] {
  return [...new Set(found.flatMap((pages) => pages.slice(0, depth)))].sort();
}

/** The best rank that any of several searchers gives each query; 0 if none has a right page. */
export function bestRanks(all: readonly (readonly number[])[]): number[] {
  const [first = []] = all;
  return first
    .map((_, i) => Math.min(...all.map((ranks) => ranks[i] || Number.POSITIVE_INFINITY)))
    .map((rank) => (Number.isFinite(rank) ? rank : 0));
}

/** How far the ratio of two searchers depends on which queries were asked. */
export interface RatioSpread {
  /** 95 of 100 samples have a ratio from `low` to `high`. */
  readonly low: number;
  readonly high: number;
  /** Share of the samples that have the goal, or more. */
  readonly reached: number;
}

/**
 * Samples the queries with repetition, and returns how the ratios of the mean reciprocal ranks of two searchers
 * are spread: a bootstrap. The samples are the same each time.
 */
export function spreadOfRatio(
  ours: readonly number[],
  theirs: readonly number[],
  goal: number,
  samples = 20_000,
): RatioSpread {
  const random = new Random(1);
  const [a, b] = [ours, theirs].map((ranks) => ranks.map(reciprocal)) as [number[], number[]];
  const ratios = Array.from({ length: samples }, () => {
    let [sumA, sumB] = [0, 0];
    for (let n = a.length; n > 0; n--) {
      const i = random.below(a.length);
      sumA += a[i]!;
      sumB += b[i]!;
    }
    return sumA / sumB;
  }).sort((one, other) => one - other);
  return {
    low: ratios[Math.floor(0.025 * samples)]!,
    high: ratios[Math.floor(0.975 * samples)]!,
    reached: ratios.filter((ratio) => ratio >= goal).length / samples,
  };
}

/** Measures the ranks of {@link ranksOf}. */
export function measure(ranks: readonly number[]): Measures {
  const mean = (value: (rank: number) => number) =>
    ranks.reduce((sum, rank) => sum + value(rank), 0) / Math.max(1, ranks.length);
  return {
    meanReciprocalRank: mean(reciprocal),
    inFirstThree: mean((rank) => (rank >= 1 && rank <= 3 ? 1 : 0)),
    missing: ranks.filter((rank) => rank === 0).length,
  };
}

function reciprocal(rank: number): number {
  return rank === 0 ? 0 : 1 / rank;
}
