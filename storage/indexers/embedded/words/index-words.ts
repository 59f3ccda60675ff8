// What lists of words and forms of words need of the embedded index.
import { lettersOf } from '../../../../protocols/broker/index.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { Postings } from '../index/postings.js';
import type { Spellings } from '../index/spellings.js';
import type { FormFinder, FormSources } from './form-finder.js';
import type { Vocabulary } from './vocabulary.js';
import type { NeighborSearch, WordSources } from './word-list.js';

/** The words of the index. */
export class IndexWords implements FormSources {
  readonly #vocabulary: Vocabulary;
  readonly #postings: Postings;
  readonly #spellings: Spellings;
  readonly objects: () => number;

  constructor(vocabulary: Vocabulary, postings: Postings, spellings: Spellings, objects: () => number) {
    this.#vocabulary = vocabulary;
    this.#postings = postings;
    this.#spellings = spellings;
    this.objects = objects;
  }

  /** The words for `listWords`. */
  sources(forms: Pick<FormFinder, 'read'>): WordSources {
    return {
      forms,
      completions: (beginning, limit, slice) => this.#completions(beginning, limit, slice),
      withPart: (search, limit, slice) => this.#withPart(search, limit, slice),
      counts: (words, limit, slice) => this.#counts(words, limit, slice),
    };
  }

  async startingWith(text: string, limit: number, slice: TimeSlice): Promise<Iterable<string>> {
    return (await this.#vocabulary.find(text, 'start', limit, slice))?.terms ?? [];
  }

  async endingTitleWords(text: string, limit: number, slice: TimeSlice): Promise<readonly string[]> {
    const words: string[] = [];
    for (const term of await this.#vocabulary.endingWith(text, limit, slice)) {
      if (term !== text && (await this.#postings.countOf(`{title} : "${term}"`, 1, slice)) > 0)
        words.push(term);
      const pause = slice.yield();
      if (pause !== undefined) await pause;
    }
    return words;
  }

  async withLetters(letters: string, limit: number, slice: TimeSlice): Promise<readonly string[]> {
    const found: string[] = [];
    for (const term of this.#spellings.of(letters, limit))
      if ((await this.#count(term, 1, slice)) > 0) found.push(term);
    return found;
  }

  countWithAll(words: readonly string[], limit: number, slice: TimeSlice): Promise<number> {
    const match = words.map((word) => `{description body} : "${word}"`).join(' AND ');
    return this.#postings.countOf(match, limit, slice);
  }

  async #completions(beginning: string, limit: number, slice: TimeSlice): Promise<Iterable<string>> {
    const found = await this.startingWith(beginning, limit, slice);
    return [...found, ...this.#spellings.startingWith(lettersOf(beginning), limit)];
  }

  async *#withPart({ parts }: NeighborSearch, limit: number, slice: TimeSlice): AsyncGenerator<string> {
    for (const [part, position] of parts)
      yield* (await this.#vocabulary.find(part, position, limit, slice))?.terms ?? [];
  }

  async *#counts(words: readonly string[], limit: number, slice: TimeSlice): AsyncGenerator<number> {
    for (const word of words) yield await this.#count(word, limit, slice);
  }

  #count(word: string, limit: number, slice: TimeSlice): Promise<number> {
    return this.#postings.countOf(`"${word}"`, limit, slice);
  }
}
