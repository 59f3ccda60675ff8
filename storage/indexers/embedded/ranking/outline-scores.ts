// What the outlines of the best objects add to their scores: how they begin, and how the others of them link to them.
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { hashOf } from '../index/link-texts.js';
import { eachLink, type ReadOutline } from '../index/outlines.js';

/** Weights of what outlines say, for all that the words of the query say. */
export interface OutlineModel {
  /** Of the words of the query at the beginning of an object. */
  readonly beginning: number;
  /** Of the text of a link to the object, by its words and those of the query that it has. */
  readonly linkName: number;
  /** Of the logarithm of how many of the {@link LINKING} best objects link to it. */
  readonly linked: number;
}

/** The best objects whose links are counted. Links of pages about other subjects say less. */
const LINKING = 30;

/** Where outlines are read. */
export interface OutlineSource {
  /** Returns undefined if there is no such object. */
  read(oid: number): ReadOutline | undefined;
}

/** A word of the query in all its forms. */
export interface OutlineWord {
  readonly forms: readonly string[];
  readonly idf: number;
}

/** What is known of an object. */
interface Links {
  /** The best link to it. */
  name: number;
  /** Objects that link to it. */
  linked: number;
  /** The last one that was counted. */
  last: number;
}

/**
 * Returns what is added to the score of each object.
 *
 * @param words at most 16
 * @param oids the best objects so far, the best first
 */
export async function outlineScores(
  words: readonly OutlineWord[],
  oids: readonly number[],
  source: OutlineSource,
  { beginning, linkName, linked }: OutlineModel,
  slice: TimeSlice,
): Promise<Float64Array> {
  const query = new QueryWords(words);
  const outlines: (ReadOutline | undefined)[] = [];
  const targets = new Map<number, number>();
  for (const [i, oid] of oids.entries()) {
    const outline = source.read(oid);
    outlines.push(outline);
    if (outline !== undefined) targets.set(outline.url, i);
    const pause = slice.yield();
    if (pause !== undefined) await pause;
  }
  const links = oids.map((): Links => ({ name: 0, linked: 0, last: -1 }));
  for (const [from, outline] of outlines.entries()) {
    if (outline === undefined) continue;
    eachLink(outline.links, (target, start, end) => {
      const to = targets.get(target);
      if (to === undefined || to === from) return;
      const link = links[to]!;
      link.name = Math.max(link.name, query.shareOf(outline.links, start, end, true));
      if (from < LINKING && link.last !== from) link.linked++;
      link.last = from;
    });
    const pause = slice.yield();
    if (pause !== undefined) await pause;
  }
  return Float64Array.from(outlines, (outline, i) => {
    if (outline === undefined) return 0;
    const { name, linked: count } = links[i]!;
    const first = query.shareOf(outline.beginning, 0, outline.beginning.length, false);
    return query.idf * (beginning * first + linkName * name + linked * Math.log1p(count));
  });
}

/** The words of a query by their hashes. */
class QueryWords {
  /** The idf of all words. */
  readonly idf: number;
  readonly #words: readonly OutlineWord[];
  /** Bit i is set if a hash is a form of word i. */
  readonly #masks = new Map<number, number>();

  constructor(words: readonly OutlineWord[]) {
    this.#words = words;
    this.idf = words.reduce((sum, { idf }) => sum + idf, 0);
    for (const [i, { forms }] of words.entries()) {
      for (const form of forms) {
        const hash = hashOf(form);
        this.#masks.set(hash, (this.#masks.get(hash) ?? 0) | (1 << i));
      }
    }
  }

  /** The share of the query that a text has; `isWhole`: times the share of the text that the query has. */
  shareOf(hashes: Uint32Array, start: number, end: number, isWhole: boolean): number {
    let found = 0;
    let count = 0;
    for (let i = start; i < end; i++) {
      const mask = this.#masks.get(hashes[i]!);
      if (mask === undefined) continue;
      found |= mask;
      count++;
    }
    if (count === 0) return 0;
    let idf = 0;
    for (const [i, word] of this.#words.entries()) if ((found & (1 << i)) !== 0) idf += word.idf;
    const share = idf / this.idf;
    return isWhole ? (share * count) / (end - start) : share;
  }
}
