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

const CACHE_BYTES = 1 << 20;

/** A word in the languages of the indexed objects. */
export interface WordReading {
  /** Other words of the index that are forms of it, the shortest first. */
  readonly forms: readonly string[];
  /** It says nothing about the subject of a text, as `the` in English. */
  readonly isStopWord: boolean;
}

/** What a {@link FormFinder} asks the index. */
export interface FormSources {
  /** The terms that begin with a text; none if there are more than `limit`. */
  startingWith(text: string, limit: number, slice: TimeSlice): Promise<Iterable<string>>;
  /** Words of the index with these letters, whatever their accents; at most `limit`. */
  withLetters(letters: string, limit: number, slice: TimeSlice): Promise<readonly string[]>;
  /** The number of objects with all of some words in their text or description, up to `limit`. */
  countWithAll(words: readonly string[], limit: number, slice: TimeSlice): Promise<number>;
  /** The number of objects in the index. */
  objects(): number;
}

/** Finds the forms of words that the index has. */
export class FormFinder {
  readonly #sources: FormSources;
  readonly #version: Pick<IndexVersion, 'epoch'>;
  readonly #readings: IndexCache<WordReading>;
  #languages: { readonly names: readonly string[]; readonly objects: number } | undefined;

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
    const languages = await this.#languagesOf(slice);
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
    return {
      forms: [...found].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_FORMS),
      isStopWord: isStopWord(word, languages),
    };
  }

  /**
   * The languages of the objects. They are looked up again when the number of objects has doubled or halved.
   */
  async #languagesOf(slice: TimeSlice): Promise<readonly string[]> {
    const known = this.#languages;
    const objects = this.#sources.objects();
    if (known !== undefined && objects <= 2 * known.objects && 2 * objects >= known.objects)
      return known.names;
    const names: string[] = [];
    const least = Math.max(1, Math.ceil(objects / LANGUAGE_SHARE));
    for (const [name, words] of LANGUAGE_MARKS)
      if ((await this.#sources.countWithAll(words, least, slice)) >= least) names.push(name);
    this.#languages = { names, objects };
    return names;
  }
}
