// How well objects answer the words of a query: BM25 over the parts of an object (BM25F), with other forms of
// the words, phrases, titles.

import { PART } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { LinkTextReader } from '../index/link-texts.js';
import type { FormFinder } from '../words/form-finder.js';
import { LAST_COLUMNS, RANKED_COLUMNS } from './relevance-statements.js';
import { eachEntry, type PartWeights, type WantedOids, type WordList, type WordLists } from './word-lists.js';

/** A word of a query. */
export interface QueryWord {
  /** Folded. */
  readonly text: string;
  /** Name of the column to which the query restricts it. */
  readonly column: string | undefined;
}

/** The constants of the formula; the benchmark `relevance` compares them. */
export interface RelevanceModel {
  /** Frequency at which a word has half of its weight. */
  readonly k1: number;
  readonly parts: PartWeights;
  /** Weight of a form of a word. */
  readonly form: number;
  /** Weight of two words of the query next to each other, and the frequency at which they have half of it. */
  readonly pair: number;
  readonly pairK: number;
  /**
   * Weight of a title that consists of the words of the query, and the share of it for a title with many other
   * words.
   */
  readonly titlePhrase: number;
  readonly partialTitle: number;
  /** Weight of two words of the query with at most `nearWords` others between them, in any order. */
  readonly near: number;
  readonly nearWords: number;
  /** Weight of the logarithm of the number of pages that link to an object with the words of the query. */
  readonly linkText: number;
}

export const RELEVANCE_MODEL: RelevanceModel = {
  k1: 10,
  parts: {
    title: { weight: 20, length: 0.6 },
    url: { weight: 8, length: 0.3 },
    description: { weight: 4, length: 0.3 },
    headings: { weight: 5, length: 0.3 },
    other: { weight: 2, length: 0 },
    body: { weight: 1, length: 0.4 },
  },
  form: 0.4,
  pair: 0.6,
  pairK: 5,
  titlePhrase: 0.75,
  partialTitle: 0.6,
  near: 0.3,
  nearWords: 4,
  linkText: 0.4,
};

/** Words of a query that count at most, each with its forms. */
const MAX_WORDS = 16;
/**
 * Objects of a word, above which it does not count: its occurrences would take longer to read than they are
 * worth.
 */
const MAX_OBJECTS = 20_000;
/** Occurrences that are read for one query. */
const MAX_OCCURRENCES = 40_000;
/** Objects of two words, above which their distance is not looked at, and forms of each that are tried. */
const MAX_NEAR = 10_000;
const MAX_NEAR_FORMS = 1;
/** Where words may be close together; each counts. */
const NEAR_COLUMNS = ['{title description headings url}', 'body'];
/** Forms of a word, and the word as a part of an identifier, that are tried in titles and links, and their combinations. */
const MAX_PHRASE_FORMS = 3;
const MAX_PHRASES = 16;
/** The best objects so far whose links are counted. */
const MAX_LINKED = 100;

/** Objects to score, up to which the others that have a word are passed over. */
const MAX_WANTED = 2_000;

/** A word of the query with its forms. */
interface WordGroup {
  readonly word: QueryWord;
  readonly forms: readonly string[];
  readonly isStopWord: boolean;
  /** Where it counts, as a filter of FTS5. */
  readonly columns: string;
  /** Number of objects with the word or one of its forms. */
  readonly objects: number;
  /**
   * Those of them that are scored, and the weight of all occurrences, with the lengths already taken into
   * account.
   */
  readonly frequencies: ReadonlyMap<number, number>;
  /** The words of the title of those that have it there; undefined if not all of them are known. */
  readonly titles: ReadonlyMap<number, number> | undefined;
  readonly idf: number;
}

/** What the lists of a word and its forms say. */
type Found = Pick<WordGroup, 'objects' | 'frequencies' | 'titles'>;

const NOTHING: Found = { objects: 0, frequencies: new Map(), titles: new Map() };

/** Scores objects. */
export class Relevance {
  readonly #model: RelevanceModel;
  readonly #finder: FormFinder;
  readonly #lists: WordLists;
  readonly #links: LinkTextReader;

  constructor(
    finder: FormFinder,
    lists: WordLists,
    links: LinkTextReader,
    model: RelevanceModel = RELEVANCE_MODEL,
  ) {
    this.#model = model;
    this.#finder = finder;
    this.#lists = lists;
    this.#links = links;
  }

  /**
   * Returns the scores of objects that have the words, higher is better. Undefined if all words are too
   * frequent to be worth it.
   *
   * @param words in the order of the query
   * @param oids the objects that are to be scored; others may be, too
   */
  async scores(
    words: readonly QueryWord[],
    oids: Uint32Array,
    slice: TimeSlice,
  ): Promise<Map<number, number> | undefined> {
    const wanted = oids.length <= MAX_WANTED ? { oids, json: `[${oids.join()}]` } : undefined;
    const groups = await this.#groups(words, wanted, slice);
    const counted = worthCounting(groups);
    if (counted.length === 0) return undefined;
    const { k1 } = this.#model;
    const scores = new Map<number, number>();
    const isWanted = wanted && new Set(oids);
    const add = (oid: number, score: number) => {
      if (isWanted?.has(oid) !== false) scores.set(oid, (scores.get(oid) ?? 0) + score);
    };
    for (const { frequencies, idf } of counted)
      for (const [oid, frequency] of frequencies) add(oid, (idf * frequency * (k1 + 1)) / (frequency + k1));
    await slice.yield();
    for (const [left, right] of neighbors(groups)) await this.#addPair(left, right, wanted, add, slice);
    for (const [left, right] of neighbors(counted)) await this.#addNear(left, right, add, slice);
    // The words that do not count stand between those that do.
    const between = groups.length - counted.length + Math.ceil(groups.length / 3);
    await this.#addTitles(counted, between, add, slice);
    await this.#addLinks(groups, counted, scores, slice);
    return scores;
  }

  /** The best objects with a single word, if that is known without reading the index. */
  bestOf(word: string, most: number): Uint32Array | undefined {
    return this.#lists.best(word, RANKED_COLUMNS, most);
  }

  async #groups(
    words: readonly QueryWord[],
    wanted: WantedOids | undefined,
    slice: TimeSlice,
  ): Promise<WordGroup[]> {
    const { objects } = this.#lists.totals;
    const groups: WordGroup[] = [];
    const budget = { occurrences: MAX_OCCURRENCES };
    for (const word of words) {
      if (groups.length >= MAX_WORDS) break;
      const known = groups.at(-1);
      // The query names several forms of one word.
      if (known?.word.column === word.column && known?.forms.includes(word.text)) continue;
      if (groups.some(({ word: { text, column } }) => text === word.text && column === word.column)) continue;
      const { forms, isStopWord } = await this.#finder.read(word.text, slice);
      const filters = word.column === undefined ? [RANKED_COLUMNS, LAST_COLUMNS] : [word.column];
      let columns = filters[0]!;
      let found = NOTHING;
      for (columns of filters) {
        const readings = [word.text, `${PART}${word.text}`, ...forms];
        found = await this.#frequencies(readings, columns, budget, wanted, slice);
        if (found.objects > 0) break;
      }
      groups.push({ word, forms, isStopWord, columns, ...found, idf: idfOf(found.objects, objects) });
    }
    return groups;
  }

  /** How often the objects have one of the forms of a word, the first of which is the word itself. */
  async #frequencies(
    forms: readonly string[],
    columns: string,
    budget: { occurrences: number },
    wanted: WantedOids | undefined,
    slice: TimeSlice,
  ): Promise<Found> {
    const frequencies = new Map<number, number>();
    const titles = new Map<number, number>();
    let hasTitles = true;
    const lists: WordList[] = [];
    for (const [i, form] of forms.entries()) {
      const most = Math.min(MAX_OBJECTS, budget.occurrences);
      const list = await this.#lists.read(form, columns, most, wanted, slice);
      if (list === undefined) hasTitles &&= i > MAX_PHRASE_FORMS;
      if (list === undefined || list.objects === 0) continue;
      budget.occurrences -= list.objects;
      lists.push(list);
      const weight = i === 0 ? 1 : this.#model.form;
      eachEntry(list, wanted, (index, oid) => {
        const frequency = weight * list.frequencies[index]!;
        if (frequency > 0) frequencies.set(oid, (frequencies.get(oid) ?? 0) + frequency);
        const titleWords = list.titleWords[index]!;
        if (titleWords > 0 && i <= MAX_PHRASE_FORMS) titles.set(oid, titleWords);
      });
    }
    const objects = await this.#lists.countAny(lists, columns, MAX_OCCURRENCES, slice);
    return { objects, frequencies, titles: hasTitles ? titles : undefined };
  }

  /** Two words next to each other in an object, as in the query. */
  async #addPair(
    left: WordGroup,
    right: WordGroup,
    wanted: WantedOids | undefined,
    add: (oid: number, score: number) => void,
    slice: TimeSlice,
  ): Promise<void> {
    const { columns } = left;
    if (left.objects === 0 || right.objects === 0 || columns !== right.columns) return;
    const { pair, pairK } = this.#model;
    const phrase = `${left.word.text} ${right.word.text}`;
    const list = await this.#lists.read(phrase, columns, Number.POSITIVE_INFINITY, undefined, slice);
    if (list === undefined) return;
    eachEntry(list, wanted, (index, oid) => {
      const frequency = list.frequencies[index]!;
      if (frequency > 0) add(oid, (pair * (left.idf + right.idf) * frequency) / (frequency + pairK));
    });
    await slice.yield();
  }

  /** Two words of the query, or forms of them, close together: in what describes an object, and in its text. */
  async #addNear(
    left: WordGroup,
    right: WordGroup,
    add: (oid: number, score: number) => void,
    slice: TimeSlice,
  ): Promise<void> {
    const { near, nearWords } = this.#model;
    const { column } = left.word;
    if (left.objects + right.objects > MAX_NEAR || column !== right.word.column) return;
    const either = ({ word, forms }: WordGroup) => [word.text, ...forms.slice(0, MAX_NEAR_FORMS)];
    const pairs = either(left).flatMap((a) => either(right).map((b) => `NEAR("${a}" "${b}", ${nearWords})`));
    for (const columns of column === undefined ? NEAR_COLUMNS : [column]) {
      const match = `${columns} : (${pairs.join(' OR ')})`;
      const { oids } = this.#lists.matching(match, -1);
      for (const oid of oids) add(oid, near * (left.idf + right.idf));
      await slice.yield();
    }
  }

  /**
   * Titles with all words of the query, or forms of them, close together. The more of the title they are, the
   * better.
   */
  async #addTitles(
    groups: readonly WordGroup[],
    between: number,
    add: (oid: number, score: number) => void,
    slice: TimeSlice,
  ): Promise<void> {
    const { titlePhrase, partialTitle } = this.#model;
    if (groups.some(({ word: { column } }) => column !== undefined && column !== 'title')) return;
    const idf = sumOfIdf(groups);
    const addTitle = (oid: number, titleWords: number): void => {
      const share = Math.min(1, groups.length / Math.max(1, titleWords));
      add(oid, titlePhrase * idf * (partialTitle + (1 - partialTitle) * share));
    };
    const [only] = groups;
    if (groups.length === 1 && only?.titles !== undefined) {
      for (const [oid, titleWords] of only.titles) addTitle(oid, titleWords);
      return;
    }
    const parts = groups.map(({ word: { text } }) => `${PART}${text}`);
    const near = [...combinations(groups), parts].map((forms) => {
      const phrase = forms.map((form) => `"${form}"`).join(' ');
      return groups.length < 2 ? phrase : `NEAR(${phrase}, ${between})`;
    });
    const match = `title : (${near.join(' OR ')})`;
    const { oids, titleWords } = this.#lists.matching(match, MAX_OBJECTS + 1);
    if (oids.length > MAX_OBJECTS) return;
    oids.forEach((oid, i) => {
      addTitle(oid, titleWords[i]!);
    });
    await slice.yield();
  }

  /** Objects to which others link with the words of the query, with or without those that say nothing. */
  async #addLinks(
    groups: readonly WordGroup[],
    counted: readonly WordGroup[],
    scores: Map<number, number>,
    slice: TimeSlice,
  ): Promise<void> {
    if (groups.some(({ word: { column } }) => column !== undefined)) return;
    const texts = new Set(
      [...combinations(groups), ...combinations(counted)].map((words) => words.join(' ')),
    );
    const known = [...texts].filter((text) => this.#links.isKnown(text));
    if (known.length === 0) return;
    const best = bestOf(scores, MAX_LINKED);
    await slice.yield();
    const weight = this.#model.linkText * sumOfIdf(counted);
    for (const [oid, score] of best) {
      const count = known.reduce((sum, text) => sum + this.#links.count(text, oid), 0);
      if (count > 0) scores.set(oid, score + weight * Math.log1p(count));
    }
    await slice.yield();
  }
}

/** The words, each in one of its forms; the words themselves first. */
function combinations(groups: readonly WordGroup[]): string[][] {
  let combined: string[][] = [[]];
  for (const { word, forms } of groups) {
    const all = [word.text, ...forms.slice(0, MAX_PHRASE_FORMS)];
    combined = combined.flatMap((words) => all.map((form) => [...words, form])).slice(0, MAX_PHRASES);
  }
  return combined;
}

function sumOfIdf(groups: readonly WordGroup[]): number {
  return groups.reduce((sum, { idf }) => sum + idf, 0);
}

/**
 * The entries with the highest scores, in any order. A sorted list of all entries would take many times longer.
 */
function bestOf(
  scores: ReadonlyMap<number, number>,
  most: number,
): (readonly [oid: number, score: number])[] {
  const ascending = Float64Array.from(scores.values()).sort();
  const least = ascending[Math.max(0, ascending.length - most)] ?? 0;
  const entries = [...scores];
  const better = entries.filter(([, score]) => score > least);
  const equal = entries.filter(([, score]) => score === least);
  return [...better, ...equal.slice(0, most - better.length)];
}

/** The words that some object has; those that say nothing count only if there are no others. */
function worthCounting(groups: readonly WordGroup[]): readonly WordGroup[] {
  const found = groups.filter(({ objects }) => objects > 0);
  const telling = found.filter(({ isStopWord }) => !isStopWord);
  return telling.length > 0 ? telling : found;
}

function neighbors(groups: readonly WordGroup[]): (readonly [WordGroup, WordGroup])[] {
  return groups.slice(1).map((right, i) => [groups[i]!, right] as const);
}

/**
 * The inverse document frequency, as if there were as many objects again without the word: one that all objects
 * have counts a little, too.
 */
function idfOf(objects: number, all: number): number {
  return Math.log(1 + (2 * all - objects + 0.5) / (objects + 0.5));
}
