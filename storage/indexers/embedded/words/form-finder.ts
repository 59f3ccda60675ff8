import { lettersOf } from '../../../../protocols/broker/index.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { IndexCache, type IndexVersion } from '../index/index-cache.js';
import { isStopWord, LANGUAGE_MARKS, WordForms } from './word-forms.js';

/** Forms of a word that are listed. */
const MAX_FORMS = 8;
/** Terms that begin like a word; with more, its forms are not looked for. */
const MAX_BEGINNING = 2_000;
/** Terms that are the same letters as a word with other accents. */
const MAX_SPELLINGS = 20;
/** A language counts if at least one of so many objects has its common words. */
const LANGUAGE_SHARE = 20;
/** The words that {@link FormFinder} looks for after a name, and the names: letters of them at least. */
const MIN_NAMED = 4;
const MIN_NAME = 2;
/** A word is the name of what the objects are about if at least this share of them has it, of so many objects or more. */
const NAME_SHARE = 0.9;
const MIN_OBJECTS = 20;
/** Words of titles that end like a word; with more, it is looked for after no name. */
const MAX_ENDING = 200;
/** Words with a name that are forms, and texts that are known as names or as none. */
const MAX_NAMED = 2;
const MAX_NAMES = 1_000;

const CACHE_BYTES = 1 << 20;

/** A word in the languages of the indexed objects. */
export interface WordReading {
  /**
   * Other words of the index that are forms of it, the shortest first; before them, words of titles that are it
   * after the name of what the objects are about: `gitglossary` where nearly all objects have `git`.
   */
  readonly forms: readonly string[];
  /** How many of them are the word after a name. */
  readonly named: number;
  /** It says nothing about the subject of a text, as `the` in English. */
  readonly isStopWord: boolean;
}

/** What a {@link FormFinder} asks the index. */
export interface FormSources {
  /** The terms that begin with a text; none if there are more than `limit`. */
  startingWith(text: string, limit: number, slice: TimeSlice): Promise<Iterable<string>>;
  /** The words of titles that end with a text, and are longer; none if there are more than `limit`. */
  endingTitleWords(text: string, limit: number, slice: TimeSlice): Promise<readonly string[]>;
  /** Words of the index with these letters, whatever their accents; at most `limit`. */
  withLetters(letters: string, limit: number, slice: TimeSlice): Promise<readonly string[]>;
  /** The number of objects with all of some words in their text or description, up to `limit`. */
  countWithAll(words: readonly string[], limit: number, slice: TimeSlice): Promise<number>;
  /** The number of objects in the index. */
  objects(): number;
}

/** What is known of all objects. */
interface Collection {
  readonly objects: number;
  readonly languages: readonly string[];
  /** Beginnings of words, and whether nearly all objects have them as words. */
  readonly names: Map<string, boolean>;
}

/** Finds the forms of words that the index has. */
export class FormFinder {
  readonly #sources: FormSources;
  readonly #version: Pick<IndexVersion, 'epoch'>;
  readonly #readings: IndexCache<WordReading>;
  #collection: Collection | undefined;

  constructor(sources: FormSources, version: Pick<IndexVersion, 'epoch'>) {
    this.#sources = sources;
    this.#version = version;
    this.#readings = new IndexCache(version, CACHE_BYTES, ({ forms }) => 40 * forms.length);
  }

  /** @param word folded */
  async read(word: string, slice: TimeSlice): Promise<WordReading> {
    const known = this.#readings.get(word);
    if (known !== undefined) return known;
    const { epoch } = this.#version;
    const reading = await this.#read(word, slice);
    this.#readings.set(word, reading, epoch);
    return reading;
  }

  async #read(word: string, slice: TimeSlice): Promise<WordReading> {
    const collection = await this.#collectionOf(slice);
    const { languages } = collection;
    const forms = new WordForms(word, languages);
    const found = new Set<string>();
    for (const beginning of forms.beginnings) {
      for (const term of await this.#sources.startingWith(beginning, MAX_BEGINNING, slice)) {
        if (forms.includes(term)) found.add(term);
        const pause = slice.yield();
        if (pause !== undefined) await pause;
      }
    }
    // A single letter with an accent is another word.
    const isLetter = Array.from(word).length < 2;
    if (!isLetter)
      for (const term of await this.#sources.withLetters(lettersOf(word), MAX_SPELLINGS, slice))
        if (term !== word) found.add(term);
    const isStop = isStopWord(word, languages);
    const named = isStop ? [] : await this.#withName(word, collection, slice);
    const others = [...found].filter((term) => !named.includes(term)).sort(shorter);
    const all = [...named, ...others].slice(0, MAX_FORMS);
    return { forms: all, named: named.length, isStopWord: isStop };
  }

  /** Words of titles that are a word after a name. */
  async #withName(word: string, collection: Collection, slice: TimeSlice): Promise<string[]> {
    if (word.length < MIN_NAMED || collection.objects < MIN_OBJECTS) return [];
    const named: string[] = [];
    for (const term of await this.#sources.endingTitleWords(word, MAX_ENDING, slice))
      if (await this.#isName(term.slice(0, -word.length), collection, slice)) named.push(term);
    return named.sort(shorter).slice(0, MAX_NAMED);
  }

  async #isName(text: string, { names, languages, objects }: Collection, slice: TimeSlice): Promise<boolean> {
    if (text.length < MIN_NAME || !/^\p{L}+$/u.test(text) || isStopWord(text, languages)) return false;
    const known = names.get(text);
    if (known !== undefined) return known;
    const least = Math.ceil(objects * NAME_SHARE);
    const isName = (await this.#sources.countWithAll([text], least, slice)) >= least;
    if (names.size >= MAX_NAMES) names.clear();
    names.set(text, isName);
    return isName;
  }

  /** The languages of the objects, and names. They are looked up again when the number of objects has doubled or halved. */
  async #collectionOf(slice: TimeSlice): Promise<Collection> {
    const known = this.#collection;
    const objects = this.#sources.objects();
    if (known !== undefined && objects <= 2 * known.objects && 2 * objects >= known.objects) return known;
    const languages: string[] = [];
    const least = Math.max(1, Math.ceil(objects / LANGUAGE_SHARE));
    for (const [name, words] of LANGUAGE_MARKS)
      if ((await this.#sources.countWithAll(words, least, slice)) >= least) languages.push(name);
    const collection = { objects, languages, names: new Map<string, boolean>() };
    this.#collection = collection;
    return collection;
  }
}

function shorter(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}
