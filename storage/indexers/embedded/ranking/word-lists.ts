// The objects that have a word or phrase, with how much it counts in each. Those of words that are asked for
// again are kept.
import { sortedIndexOf } from '../../../../protocols/binary-search.js';
import { OidSet } from '../../../broker/oid-set.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { IndexCache, type IndexVersion } from '../index/index-cache.js';
import type { Postings } from '../index/postings.js';
import {
  type IndexTotals,
  type Occurrence,
  PART_COLUMNS,
  PARTS,
  type RelevanceStatements,
} from './relevance-statements.js';

/**
 * Weight of a word in each part, and how much long parts count less, 0 to 1; 0 for `other`, which has no one
 * length.
 */
export type PartWeights = Readonly<
  Record<(typeof PARTS)[number], { readonly weight: number; readonly length: number }>
>;

/** Objects that match an expression: parallel lists, ascending by OID. */
export interface MatchList {
  readonly oids: Uint32Array;
  /** Words of the title. */
  readonly titleWords: Uint16Array;
}

/** Objects with a word or phrase: parallel lists, ascending by OID. */
export interface WordList {
  /** The word or phrase. */
  readonly phrase: string;
  /** Number of all objects that have it. */
  readonly objects: number;
  readonly oids: Uint32Array;
  /** The sum over the parts, with their lengths taken into account; 0 in parts that do not count. */
  readonly frequencies: Float64Array;
  /** Words of the title, if it has the word; else 0. */
  readonly titleWords: Uint16Array;
}

/** The objects that are to be scored. */
export interface WantedOids {
  readonly oids: Uint32Array;
  /** As a JSON array. */
  readonly json: string;
}

const CACHE_BYTES = 16 << 20;
const MATCHES_BYTES = 4 << 20;
/** Bytes of an object in a list. */
const ENTRY_BYTES = 4 + 8 + 2;
/** Words that were asked for once; numbers of objects. */
const ASKED_BYTES = 1 << 20;
/** Wanted objects from which the whole list of a word is read: most of its objects are wanted. */
const MANY_WANTED = 2_000;
/** Wanted objects up to which a word is read without counting its objects first, since it may have few. */
const FEW_WANTED = 50;
/** Objects of a list that are computed between two looks at the clock. */
const LISTED_AT_ONCE = 512;
const TITLE = PARTS.indexOf('title');

/** Reads lists of words from the index. */
export class WordLists {
  readonly #postings: Postings;
  readonly #statements: RelevanceStatements;
  readonly #version: IndexVersion;
  readonly #weights: PartWeights;
  readonly #lists: IndexCache<WordList>;
  readonly #matches: IndexCache<MatchList>;
  readonly #counts: IndexCache<{ readonly count: number }>;
  /**
   * Words whose wanted objects alone were read: the whole list is worth its time when they are asked for again.
   */
  readonly #asked: IndexCache<object>;

  constructor(
    postings: Postings,
    statements: RelevanceStatements,
    version: IndexVersion,
    weights: PartWeights,
  ) {
    this.#postings = postings;
    this.#statements = statements;
    this.#version = version;
    this.#weights = weights;
    this.#lists = new IndexCache(version, CACHE_BYTES, ({ oids }) => ENTRY_BYTES * oids.length);
    this.#matches = new IndexCache(version, MATCHES_BYTES, ({ oids }) => 6 * oids.length);
    this.#counts = new IndexCache(version, ASKED_BYTES, () => 0);
    this.#asked = new IndexCache(version, ASKED_BYTES, () => 0);
  }

  get totals(): IndexTotals {
    return this.#statements.totals();
  }

  /**
   * Returns the list of a word or phrase, or undefined if more than `most` objects have it.
   *
   * @param phrase words separated by blanks
   * @param columns the columns that count, as a filter of FTS5
   * @param wanted the only objects that the list must have; default all
   */
  async read(
    phrase: string,
    columns: string,
    most: number,
    wanted: WantedOids | undefined,
    slice: TimeSlice,
  ): Promise<WordList | undefined> {
    const key = `${columns}:${phrase}`;
    const known = this.#lists.get(key);
    if (known !== undefined) return known.objects > most ? undefined : known;
    const { epoch } = this.#version;
    const totals = this.#statements.totals();
    const few = wanted !== undefined && wanted.oids.length <= FEW_WANTED ? 2 * wanted.oids.length + 1 : 0;
    if (few > 0) {
      const found = this.#statements.fewOccurrences(phrase, columns, few);
      if (found !== undefined)
        return this.#keep(key, await this.#listOf(phrase, found, found.length, totals, slice), epoch);
    }
    const isWhole =
      wanted === undefined || wanted.oids.length > MANY_WANTED || this.#asked.get(key) !== undefined;
    const match = `${columns} : "${phrase}"`;
    const mayBeMore = totals.objects > most;
    const objects = isWhole && !mayBeMore ? 0 : await this.#postings.countOf(match, most + 1, slice);
    if (objects > most) return undefined;
    if (isWhole || wanted.oids.length >= objects / 2) {
      const found = await this.#statements.occurrences(phrase, columns, slice);
      return this.#keep(key, await this.#listOf(phrase, found, found.length, totals, slice), epoch);
    }
    this.#asked.set(key, {}, epoch);
    const some = { json: wanted.json, of: objects, windows: () => this.#postings.windows(slice) };
    const found = await this.#statements.occurrences(phrase, columns, slice, some);
    return this.#listOf(phrase, found, objects, totals, slice);
  }

  /**
   * The number of objects in any of the lists, which have the same columns; counts up to `limit` if they are
   * long.
   */
  async countAny(
    lists: readonly WordList[],
    columns: string,
    limit: number,
    slice: TimeSlice,
  ): Promise<number> {
    const [only] = lists;
    if (only === undefined) return 0;
    if (lists.length === 1) return only.objects;
    if (lists.every(({ objects, oids }) => oids.length === objects)) return countUnion(lists);
    const match = `${columns} : (${lists.map(({ phrase }) => `"${phrase}"`).join(' OR ')})`;
    const known = this.#counts.get(match);
    if (known !== undefined) return known.count;
    const { epoch } = this.#version;
    const count = await this.#postings.countOf(match, limit, slice);
    this.#counts.set(match, { count }, epoch);
    return count;
  }

  /**
   * Returns the objects that match one of several expressions of the index, with the lengths of their titles;
   * undefined if there are more than `most`. Each expression has statements of its own, since one of hundreds of
   * words takes long.
   */
  async matching(matches: readonly string[], most: number, slice: TimeSlice): Promise<MatchList | undefined> {
    const key = matches.join(' OR ');
    const known = this.#matches.get(key);
    if (known !== undefined) return known.oids.length > most ? undefined : known;
    const { epoch } = this.#version;
    const found = new Map<number, number>();
    for (const match of matches) {
      for (const window of this.#postings.windows(slice)) {
        for (const { oid, titleWords } of this.#statements.titles(match, window, most + 1))
          found.set(oid, titleWords);
        if (found.size > most) return undefined;
        await slice.yield();
      }
    }
    const oids = Uint32Array.from(found.keys()).sort();
    const titleWords = Uint16Array.from(oids, (oid) => Math.min(0xffff, found.get(oid) ?? 0));
    const list = { oids, titleWords };
    this.#matches.set(key, list, epoch);
    return list;
  }

  #keep(key: string, list: WordList, epoch: number): WordList {
    this.#lists.set(key, list, epoch);
    return list;
  }

  async #listOf(
    phrase: string,
    found: readonly Occurrence[],
    objects: number,
    totals: IndexTotals,
    slice: TimeSlice,
  ): Promise<WordList> {
    const oids = new Uint32Array(found.length);
    const frequencies = new Float64Array(found.length);
    const titleWords = new Uint16Array(found.length);
    for (const [i, occurrence] of found.entries()) {
      const { oid, counts, lengths } = occurrence;
      oids[i] = oid;
      frequencies[i] = partFrequency(occurrence, totals, this.#weights);
      if (counts[TITLE]! > 0) titleWords[i] = Math.min(0xffff, Math.max(1, lengths[PART_COLUMNS[TITLE]!]!));
      const pause = i % LISTED_AT_ONCE === 0 ? slice.yield() : undefined;
      if (pause !== undefined) await pause;
    }
    return { phrase, objects, oids, frequencies, titleWords };
  }
}

/** How often a word occurs in an object: the sum over its parts, by their weights and lengths. */
export function partFrequency(
  { counts, lengths }: Pick<Occurrence, 'counts' | 'lengths'>,
  totals: IndexTotals,
  weights: PartWeights,
): number {
  let frequency = 0;
  for (let i = 0; i < PARTS.length; i++) {
    const count = counts[i]!;
    if (count === 0) continue;
    const { weight, length } = weights[PARTS[i]!];
    const column = PART_COLUMNS[i]!;
    const relative = length === 0 ? 1 : lengths[column]! / Math.max(1, totals.lengths[column]!);
    frequency += (weight * count) / (1 - length + length * relative);
  }
  return frequency;
}

function countUnion(lists: readonly WordList[]): number {
  const union = new OidSet();
  for (const { oids } of lists) for (const oid of oids) union.add(oid);
  return union.size;
}

/** List of OIDs that is so many times as long as another: each OID of the other is searched in it. */
const MUCH_LONGER = 16;

/** Calls back for each OID that both ascending lists have, with its index in either. */
export function eachCommon(
  left: Uint32Array,
  right: Uint32Array,
  found: (leftIndex: number, rightIndex: number) => void,
): void {
  if (left.length > MUCH_LONGER * right.length) {
    for (let j = 0; j < right.length; j++) {
      const i = sortedIndexOf(left, right[j]!);
      if (i >= 0) found(i, j);
    }
    return;
  }
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    const difference = left[i]! - right[j]!;
    if (difference === 0) found(i, j);
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
}
