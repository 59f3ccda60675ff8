// Chooses the objects of a query for most of its words (BRK-2.27), by the rules of the embedded engine.
import type { Expression } from '../../../protocols/broker/index.js';
import { choose, MAX_OBJECTS, weightsOf } from '../embedded/search/most-words.js';
import { withForms } from '../embedded/search/query-forms.js';
import type { FormFinder } from '../embedded/words/form-finder.js';
import type { Matching } from '../query/leaf.js';
import { Matcher, QUERY_LIMITS } from '../query/matcher.js';
import type { PlainWords } from '../query/plain-words.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import type { IndexQuery } from './index-query.js';
import type { IndexTerms } from './index-terms.js';
import { translate } from './translate.js';

/** The objects that were chosen. */
export interface MostWords {
  /** The words of the query with the forms that count as each. */
  readonly words: PlainWords;
  /** The bits of the words that an object lacks, by its OID. */
  readonly lacks: ReadonlyMap<number, number>;
}

/** What {@link mostWords} works with. */
interface MostWordsContext {
  readonly options: Matching;
  readonly terms: IndexTerms;
  readonly forms: Pick<FormFinder, 'read'>;
  /** The number of objects in the index. */
  readonly objects: number;
  readonly signal: AbortSignal;
  readonly slice: TimeSlice;
}

/**
 * Returns the objects with most of the words; undefined if OpenSearch cannot tell, or so many have all words that those with
 * fewer do not matter.
 */
export async function mostWords(
  typed: PlainWords,
  { options, terms, forms, objects, signal, slice }: MostWordsContext,
): Promise<MostWords | undefined> {
  const meant = await withForms(typed, options, forms, slice);
  const { required, words } = meant;
  const queryOf = (expression: Expression) => translate(new Matcher(expression, options, QUERY_LIMITS).plan);
  const filter: IndexQuery[] = [];
  for (const expression of required) {
    const query = queryOf(expression);
    if (query !== undefined) filter.push(query);
  }
  const queries: IndexQuery[] = [];
  const stopWords: boolean[] = [];
  for (const { expression, text } of words) {
    const query = queryOf(expression);
    if (query === undefined) return undefined;
    queries.push(query);
    stopWords.push((await forms.read(text.toLowerCase(), slice)).isStopWord);
  }
  const counts = await slice.wait(terms.count(queries, objects, signal));
  const weights = weightsOf(counts, stopWords, objects);
  // A score is the sum of the weights of the words that an object has.
  const named = queries.map((query, i) => ({
    constant_score: { filter: query, boost: weights[i], _name: String(i) },
  }));
  const isWeighted = (_: unknown, i: number) => weights[i]! > 0;
  const some = { bool: { should: named.filter(isWeighted), minimum_should_match: 1 } };
  const others = named.filter((_, i) => weights[i] === 0);
  const query = { bool: { filter, must: [some], should: others } };
  const found = await slice.wait(terms.search(query, MAX_OBJECTS + 1, signal));
  const masks = new Map(
    found.map(({ oid, names }) => [oid, names.reduce((mask, i) => mask | (1 << Number(i)), 0)]),
  );
  const oids = Uint32Array.from(masks.keys()).sort();
  const masked = { oids, masks: Uint32Array.from(oids, (oid) => masks.get(oid)!) };
  const chosen = await choose(masked, weights, slice);
  if (chosen === undefined) return undefined;
  const all = 2 ** words.length - 1;
  const lacks = new Map(Array.from(chosen.oids, (oid, i) => [oid, ~chosen.masks[i]! & all]));
  return { words: meant, lacks };
}
