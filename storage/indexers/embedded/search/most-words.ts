// Chooses the objects of a query for most of its words (BRK-2.27): those whose words say most of what all say.
import { sortedIndexOf } from '../../../../protocols/binary-search.js';
import type { Expression } from '../../../../protocols/broker/index.js';
import type { OidSet } from '../../../broker/oid-set.js';
import type { SearchOptions } from '../../contract.js';
import { Matcher, type Plan, type QueryLimits } from '../../query/matcher.js';
import type { PlainWords } from '../../query/plain-words.js';
import { fold } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { Postings } from '../index/postings.js';
import type { Spellings } from '../index/spellings.js';
import { idfOf } from '../ranking/relevance.js';
import type { FormFinder } from '../words/form-finder.js';
import type { CandidateFinder } from './candidates.js';
import { indexExpression } from './index-expression.js';
import type { MatchingObjects } from './matching-objects.js';

/** Objects with most of the words. */
export interface MostWords {
  /** Ascending. */
  readonly oids: Uint32Array;
  /** Of each of them: bit i is set if it lacks word i. */
  readonly lacks: Uint32Array;
  /** Whether the index alone has decided. */
  readonly isExact: boolean;
}

/** What {@link mostWords} works with. */
export interface MostWordsContext {
  readonly options: Omit<SearchOptions, 'signal'>;
  readonly queryLimits: QueryLimits;
  readonly postings: Postings;
  readonly matching: MatchingObjects;
  readonly finder: CandidateFinder;
  readonly spellings: Spellings;
  readonly forms: Pick<FormFinder, 'read'>;
  readonly maxRanked: number;
  readonly slice: TimeSlice;
}

/**
 * The share of what all words say that an object has at least; less, if fewer than so many objects have it, and any if
 * no object has more.
 */
const LEAST_SHARE = 0.4;
const FEW_OBJECTS = 10;
const LESSER_SHARE = 0.2;
/** Objects with some of the words that are chosen at most: those with the largest shares. */
export const MAX_OBJECTS = 2_000;

/** Objects that are merged, counted or looked up between two looks at the clock. */
const STEP_OBJECTS = 4096;

/** The objects that satisfy a part of the query. */
interface Found {
  readonly oids: Uint32Array;
  readonly isExact: boolean;
}

/**
 * Chooses the objects of a query. A word says as much as its inverse document frequency; one that says nothing in
 * the languages of the objects, and one that no object has, count only if there are no others. Undefined if the
 * index cannot tell, or so many objects have all words that those with fewer do not matter.
 */
export async function mostWords(
  { required, words }: PlainWords,
  context: MostWordsContext,
): Promise<MostWords | undefined> {
  const { options, queryLimits, postings, forms, slice } = context;
  const planOf = (expression: Expression) => new Matcher(expression, options, queryLimits).plan;
  const lists: Found[] = [];
  const stopWords: boolean[] = [];
  for (const { expression, text } of words) {
    const found = await objectsOf(planOf(expression), context);
    if (found === undefined) return undefined;
    lists.push(found);
    stopWords.push((await forms.read(fold(text), slice)).isStopWord);
    await slice.yield();
  }
  const weights = weightsOf(
    lists.map(({ oids }) => oids.length),
    stopWords,
    postings.span,
  );
  let merged: Masks = NO_MASKS;
  for (const [i, { oids }] of lists.entries()) {
    if (weights[i]! > 0) merged = await union(merged, oids, 1 << i, slice);
    await slice.yield();
  }
  let isExact = lists.every((list) => list.isExact);
  for (const part of required) {
    const found = await objectsOf(planOf(part), context);
    if (found === undefined) return undefined;
    merged = await select(merged, (oid) => sortedIndexOf(found.oids, oid) >= 0, slice);
    isExact &&= found.isExact;
    await slice.yield();
  }
  const chosen = await choose(merged, weights, slice);
  if (chosen === undefined) return undefined;
  const lacks = chosen.masks.map((mask) => ~mask);
  for (const [i, { oids }] of lists.entries()) {
    const bit = 1 << i;
    if (weights[i]! > 0) continue;
    for (const [index, oid] of chosen.oids.entries()) {
      if (index % STEP_OBJECTS === 0) await slice.yield();
      lacks[index] = sortedIndexOf(oids, oid) >= 0 ? lacks[index]! & ~bit : lacks[index]! | bit;
    }
  }
  const all = 2 ** words.length - 1;
  return { oids: chosen.oids, lacks: lacks.map((bits) => bits & all), isExact };
}

async function objectsOf(plan: Plan, context: MostWordsContext): Promise<Found | undefined> {
  const { spellings, matching, finder, postings, maxRanked, slice } = context;
  const expression = indexExpression(plan, spellings);
  if (expression?.exact === true) {
    const oids = await matching.of(expression.match, maxRanked, slice);
    return { oids: oids ?? (await postings.matching(expression.match, slice)), isExact: true };
  }
  const { certain, possible }: { certain: OidSet; possible: OidSet | undefined } = await finder.find(
    plan,
    slice,
  );
  return possible && { oids: possible.toArray(), isExact: possible === certain };
}

/**
 * What words say, by the number of objects that have each. One that says nothing in the languages of the objects counts only if
 * there are no others.
 */
export function weightsOf(
  counts: readonly number[],
  stopWords: readonly boolean[],
  objects: number,
): number[] {
  const weights = counts.map((count) => (count === 0 ? 0 : idfOf(count, objects)));
  const telling = weights.map((weight, i) => (stopWords[i] === true ? 0 : weight));
  return telling.some((weight) => weight > 0) ? telling : weights;
}

/** Objects, ascending, and the words that each has. */
export interface Masks {
  readonly oids: Uint32Array;
  readonly masks: Uint32Array;
}

const NO_MASKS: Masks = { oids: new Uint32Array(0), masks: new Uint32Array(0) };

/** Adds the objects with another word. */
async function union(
  { oids, masks }: Masks,
  others: Uint32Array,
  bit: number,
  slice: TimeSlice,
): Promise<Masks> {
  const size = oids.length + others.length;
  const merged = { oids: new Uint32Array(size), masks: new Uint32Array(size) };
  let count = 0;
  for (let i = 0, j = 0; i < oids.length || j < others.length; count++) {
    if (count % STEP_OBJECTS === 0) await slice.yield();
    const left = i < oids.length ? oids[i]! : Number.POSITIVE_INFINITY;
    const right = j < others.length ? others[j]! : Number.POSITIVE_INFINITY;
    merged.oids[count] = Math.min(left, right);
    if (left <= right) merged.masks[count] = masks[i++]!;
    if (right <= left) merged.masks[count]! |= bit;
    if (right <= left) j++;
  }
  return { oids: merged.oids.subarray(0, count), masks: merged.masks.subarray(0, count) };
}

async function select(
  { oids, masks }: Masks,
  has: (oid: number, mask: number) => boolean,
  slice: TimeSlice,
): Promise<Masks> {
  const chosen = { oids: new Uint32Array(oids.length), masks: new Uint32Array(oids.length) };
  let count = 0;
  for (let i = 0; i < oids.length; i++) {
    if (i % STEP_OBJECTS === 0) await slice.yield();
    if (!has(oids[i]!, masks[i]!)) continue;
    chosen.oids[count] = oids[i]!;
    chosen.masks[count++] = masks[i]!;
  }
  return { oids: chosen.oids.slice(0, count), masks: chosen.masks.slice(0, count) };
}

/** The objects with the largest shares of the weights; undefined if too many have all. */
export async function choose(
  found: Masks,
  weights: readonly number[],
  slice: TimeSlice,
): Promise<Masks | undefined> {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = new Map<number, { share: number; objects: number }>();
  for (const [i, mask] of found.masks.entries()) {
    if (i % STEP_OBJECTS === 0) await slice.yield();
    const known = shares.get(mask);
    if (known !== undefined) known.objects++;
    else {
      const weight = weights.reduce((sum, value, i) => ((mask & (1 << i)) === 0 ? sum : sum + value), 0);
      shares.set(mask, { share: weight / total, objects: 1 });
    }
  }
  let objects = 0;
  let least = 1;
  for (const { share, objects: more } of [...shares.values()].sort((a, b) => b.share - a.share)) {
    const isEnough = objects >= FEW_OBJECTS && (share < LEAST_SHARE || objects + more > MAX_OBJECTS);
    if (isEnough || (objects > 0 && share < LESSER_SHARE)) break;
    objects += more;
    if (objects > MAX_OBJECTS && share > 1 - SMALL) return undefined;
    least = share;
  }
  return select(found, (_, mask) => shares.get(mask)!.share >= least, slice);
}

/** The error of a sum of shares. */
const SMALL = 1e-9;
