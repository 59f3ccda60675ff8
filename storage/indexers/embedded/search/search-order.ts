import { OidSet } from '../../../broker/oid-set.js';
import type { Leaf } from '../../query/leaf.js';
import type { Matcher } from '../../query/matcher.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { columnOf } from '../index/index-file.js';
import { byScore, type Postings, type Scored } from '../index/postings.js';
import type { Spellings } from '../index/spellings.js';
import type { QueryWord, Relevance } from '../ranking/relevance.js';
import type { CandidateFinder } from './candidates.js';
import { indexExpression } from './index-expression.js';

/** Candidates of a query, in the order in which they are matched. */
export interface CandidateRun extends Ranked {
  /** Whether a candidate is known to satisfy the query. */
  readonly isCertain: (oid: number) => boolean;
  /** Whether this is the last run. */
  readonly last: boolean;
}

/** The inputs of {@link candidateRuns}. */
export interface OrderContext extends RankingContext {
  readonly matcher: Matcher;
  readonly finder: CandidateFinder;
  readonly spellings: Spellings;
  /** Number of hits requested, or infinity: a few are found without ordering all candidates. */
  readonly wantedHits: number;
  /** Whether the best hits are first; else they are in the order of their OIDs, which costs less. */
  readonly isOrdered: boolean;
}

/** Maximum number of requested hits for which a separate first run pays off. */
const MAX_FIRST = 1_000;
/** Objects that are scored by their relevance if a few hits are wanted of more. */
const MAX_RELEVANCE = 300;
/** Number of phrases in a query up to which long posting lists are scored. */
const FEW_PHRASES = 3;
/** Minimum number of candidates of a first run whose objects have to be read. */
const MIN_FIRST_RUN = 64;

function unranked(oids: Uint32Array): Ranked {
  return { oids, scores: new Map() };
}

/** Whether the whole posting lists of the phrases, which each statement that scores reads, are short enough. */
async function isScorable(
  phrases: readonly string[],
  postings: Postings,
  slice: TimeSlice,
): Promise<boolean> {
  // The objects of a single phrase are counted by the caller.
  if (phrases.length < 2) return true;
  // What a person types is scored even if it takes longer.
  const most = phrases.length <= FEW_PHRASES ? 3 * MAX_SCORED_POSTINGS : MAX_SCORED_POSTINGS;
  if (postings.span * phrases.length <= most) return true;
  let total = 0;
  for (const phrase of phrases) {
    total += await postings.countOf(phrase, most + 1 - total, slice);
    if (total > most) return false;
  }
  return true;
}

/**
 * The candidates of a query; those that yield the first hits at the lowest cost are first: the best few that
 * the index finds alone, or those that the vocabulary is certain of. If they are not enough, all others follow.
 * No object occurs twice.
 */
export async function* candidateRuns(context: OrderContext): AsyncGenerator<CandidateRun, void> {
  const { matcher, postings, finder, spellings, maxRanked, slice, wantedHits, isOrdered } = context;
  const yielded = new OidSet();
  const others = (order: Ranked): Ranked =>
    yielded.isEmpty ? order : { ...order, oids: order.oids.filter((oid) => !yielded.has(oid)) };
  const first = (order: Ranked, isCertain: CandidateRun['isCertain']): CandidateRun => {
    for (const oid of order.oids) yielded.add(oid);
    return { ...order, isCertain, last: false };
  };
  const inOrder = async (found: OidSet): Promise<Ranked> =>
    isOrdered ? rank(found, matcher.positive, context) : unranked(found.toArray());
  const expression = indexExpression(matcher.plan, spellings);
  if (expression !== undefined && (await isScorable(expression.phrases, postings, slice))) {
    const { match, exact } = expression;
    const isCertain = () => exact;
    const few = await postings.first(match, MAX_RELEVANCE + 1, slice);
    const isShort = few.length <= MAX_RELEVANCE;
    const total = isShort ? few.length : await postings.countOf(match, maxRanked + 1, slice);
    if (total <= maxRanked) {
      if (isOrdered && !isShort && wantedHits <= MAX_RELEVANCE / 3) {
        // What FTS5 finds best, in the order of the relevance: the others are far below, and to score them
        // would take most of the time.
        const [, word] = /^"([^" ]+)"$/.exec(match) ?? [];
        const known = word === undefined ? undefined : context.relevance.bestOf(word, MAX_RELEVANCE);
        const best =
          known === undefined
            ? toRanked(await postings.top(match, MAX_RELEVANCE, total, slice))
            : unranked(known);
        const ranked = await rankByRelevance(best.oids, matcher.positive, context);
        yield first(ranked ?? best, isCertain);
        const { oids } = await rankAll(match, postings, slice);
        yield { ...others({ oids, scores: new Map() }), isCertain, last: true };
        return;
      }
      const all = isShort ? few : await postings.matching(match, slice);
      const ranked = isOrdered ? await rankByRelevance(all, matcher.positive, context) : unranked(all);
      if (ranked !== undefined) {
        yield { ...ranked, isCertain, last: true };
        return;
      }
      const wanted = exact ? wantedHits : Math.max(MIN_FIRST_RUN, 2 * wantedHits);
      if (wanted < total && wanted <= MAX_FIRST)
        yield first(toRanked(await postings.top(match, wanted, total, slice)), isCertain);
      yield { ...others(await rankAll(match, postings, slice)), isCertain, last: true };
      return;
    }
    if (exact && wantedHits <= MAX_FIRST)
      yield first(unranked(await postings.first(match, wantedHits, slice)), isCertain);
  } else if (matcher.plan.kind === 'leaf' && wantedHits <= MAX_FIRST) {
    const certain = await finder.findCertain(matcher.plan.leaf, slice);
    if (!certain.isEmpty) yield first(await inOrder(certain), () => true);
  }
  const { certain, possible } = await finder.find(matcher.plan, slice);
  const order = await inOrder(possible ?? (await postings.all(slice)));
  yield { ...others(order), isCertain: (oid) => certain.has(oid), last: true };
}

/** Maximum number of words of a query that are used for ranking. */
const MAX_WORDS = 16;
/** Characters of a word that is used for ranking. */
const MAX_WORD = 64;

/**
 * Maximum number of posting list entries that are read to score: some milliseconds, which cannot be
 * interrupted.
 */
const MAX_SCORED_POSTINGS = 100_000;

/** Candidates in the order in which they are matched. */
interface Ranked {
  readonly oids: Uint32Array;
  /** Higher is better. */
  readonly scores: ReadonlyMap<number, number>;
}

/** Every object that matches an expression of the index, best first. */
async function rankAll(match: string, postings: Postings, slice: TimeSlice): Promise<Ranked> {
  const found: Scored[] = [];
  for await (const scored of postings.ranked(match, slice)) found.push(scored);
  return toRanked(found.sort(byScore));
}

/** Converts scored objects, which are already sorted. */
function toRanked(found: readonly Scored[]): Ranked {
  const scores = new Map(found.map(({ oid, score }) => [oid, score]));
  return { oids: Uint32Array.from(scores.keys()), scores };
}

/** What orders candidates. */
interface RankingContext {
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
async function rank(candidates: OidSet, positive: readonly Leaf[], context: RankingContext): Promise<Ranked> {
  const oids = candidates.toArray();
  if (oids.length < 2 || oids.length > context.maxRanked) return { oids, scores: new Map() };
  return (await rankByRelevance(oids, positive, context)) ?? rankByFrequency(candidates, positive, context);
}

/** Orders objects by their {@link Relevance}; undefined if all words of the query are too frequent for it. */
async function rankByRelevance(
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
