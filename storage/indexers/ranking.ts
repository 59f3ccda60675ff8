import type { OidSet } from '../broker/oid-set.js';
import { columnOf } from './index-file.js';
import type { Leaf } from './leaf.js';
import { byScore, type Postings, type Scored } from './postings.js';
import type { TimeSlice } from './time-slice.js';

/** Maximum number of words of a query that are used for ranking. */
const MAX_WORDS = 16;

/** Maximum number of posting list entries that are read to score: some milliseconds, which cannot be interrupted. */
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

/**
 * Orders candidates: first those with a score by FTS5's bm25 over the query's whole words, the best first; then the others by OID. Words
 * that more than `limit` objects have are ignored: they cost much and distinguish little. More than `limit` candidates are ordered by OID.
 */
export async function rank(
  candidates: OidSet,
  positive: readonly Leaf[],
  postings: Postings,
  limit: number,
  slice: TimeSlice,
): Promise<Ranked> {
  const oids = candidates.toArray();
  if (oids.length < 2 || oids.length > limit) return { oids, scores: new Map() };
  const counted: { readonly match: string; readonly count: number }[] = [];
  for (const match of wordsToRank(positive)) {
    const count = await postings.countOf(match, limit + 1, slice);
    if (count > 0 && count <= limit) counted.push({ match, count });
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

function wordsToRank(positive: readonly Leaf[]): string[] {
  const matches = new Set<string>();
  for (const { attribute, rankWords } of positive) {
    const filter = attribute === undefined ? '' : `${columnOf(attribute).name} : `;
    for (const word of rankWords) if (word.length <= 64) matches.add(`(${filter}"${word}")`);
  }
  return [...matches].slice(0, MAX_WORDS);
}
