// How often words occur in some objects, read from the objects themselves; how many objects have them is asked of OpenSearch.
import { decodeSoif } from '../../../protocols/soif/index.js';
import type { ObjectReader } from '../../broker/object-reader.js';
import { COLUMN_WEIGHTS, columnTexts } from '../columns/columns.js';
import type { IndexCache } from '../embedded/index/index-cache.js';
import { linkLinesOf, urlDigest } from '../embedded/index/link-texts.js';
import { outlineOf, type ReadOutline } from '../embedded/index/outlines.js';
import type { OutlineSource } from '../embedded/ranking/outline-scores.js';
import { RELEVANCE_MODEL, type WordSource } from '../embedded/ranking/relevance.js';
import { type IndexTotals, PART_OF, PARTS } from '../embedded/ranking/relevance-statements.js';
import { type MatchList, partFrequency, type WordList } from '../embedded/ranking/word-lists.js';
import { fold } from '../query/words.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import type { IndexTerms } from './index-terms.js';

/** Objects of one read. */
const READ_AT_ONCE = 16;
/** Characters of a column that are looked at. */
const MAX_TEXT = 1 << 18;
const NAMES = COLUMN_WEIGHTS.map(({ name }) => name);
const TITLE = NAMES.indexOf('title');

/** One object, with its words as the index has them. */
export interface ObjectText {
  readonly oid: number;
  readonly outline: ReadOutline;
  /** The words of each column, with a blank on both sides of each. */
  readonly columns: readonly string[];
  /** Words of each column. */
  readonly lengths: readonly number[];
}

/** Words that are close together. */
interface NearWords {
  readonly words: readonly string[];
  readonly between: number;
}

/** The texts of a few objects, in the order of their OIDs. */
export class ObjectTexts implements WordSource {
  readonly outlines: OutlineSource = { read: (oid) => this.#outlineOf(oid) };
  readonly #objects: readonly ObjectText[];
  readonly #terms: IndexTerms;
  readonly totals: IndexTotals;
  readonly #counts = new Map<string, number>();

  private constructor(objects: readonly ObjectText[], terms: IndexTerms, totals: IndexTotals) {
    this.#objects = objects;
    this.#terms = terms;
    this.totals = totals;
  }

  /**
   * Reads objects; those that are gone are left out.
   *
   * @param known objects of earlier queries, which are asked for again: for the next page, or with other words
   */
  static async read(
    oids: readonly number[],
    reader: Pick<ObjectReader, 'objects'>,
    known: IndexCache<ObjectText>,
    terms: IndexTerms,
    totals: IndexTotals,
    epoch: number,
    slice: TimeSlice,
  ): Promise<ObjectTexts> {
    const objects = oids.flatMap((oid) => known.get(String(oid)) ?? []);
    const has = new Set(objects.map(({ oid }) => oid));
    const others = oids.filter((oid) => !has.has(oid));
    for (let i = 0; i < others.length; i += READ_AT_ONCE) {
      const some = others.slice(i, i + READ_AT_ONCE);
      for (const [n, bytes] of (await slice.wait(reader.objects(some))).entries()) {
        const text = bytes && readText(some[n]!, bytes);
        if (text === undefined) continue;
        known.set(String(text.oid), text, epoch);
        objects.push(text);
        const pause = slice.yield();
        if (pause !== undefined) await pause;
      }
    }
    objects.sort((a, b) => a.oid - b.oid);
    return new ObjectTexts(objects, terms, totals);
  }

  get oids(): Uint32Array {
    return Uint32Array.from(this.#objects, ({ oid }) => oid);
  }

  /** The name of an object's URL among the links. */
  urlOf(oid: number): number | undefined {
    return this.#outlineOf(oid)?.url;
  }

  #outlineOf(oid: number): ReadOutline | undefined {
    return this.#objects.find((object) => object.oid === oid)?.outline;
  }

  /** Asks for the numbers of objects with words at once. */
  async count(words: readonly string[], slice: TimeSlice): Promise<void> {
    const unknown = [...new Set(words)].filter((word) => !this.#counts.has(word));
    const counts = await slice.wait(this.#terms.counts(unknown, this.totals.objects));
    for (const [i, word] of unknown.entries()) this.#counts.set(word, counts[i] ?? 0);
  }

  async read(
    phrase: string,
    columns: string,
    _most: number,
    _wanted: unknown,
    slice: TimeSlice,
  ): Promise<WordList> {
    const included = columnsOf(columns);
    const found: { oid: number; frequency: number; titleWords: number }[] = [];
    for (const { oid, columns: texts, lengths } of this.#objects) {
      const counts = PARTS.map(() => 0);
      for (const column of included)
        counts[PART_OF[column]!]! += occurrences(texts[column] ?? '', ` ${phrase} `);
      if (counts.every((count) => count === 0)) continue;
      const frequency = partFrequency({ counts, lengths }, this.totals, RELEVANCE_MODEL.parts);
      const hasTitle = included.includes(TITLE) && counts[PART_OF[TITLE]!]! > 0;
      found.push({ oid, frequency, titleWords: hasTitle ? Math.max(1, lengths[TITLE]!) : 0 });
      const pause = slice.yield();
      if (pause !== undefined) await pause;
    }
    return {
      phrase,
      objects: found.length === 0 ? 0 : Math.max(found.length, this.#counts.get(phrase) ?? 0),
      oids: Uint32Array.from(found, ({ oid }) => oid),
      frequencies: Float64Array.from(found, ({ frequency }) => frequency),
      titleWords: Uint16Array.from(found, ({ titleWords }) => Math.min(0xffff, titleWords)),
    };
  }

  async countAny(
    lists: readonly WordList[],
    _columns: string,
    limit: number,
    slice: TimeSlice,
  ): Promise<number> {
    const [only] = lists;
    if (lists.length < 2) return only?.objects ?? 0;
    return slice.wait(
      this.#terms.countAny(
        lists.map(({ phrase }) => phrase),
        limit,
      ),
    );
  }

  async matching(matches: readonly string[], _most: number, slice: TimeSlice): Promise<MatchList> {
    const searches = matches.map(readMatch);
    const found: ObjectText[] = [];
    for (const object of this.#objects) {
      const hasOne = searches.some(({ columns, alternatives }) =>
        columns.some((column) => alternatives.some((near) => isNear(object.columns[column] ?? '', near))),
      );
      if (hasOne) found.push(object);
      const pause = slice.yield();
      if (pause !== undefined) await pause;
    }
    return {
      oids: Uint32Array.from(found, ({ oid }) => oid),
      titleWords: Uint16Array.from(found, ({ lengths }) => Math.min(0xffff, lengths[TITLE]!)),
    };
  }
}

/** Bytes of an object in memory, about. */
export function bytesOfText({ columns, outline }: ObjectText): number {
  const { beginning, links } = outline;
  return columns.reduce((sum, text) => sum + text.length, beginning.byteLength + links.byteLength);
}

function readText(oid: number, bytes: Uint8Array): ObjectText | undefined {
  try {
    const object = decodeSoif(bytes, { maxObjectBytes: bytes.length });
    const texts = columnTexts(object).map((text) => fold(text.slice(0, MAX_TEXT)));
    return {
      oid,
      outline: { url: urlDigest(object.url), ...outlineOf(object, linkLinesOf(object)) },
      columns: texts.map((text) => (text === '' ? '' : ` ${text} `)),
      lengths: texts.map((text) => (text === '' ? 0 : occurrences(text, ' ') + 1)),
    };
  } catch {
    return undefined; // the matcher warns of it
  }
}

/** The columns of a filter: `title`, or `{title body}`. */
function columnsOf(filter: string): number[] {
  return filter
    .replace(/[{}]/g, '')
    .split(' ')
    .map((name) => NAMES.indexOf(name))
    .filter((column) => column >= 0);
}

/** How often a text occurs; the last character of one may be the first one of the next. */
function occurrences(text: string, part: string): number {
  let count = 0;
  const step = Math.max(1, part.length - 1);
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + step)) count++;
  return count;
}

/** Reads `COLUMNS : ("word" OR NEAR("word" "word", 4))`, which the formula asks for. */
function readMatch(match: string): {
  readonly columns: readonly number[];
  readonly alternatives: readonly NearWords[];
} {
  const [columns = '', ...rest] = match.split(' : ');
  const alternatives: NearWords[] = [];
  for (const [, near, between, word] of rest.join(' : ').matchAll(/NEAR\(([^()]*), (\d+)\)|"([^"]*)"/g)) {
    const words = near === undefined ? [word ?? ''] : near.split(/" "|"/).filter((text) => text !== '');
    alternatives.push({ words, between: Number(between ?? 0) });
  }
  return { columns: columnsOf(columns), alternatives };
}

/** Whether a text has all words, with at most so many others between the first and the last of them. */
function isNear(text: string, { words, between }: NearWords): boolean {
  if (!words.every((word) => text.includes(` ${word} `))) return false;
  if (words.length === 1) return true;
  const wanted = new Set(words);
  const last = new Map<string, number>();
  for (const [position, word] of text.split(' ').entries()) {
    if (!wanted.has(word)) continue;
    last.set(word, position);
    if (last.size < wanted.size) continue;
    const first = Math.min(...last.values());
    if (position - first - 1 <= between) return true;
  }
  return false;
}
