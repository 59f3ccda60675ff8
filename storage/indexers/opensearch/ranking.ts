// The order of the answers: BM25 of the words of a query in the fields of an object, each with its weight.
import type { Leaf } from '../query/leaf.js';
import { ALL } from './documents.js';
import type { IndexQuery } from './translate.js';

/** The fields that say what an object is about. */
const WEIGHTS: readonly (readonly [field: string, weight: number])[] = [
  ['title', 5],
  ['headings', 2],
  ['description', 2],
  ['url', 1.5],
  ['author', 1],
  ['keywords', 1],
  [ALL, 1],
];

/** Words beyond these do not count: OpenSearch bounds the size of a query. */
const MAX_WORDS = 12;
/** Words between two words of the query that are still near each other. */
const NEAR = 8;
/** What words near each other count. */
const NEAR_WEIGHT = 2;

/** Returns what makes an object a better answer; undefined if the query has no whole words. */
export function rankingOf(leaves: readonly Leaf[]): IndexQuery[] | undefined {
  const words = [...new Set(leaves.flatMap((leaf) => leaf.rankWords))].slice(0, MAX_WORDS);
  if (words.length === 0) return undefined;
  const ranking: IndexQuery[] = words.flatMap((word) =>
    WEIGHTS.map(([field, boost]) => ({ term: { [field]: { value: word, boost } } })),
  );
  if (words.length > 1) {
    for (const field of ['title', ALL]) {
      const phrase = { query: words.join(' '), slop: NEAR, boost: NEAR_WEIGHT };
      ranking.push({ match_phrase: { [field]: phrase } });
    }
  }
  return ranking;
}
