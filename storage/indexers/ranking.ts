import type { OidSet } from '../broker/oid-set.js';
import { columnOf } from './index-file.js';
import type { Leaf } from './leaf.js';
import { byScore, type Postings, type Scored } from './postings.js';
import type { QueryWord, Relevance } from './relevance.js';
import type { TimeSlice } from './time-slice.js';

/** Maximum number of words of a query that are used for ranking. */
const MAX_WORDS = 16;
/** Characters of a word that is used for ranking. */
const MAX_WORD = 64;

/**
 * Maximum number of posting list entries that are read to score: some milliseconds, which cannot be
 * interrupted.
 */
export const MAX_SCORED_POSTINGS = 100_000;

/** Candidates in the order in which they are matched. */
export interface Ranked {
  readonly oids: Uint32Array;
  /** Higher is better. */
  readonly scores: ReadonlyMap<number, number>;
}

/** Every object that matches an expression of the index, best first. */
export async function rankAll(match: string, postings: Postings, slice: TimeSlice): Promise<Ranked> {
  const found: Scored[] = [];
  for await (const scored of postings.ranked(match, slice)) found.push(scored);
  return toRanked(found.sort(byScore));
}

/** Converts scored objects, which are already sorted. */
export function toRanked(found: readonly Scored[]): Ranked {
  const scores = new Map(found.map(({ oid, score }) => [oid, score]));
  return { oids: Uint32Array.from(scores.keys()), scores };
}

/** What orders candidates. */
export interface RankingContext {
  readonly postings: Postings;
  readonly relevance: Relevance;
  /** More candidates than this are ordered by OID. */
  readonly maxRanked: number;
  readonly slice: TimeSlice;
}

/**
 * Orders candidates by their {@link Relevance}, the best first; those that have the query's words only where
 * they say little have score 0. If all words are too frequent for it, FTS5's bm25 orders them, without words
 * that more than `maxRanked` objects have.
 */
export async function rank(
  candidates: OidSet,
  positive: readonly Leaf[],
  context: RankingContext,
): Promise<Ranked> {
  const oids = candidates.toArray();
  if (oids.length < 2 || oids.length > context.maxRanked) return { oids, scores: new Map() };
  return (await rankByRelevance(oids, positive, context)) ?? rankByFrequency(candidates, positive, context);
}

/** Orders objects by their {@link Relevance}; undefined if all words of the query are too frequent for it. */
export async function rankByRelevance(
  oids: Uint32Array,
  positive: readonly Leaf[],
  { relevance, slice }: Pick<RankingContext, 'relevance' | 'slice'>,
): Promise<Ranked | undefined> {
  if (oids.length < 2) return { oids, scores: new Map() };
  const scores = await relevance.scores(queryWords(positive), oids, slice);
  if (scores === undefined) return undefined;
  const found = Array.from(oids, (oid) => ({ oid, score: scores.get(oid) ?? 0 }));
  return toRanked(found.sort(byScore));
}

async function rankByFrequency(
  candidates: OidSet,
  positive: readonly Leaf[],
  { postings, maxRanked, slice }: RankingContext,
): Promise<Ranked> {
  const oids = candidates.toArray();
  const counted: { readonly match: string; readonly count: number }[] = [];
  for (const match of wordsToRank(positive)) {
    const count = await postings.countOf(match, maxRanked + 1, slice);
    if (count > 0 && count <= maxRanked) counted.push({ match, count });
  }
  // The rarest words distinguish most. Scoring reads the whole posting list of each word at once.
  counted.sort((a, b) => a.count - b.count);
  const matches: string[] = [];
  let total = 0;
  for (const { match, count } of counted) {
    total += count;
    if (total > MAX_SCORED_POSTINGS) break;
    matches.push(match);
  }
  if (matches.length === 0) return { oids, scores: new Map() };
  const found: Scored[] = [];
  for await (const scored of postings.ranked(matches.join(' OR '), slice)) {
    if (candidates.has(scored.oid)) found.push(scored);
  }
  const { oids: first, scores } = toRanked(found.sort(byScore));
  const rest = oids.filter((oid) => !scores.has(oid));
  return { oids: Uint32Array.from([...first, ...rest]), scores };
}

/** The words of a query in their order, each with the column that it is restricted to. */
function queryWords(positive: readonly Leaf[]): QueryWord[] {
  return positive.flatMap(({ attribute, rankWords }) => {
    const column = attribute === undefined ? undefined : columnOf(attribute).name;
    return rankWords.filter(({ length }) => length <= MAX_WORD).map((text) => ({ text, column }));
  });
}

function wordsToRank(positive: readonly Leaf[]): string[] {
  const matches = queryWords(positive).map(
    ({ text, column }) => `(${column === undefined ? '' : `${column} : `}"${text}")`,
  );
  return [...new Set(matches)].slice(0, MAX_WORDS);
}
