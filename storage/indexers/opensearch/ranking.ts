// The order in which OpenSearch finds objects: BM25 of the words of a query in the fields of an object, each with its weight.
import { ALL } from './documents.js';
import type { IndexQuery } from './index-query.js';

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

/** Words beyond these do not count, and forms of each: OpenSearch bounds the size of a query. */
const MAX_WORDS = 12;
const MAX_FORMS = 6;
/** What a form of a word counts. */
const FORM_WEIGHT = 0.4;
/** Words between two words of the query that are still near each other. */
const NEAR = 8;
/** What words near each other count. */
const NEAR_WEIGHT = 2;

/** A word of a query. */
export interface RankedWord {
  readonly text: string;
  /** Its other forms. */
  readonly forms: readonly string[];
  /** It says nothing about the subject of a text. */
  readonly isStopWord: boolean;
}

/** Returns what makes an object a better answer; undefined if the query has no whole words. */
export function rankingOf(all: readonly RankedWord[]): IndexQuery[] | undefined {
  const telling = all.filter(({ isStopWord }) => !isStopWord);
  const words = (telling.length > 0 ? telling : all).slice(0, MAX_WORDS);
  if (words.length === 0) return undefined;
  const ranking: IndexQuery[] = words.flatMap(({ text, forms }) =>
    WEIGHTS.map(([field, boost]) => {
      const word = { term: { [field]: { value: text, boost } } };
      const others = forms
        .slice(0, MAX_FORMS)
        .map((form) => ({ term: { [field]: { value: form, boost: boost * FORM_WEIGHT } } }));
      return others.length === 0
        ? word
        : { dis_max: { queries: [word, ...others], tie_breaker: FORM_WEIGHT } };
    }),
  );
  if (words.length > 1) {
    const text = words.map((word) => word.text).join(' ');
    for (const field of ['title', ALL])
      ranking.push({ match_phrase: { [field]: { query: text, slop: NEAR, boost: NEAR_WEIGHT } } });
  }
  return ranking;
}
