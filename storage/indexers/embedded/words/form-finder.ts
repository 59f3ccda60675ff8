import { lettersOf } from '../../../../protocols/broker/index.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { IndexCache, type IndexVersion } from '../index/index-cache.js';
import type { Postings } from '../index/postings.js';
import type { Spellings } from '../index/spellings.js';
import type { Vocabulary } from './vocabulary.js';
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

/** Finds the forms of words that the index has. */
export class FormFinder {
  readonly #postings: Postings;
  readonly #vocabulary: Vocabulary;
  readonly #spellings: Spellings;
  readonly #objects: () => number;
  readonly #version: IndexVersion;
  readonly #readings: IndexCache<WordReading>;
  #languages: { readonly names: readonly string[]; readonly objects: number } | undefined;

  /** @param objects the number of objects in the index */
  constructor(
    postings: Postings,
    vocabulary: Vocabulary,
    spellings: Spellings,
    version: IndexVersion,
    objects: () => number,
  ) {
    this.#postings = postings;
    this.#vocabulary = vocabulary;
    this.#spellings = spellings;
    this.#version = version;
    this.#readings = new IndexCache(version, CACHE_BYTES, ({ forms }) => 40 * forms.length);
    this.#objects = objects;
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
      const terms = await this.#vocabulary.find(beginning, 'start', MAX_BEGINNING, slice);
      for (const term of terms?.terms ?? []) {
        if (forms.includes(term)) found.add(term);
        const pause = slice.yield();
        if (pause !== undefined) await pause;
      }
    }
    // A single letter with an accent is another word.
    const isLetter = Array.from(word).length < 2;
    const spelled = isLetter ? [] : this.#spellings.of(lettersOf(word), MAX_SPELLINGS);
    for (const term of spelled)
      if (term !== word && (await this.#postings.countOf(`"${term}"`, 1, slice)) > 0) found.add(term);
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
    const objects = this.#objects();
    if (known !== undefined && objects <= 2 * known.objects && 2 * objects >= known.objects)
      return known.names;
    const names: string[] = [];
    const least = Math.max(1, Math.ceil(objects / LANGUAGE_SHARE));
    for (const [name, match] of LANGUAGE_MARKS)
      if ((await this.#postings.countOf(match, least, slice)) >= least) names.push(name);
    this.#languages = { names, objects };
    return names;
  }
}
