// How well objects answer the words of a query: BM25 over the parts of an object (BM25F), with other forms of
// the words, phrases, titles.

import { PART } from '../../query/words.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { FormFinder } from '../words/form-finder.js';
import { type OutlineModel, type OutlineSource, outlineScores } from './outline-scores.js';
import { LAST_COLUMNS, RANKED_COLUMNS } from './relevance-statements.js';
import {
  eachCommon,
  type PartWeights,
  type WantedOids,
  type WordList,
  type WordLists,
} from './word-lists.js';

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
  /** The share of its score that an object loses for lacking words that say as much as all of them. */
  readonly missing: number;
  /** Weight of the logarithm of the number of pages that link to an object with the words of the query. */
  readonly linkText: number;
  readonly outline: OutlineModel;
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
  near: 0.9,
  nearWords: 4,
  missing: 0.5,
  linkText: 0.4,
  outline: { beginning: 1.2, linkName: 2, linked: 0.4 },
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
/** Words of one statement that looks for them in titles. */
const MAX_TITLE_WORDS = 24;
/** The best objects so far whose links and outlines are looked at. */
const MAX_BEST = 100;

/** A word of the query with its forms. */
interface WordGroup {
  readonly word: QueryWord;
  readonly forms: readonly string[];
  readonly isStopWord: boolean;
  /** Where it counts, as a filter of FTS5. */
  readonly columns: string;
  /** Number of objects with the word or one of its forms. */
  readonly objects: number;
  /** Of each object that is scored: the weight of all occurrences, with the lengths already taken into account. */
  readonly frequencies: Float64Array;
  /** The words of its title if it has one of them there, else 0; undefined if not all of these objects are known. */
  readonly titles: Uint16Array | undefined;
  readonly idf: number;
}

/** What the lists of a word and its forms say. */
type Found = Pick<WordGroup, 'objects' | 'frequencies' | 'titles'>;

/** The objects to score, and their scores so far. */
interface Scored {
  readonly wanted: WantedOids;
  readonly scores: Float64Array;
}

/** What the formula asks about words: see {@link WordLists}. */
export type WordSource = Pick<WordLists, 'totals' | 'read' | 'countAny' | 'matching'>;

/** What the formula asks about links between objects. */
export interface LinkCounts {
  /** Those of some texts, of folded words, that some link has. */
  known(texts: readonly string[], slice: TimeSlice): Promise<readonly string[]>;
  /** The number of pages that link to each object with one of the texts, 100 at most for each text. */
  counts(texts: readonly string[], oids: readonly number[], slice: TimeSlice): Promise<readonly number[]>;
}

/** Scores objects. */
export class Relevance {
  readonly #model: RelevanceModel;
  readonly #finder: Pick<FormFinder, 'read'>;
  readonly #lists: WordSource;
  readonly #links: LinkCounts;
  readonly #outlines: OutlineSource;

  constructor(
    finder: Pick<FormFinder, 'read'>,
    lists: WordSource,
    links: LinkCounts,
    outlines: OutlineSource,
    model: RelevanceModel = RELEVANCE_MODEL,
  ) {
    this.#model = model;
    this.#finder = finder;
    this.#lists = lists;
    this.#links = links;
    this.#outlines = outlines;
  }

  /**
   * Returns the scores of objects, in their order; higher is better, 0 if an object has none of the words.
   * Undefined if all words are too frequent to be worth it.
   *
   * @param words in the order of the query
   * @param oids ascending
   */
  async scores(
    words: readonly QueryWord[],
    oids: Uint32Array,
    slice: TimeSlice,
  ): Promise<Float64Array | undefined> {
    const wanted = wantedOids(oids);
    const groups = await this.#groups(words, wanted, slice);
    for (const [left, right] of neighbors(groups)) await this.#addJoined(left, right, wanted, slice);
    const counted = worthCounting(groups);
    if (counted.length === 0) return undefined;
    const { k1 } = this.#model;
    const scores = new Float64Array(oids.length);
    for (const { frequencies, idf } of counted) {
      for (let i = 0; i < frequencies.length; i++) {
        const frequency = frequencies[i]!;
        if (frequency > 0) scores[i]! += (idf * frequency * (k1 + 1)) / (frequency + k1);
      }
      await slice.yield();
    }
    const scored = { wanted, scores };
    for (const [left, right] of neighbors(groups)) await this.#addPair(left, right, scored, slice);
    for (const [left, right] of neighbors(counted)) await this.#addNear(left, right, scored, slice);
    // The words that do not count stand between those that do.
    const between = groups.length - counted.length + Math.ceil(groups.length / 3);
    await this.#addTitles(counted, between, scored, slice);
    this.#subtractMissing(counted, scores);
    if (groups.some(({ word: { column } }) => column !== undefined)) return scores;
    const best = bestIndices(scores, MAX_BEST);
    await slice.yield();
    await this.#addLinks(groups, counted, best, scored, slice);
    await this.#addOutlines(counted, best, scored, slice);
    return scores;
  }

  async #groups(words: readonly QueryWord[], wanted: WantedOids, slice: TimeSlice): Promise<WordGroup[]> {
    const { objects } = this.#lists.totals;
    const groups: WordGroup[] = [];
    const budget = { occurrences: MAX_OCCURRENCES };
    for (const word of words) {
      if (groups.length >= MAX_WORDS) break;
      const known = groups.at(-1);
      // The query names several forms of one word.
      if (known?.word.column === word.column && known?.forms.includes(word.text)) continue;
      if (groups.some(({ word: { text, column } }) => text === word.text && column === word.column)) continue;
      const { forms, named, isStopWord } = await this.#finder.read(word.text, slice);
      const whole = [word.text, ...forms.slice(0, named)];
      const others = [`${PART}${word.text}`, ...forms.slice(named)];
      let columns = word.column ?? RANKED_COLUMNS;
      let found = await this.#frequencies(whole, others, columns, budget, wanted, slice);
      if (found.objects === 0 && word.column === undefined) {
        columns = LAST_COLUMNS;
        found = await this.#frequencies(whole, others, columns, budget, wanted, slice);
      }
      groups.push({ word, forms, isStopWord, columns, ...found, idf: idfOf(found.objects, objects) });
    }
    return groups;
  }

  /** How often the objects have a word, or the word after a name, or one of its other forms. */
  async #frequencies(
    whole: readonly string[],
    others: readonly string[],
    columns: string,
    budget: { occurrences: number },
    wanted: WantedOids,
    slice: TimeSlice,
  ): Promise<Found> {
    const frequencies = new Float64Array(wanted.oids.length);
    const titles = new Uint16Array(wanted.oids.length);
    let hasTitles = true;
    const lists: WordList[] = [];
    for (const [i, form] of [...whole, ...others].entries()) {
      const most = Math.min(MAX_OBJECTS, budget.occurrences);
      const list = await this.#lists.read(form, columns, most, wanted, slice);
      await slice.yield();
      if (list === undefined) hasTitles &&= i > MAX_PHRASE_FORMS;
      if (list === undefined || list.objects === 0) continue;
      budget.occurrences -= list.objects;
      lists.push(list);
      const weight = i < whole.length ? 1 : this.#model.form;
      eachCommon(list.oids, wanted.oids, (index, object) => {
        frequencies[object]! += weight * list.frequencies[index]!;
        const titleWords = list.titleWords[index]!;
        if (titleWords > 0 && i <= MAX_PHRASE_FORMS) titles[object] = titleWords;
      });
    }
    const objects = await this.#lists.countAny(lists, columns, MAX_OCCURRENCES, slice);
    return { objects, frequencies, titles: hasTitles ? titles : undefined };
  }

  /** Two words of the query that an object spells as one count as both: `data types`, `datatype`. */
  async #addJoined(left: WordGroup, right: WordGroup, wanted: WantedOids, slice: TimeSlice): Promise<void> {
    const { columns } = left;
    if (left.isStopWord || right.isStopWord || columns !== right.columns) return;
    for (const form of [right.word.text, ...right.forms.slice(0, MAX_PHRASE_FORMS)]) {
      const list = await this.#lists.read(left.word.text + form, columns, MAX_OBJECTS, wanted, slice);
      await slice.yield();
      if (list === undefined) continue;
      eachCommon(list.oids, wanted.oids, (index, object) => {
        const frequency = list.frequencies[index]!;
        left.frequencies[object]! += frequency;
        right.frequencies[object]! += frequency;
      });
    }
  }

  /** Two words next to each other in an object, as in the query. */
  async #addPair(
    left: WordGroup,
    right: WordGroup,
    { wanted, scores }: Scored,
    slice: TimeSlice,
  ): Promise<void> {
    const { columns } = left;
    if (left.objects === 0 || right.objects === 0 || columns !== right.columns) return;
    const { pair, pairK } = this.#model;
    const phrase = `${left.word.text} ${right.word.text}`;
    const list = await this.#lists.read(phrase, columns, Number.POSITIVE_INFINITY, undefined, slice);
    if (list === undefined) return;
    eachCommon(list.oids, wanted.oids, (index, object) => {
      const frequency = list.frequencies[index]!;
      if (frequency > 0) scores[object]! += (pair * (left.idf + right.idf) * frequency) / (frequency + pairK);
    });
    await slice.yield();
  }

  /** Two words of the query, or forms of them, close together: in what describes an object, and in its text. */
  async #addNear(
    left: WordGroup,
    right: WordGroup,
    { wanted, scores }: Scored,
    slice: TimeSlice,
  ): Promise<void> {
    const { near, nearWords } = this.#model;
    const { column } = left.word;
    if (left.objects + right.objects > MAX_NEAR || column !== right.word.column) return;
    const either = ({ word, forms }: WordGroup) => [word.text, ...forms.slice(0, MAX_NEAR_FORMS)];
    const pairs = either(left).flatMap((a) => either(right).map((b) => `NEAR("${a}" "${b}", ${nearWords})`));
    for (const columns of column === undefined ? NEAR_COLUMNS : [column]) {
      const match = `${columns} : (${pairs.join(' OR ')})`;
      const list = await this.#lists.matching([match], Number.MAX_SAFE_INTEGER, slice);
      if (list === undefined) continue;
      eachCommon(list.oids, wanted.oids, (_, object) => {
        scores[object]! += near * (left.idf + right.idf);
      });
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
    { wanted, scores }: Scored,
    slice: TimeSlice,
  ): Promise<void> {
    const { titlePhrase, partialTitle } = this.#model;
    if (groups.some(({ word: { column } }) => column !== undefined && column !== 'title')) return;
    const idf = sumOfIdf(groups);
    const addTitle = (object: number, titleWords: number): void => {
      const share = Math.min(1, groups.length / Math.max(1, titleWords));
      scores[object]! += titlePhrase * idf * (partialTitle + (1 - partialTitle) * share);
    };
    const [only] = groups;
    if (groups.length === 1 && only?.titles !== undefined) {
      for (const [object, titleWords] of only.titles.entries())
        if (titleWords > 0) addTitle(object, titleWords);
      return;
    }
    const parts = groups.map(({ word: { text } }) => `${PART}${text}`);
    const near = [...combinations(groups), parts].map((forms) => {
      const phrase = forms.map((form) => `"${form}"`).join(' ');
      return groups.length < 2 ? phrase : `NEAR(${phrase}, ${between})`;
    });
    // The words of a statement are looked for in every object, whatever their order.
    const some = Math.max(1, Math.floor(MAX_TITLE_WORDS / Math.max(1, groups.length)));
    const matches: string[] = [];
    for (let i = 0; i < near.length; i += some)
      matches.push(`title : (${near.slice(i, i + some).join(' OR ')})`);
    const list = await this.#lists.matching(matches, MAX_OBJECTS, slice);
    if (list === undefined) return;
    eachCommon(list.oids, wanted.oids, (index, object) => {
      addTitle(object, list.titleWords[index]!);
    });
    await slice.yield();
  }

  /** An object that lacks words of the query loses more than their scores. */
  #subtractMissing(groups: readonly WordGroup[], scores: Float64Array): void {
    const { missing } = this.#model;
    const all = sumOfIdf(groups);
    for (let i = 0; i < scores.length; i++) {
      let lost = 0;
      for (const { frequencies, idf } of groups) if (frequencies[i] === 0) lost += idf;
      scores[i]! *= 1 - (missing * lost) / all;
    }
  }

  /** Objects to which others link with the words of the query, with or without those that say nothing. */
  async #addLinks(
    groups: readonly WordGroup[],
    counted: readonly WordGroup[],
    best: Uint32Array,
    { wanted, scores }: Scored,
    slice: TimeSlice,
  ): Promise<void> {
    const texts = new Set(
      [...combinations(groups), ...combinations(counted)].map((words) => words.join(' ')),
    );
    const known = await this.#links.known([...texts], slice);
    if (known.length === 0) return;
    const weight = this.#model.linkText * sumOfIdf(counted);
    const counts = await this.#links.counts(
      known,
      Array.from(best, (object) => wanted.oids[object]!),
      slice,
    );
    for (const [i, object] of best.entries())
      if (counts[i]! > 0) scores[object]! += weight * Math.log1p(counts[i]!);
  }

  /** How the best objects begin, and how they link to each other. */
  async #addOutlines(
    counted: readonly WordGroup[],
    best: Uint32Array,
    { wanted, scores }: Scored,
    slice: TimeSlice,
  ): Promise<void> {
    const order = [...best].sort((a, b) => scores[b]! - scores[a]! || a - b);
    const words = counted.map(({ word, forms, idf }) => ({ forms: [word.text, ...forms], idf }));
    const oids = order.map((object) => wanted.oids[object]!);
    const added = await outlineScores(words, oids, this.#outlines, this.#model.outline, slice);
    for (const [i, object] of order.entries()) scores[object]! += added[i]!;
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
 * The indices of the highest scores, in any order, of equal ones the first. To sort all of them would take many
 * times longer.
 */
export function bestIndices(scores: Float64Array, most: number): Uint32Array {
  if (scores.length <= most) return Uint32Array.from(scores.keys());
  const least = scores.slice().sort()[scores.length - most]!;
  const best = new Uint32Array(most);
  let count = 0;
  for (let i = 0; i < scores.length; i++) if (scores[i]! > least) best[count++] = i;
  for (let i = 0; count < most; i++) if (scores[i] === least) best[count++] = i;
  return best;
}

function wantedOids(oids: Uint32Array): WantedOids {
  let json: string | undefined;
  return {
    oids,
    get json() {
      json ??= `[${oids.join()}]`;
      return json;
    },
  };
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
export function idfOf(objects: number, all: number): number {
  return Math.log(1 + (2 * all - objects + 0.5) / (objects + 0.5));
}
