import { sortedIndexOf } from '../../../../protocols/binary-search.js';
import { OidSet } from '../../../broker/oid-set.js';
import { columnOf } from '../../columns/columns.js';
import type { Leaf } from '../../query/leaf.js';
import type { Matcher } from '../../query/matcher.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { Postings, Scored } from '../index/postings.js';
import type { Spellings } from '../index/spellings.js';
import { bestIndices, type QueryWord, type Relevance } from '../ranking/relevance.js';
import type { CandidateFinder } from './candidates.js';
import { indexExpressionInSlices } from './index-expression.js';
import type { MatchingObjects } from './matching-objects.js';
import type { MostWords } from './most-words.js';

/** Candidates of a query, in the order in which they are matched. */
export interface CandidateRun extends Ranked {
  /** Whether a candidate is known to satisfy the query. */
  readonly isCertain: (oid: number) => boolean;
  /** The words that a candidate lacks, of a query for most of its words. */
  readonly lacks?: (oid: number) => number;
  /** Whether this is the last run. */
  readonly last: boolean;
}

/** The inputs of {@link candidateRuns}. */
export interface OrderContext extends RankingContext {
  readonly matcher: Matcher;
  readonly matching: MatchingObjects;
  readonly finder: CandidateFinder;
  readonly spellings: Spellings;
  /** Number of hits requested, or infinity: a few are found without ordering all candidates. */
  readonly wantedHits: number;
  /** Whether the best hits are first; else they are in the order of their OIDs, which costs less. */
  readonly isOrdered: boolean;
  /** The candidates of a query for most of its words. */
  readonly most?: MostWords | undefined;
}

/** Maximum number of requested hits for which a separate first run pays off. */
const MAX_FIRST = 1_000;
/** Hits that are put in order first: to sort all of many would take longer than to find the best. */
const FIRST_SORTED = 300;
/** Candidates that are sorted, or merged, between two looks at the clock. */
const SORTED_AT_ONCE = 512;
/** Number of phrases in a query up to which long posting lists are scored. */
const FEW_PHRASES = 3;

function unranked(oids: Uint32Array): Ranked {
  return { oids, scores: undefined };
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
 * No object occurs twice. The order does not depend on the number of requested hits.
 */
export async function* candidateRuns(context: OrderContext): AsyncGenerator<CandidateRun, void> {
  const { matcher, postings, matching, finder, spellings, maxRanked, slice, wantedHits, isOrdered } = context;
  const { plan, positive } = matcher;
  if (context.most !== undefined) {
    yield* chosenRuns(context.most, positive, context);
    return;
  }
  const yielded = new OidSet();
  const first = (order: Ranked, isCertain: CandidateRun['isCertain']): CandidateRun => {
    for (const oid of order.oids) yielded.add(oid);
    return { ...order, isCertain, last: false };
  };
  const expression = await indexExpressionInSlices(plan, spellings, slice);
  if (expression !== undefined && (await isScorable(expression.phrases, postings, slice))) {
    const { match, exact } = expression;
    const isCertain = () => exact;
    const all = await matching.of(match, maxRanked, slice);
    if (all !== undefined) {
      const scored = isOrdered ? await scoreByRelevance(all, positive, context) : unranked(all);
      if (scored !== undefined) yield* inOrder(scored, isCertain, slice);
      else yield { ...(await rankAll(match, postings, slice)), isCertain, last: true };
      return;
    }
    if (exact && wantedHits <= MAX_FIRST)
      yield first(unranked(await postings.first(match, wantedHits, slice)), isCertain);
  } else if (plan.kind === 'leaf' && (isOrdered || wantedHits <= MAX_FIRST)) {
    const certain = await finder.findCertain(plan.leaf, slice);
    const order = isOrdered ? await rank(certain, positive, context) : unranked(certain.toArray());
    if (!certain.isEmpty) yield first(order, () => true);
  }
  const { certain, possible = await postings.all(slice) } = await finder.find(plan, slice);
  const order = isOrdered ? await rank(possible, positive, context) : unranked(possible.toArray());
  yield { ...without(order, yielded), isCertain: (oid) => certain.has(oid), last: true };
}

async function* chosenRuns(
  { oids, lacks, isExact }: MostWords,
  positive: readonly Leaf[],
  context: OrderContext,
): AsyncGenerator<CandidateRun, void> {
  const scored = context.isOrdered ? await scoreByRelevance(oids, positive, context) : undefined;
  const lacksOf = (oid: number) => lacks[sortedIndexOf(oids, oid)]!;
  for await (const run of inOrder(scored ?? unranked(oids), () => isExact, context.slice))
    yield { ...run, lacks: lacksOf };
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
  /** That of each candidate, higher is better; undefined if they have none. */
  readonly scores: Float64Array | undefined;
}

/** The candidates that are not in a set. */
function without({ oids, scores }: Ranked, set: OidSet): Ranked {
  if (set.isEmpty) return { oids, scores };
  return { oids: oids.filter((oid) => !set.has(oid)), scores: scores?.filter((_, i) => !set.has(oids[i]!)) };
}

/** Every object that matches an expression of the index, by FTS5's bm25, best first. */
async function rankAll(match: string, postings: Postings, slice: TimeSlice): Promise<Ranked> {
  const found: Scored[] = [];
  for await (const scored of postings.ranked(match, slice)) found.push(scored);
  return sorted(unsorted(found), Uint32Array.from(found.keys()), slice);
}

/** In the order of the OIDs. */
function unsorted(found: readonly Scored[]): Ranked {
  return {
    oids: Uint32Array.from(found, ({ oid }) => oid),
    scores: Float64Array.from(found, ({ score }) => score),
  };
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
  if (oids.length < 2 || oids.length > context.maxRanked) return unranked(oids);
  const scored = await scoreByRelevance(oids, positive, context);
  if (scored === undefined) return rankByFrequency(candidates, positive, context);
  return sorted(scored, Uint32Array.from(oids.keys()), context.slice);
}

/**
 * Scores objects by their {@link Relevance}, and leaves them in the order of their OIDs; undefined if all words
 * of the query are too frequent for it.
 */
async function scoreByRelevance(
  oids: Uint32Array,
  positive: readonly Leaf[],
  { relevance, slice }: Pick<RankingContext, 'relevance' | 'slice'>,
): Promise<Ranked | undefined> {
  if (oids.length < 2) return unranked(oids);
  const scores = await relevance.scores(queryWords(positive), oids, slice);
  return scores && { oids, scores };
}

/** Candidates, the best first, in two runs if they are many: the second is sorted only if it is needed. */
async function* inOrder(
  all: Ranked,
  isCertain: CandidateRun['isCertain'],
  slice: TimeSlice,
): AsyncGenerator<CandidateRun, void> {
  const { oids, scores } = all;
  if (scores === undefined) {
    yield { ...all, isCertain, last: true };
    return;
  }
  const best = bestIndices(scores, FIRST_SORTED);
  yield { ...(await sorted(all, best, slice)), isCertain, last: best.length === oids.length };
  if (best.length === oids.length) return;
  const isBest = new Uint8Array(oids.length);
  for (const i of best) isBest[i] = 1;
  const rest = Uint32Array.from(oids.keys()).filter((i) => isBest[i] === 0);
  yield { ...(await sorted(all, rest, slice)), isCertain, last: true };
}

/** Some of the candidates, the best first; equal ones in the order of their OIDs. */
async function sorted({ oids, scores }: Ranked, indices: Uint32Array, slice: TimeSlice): Promise<Ranked> {
  const order =
    scores === undefined
      ? indices
      : await sortInSlices(indices, (a, b) => scores[b]! - scores[a]! || a - b, slice);
  return {
    oids: order.map((i) => oids[i]!),
    scores: scores && Float64Array.from(order, (i) => scores[i]!),
  };
}

/** Sorts by merging, in time slices: a comparison of thousands takes milliseconds. */
async function sortInSlices(
  values: Uint32Array,
  compare: (a: number, b: number) => number,
  slice: TimeSlice,
): Promise<Uint32Array> {
  let from = values;
  for (let start = 0; start < from.length; start += SORTED_AT_ONCE) {
    from.subarray(start, start + SORTED_AT_ONCE).sort(compare);
    await slice.yield();
  }
  let into: Uint32Array = new Uint32Array(from.length);
  for (let width = SORTED_AT_ONCE; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length);
      const end = Math.min(middle + width, from.length);
      for (let left = start, right = middle, at = start; at < end; at++) {
        const isLeft = left < middle && (right >= end || compare(from[left]!, from[right]!) <= 0);
        into[at] = isLeft ? from[left++]! : from[right++]!;
        if (at % SORTED_AT_ONCE === 0) await slice.yield();
      }
    }
    [from, into] = [into, from];
  }
  return from;
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
  if (matches.length === 0) return unranked(oids);
  const scores = new Map<number, number>();
  for await (const { oid, score } of postings.ranked(matches.join(' OR '), slice))
    if (candidates.has(oid)) scores.set(oid, score);
  const ranked = { oids, scores: Float64Array.from(oids, (oid) => scores.get(oid) ?? 0) };
  return sorted(ranked, Uint32Array.from(oids.keys()), slice);
}

/** The words of a query in their order, each with the column that it is restricted to. */
export function queryWords(positive: readonly Leaf[]): QueryWord[] {
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
