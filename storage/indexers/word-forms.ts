// Other forms of a word, for ranking: words with the same stem by the Snowball algorithms, or without their accents the same letters.
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stopwords as danishWords } from '@orama/stopwords/danish';
import { stopwords as dutchWords } from '@orama/stopwords/dutch';
import { stopwords as englishWords } from '@orama/stopwords/english';
import { stopwords as finnishWords } from '@orama/stopwords/finnish';
import { stopwords as frenchWords } from '@orama/stopwords/french';
import { stopwords as germanWords } from '@orama/stopwords/german';
import { stopwords as greekWords } from '@orama/stopwords/greek';
import { stopwords as hungarianWords } from '@orama/stopwords/hungarian';
import { stopwords as italianWords } from '@orama/stopwords/italian';
import { stopwords as norwegianWords } from '@orama/stopwords/norwegian';
import { stopwords as portugueseWords } from '@orama/stopwords/portuguese';
import { stopwords as romanianWords } from '@orama/stopwords/romanian';
import { stopwords as russianWords } from '@orama/stopwords/russian';
import { stopwords as spanishWords } from '@orama/stopwords/spanish';
import { stopwords as swedishWords } from '@orama/stopwords/swedish';
import { stopwords as turkishWords } from '@orama/stopwords/turkish';

import { withoutMarks } from './marks.js';

/** A language whose words are stemmed, and three words by which its documents are recognized: nearly all of them contain these. */
interface Language {
  readonly stem: (word: string) => string;
  readonly stopWords: readonly string[];
  readonly letters: RegExp;
  readonly commonWords: readonly [string, string, string];
}

const LATIN = /^\p{Script=Latin}+$/u;

/** The languages by their names in ISO 639. The common words occur in no other of these languages, at least not all three. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  da: { stem: danish, stopWords: danishWords, letters: LATIN, commonWords: ['og', 'ikke', 'af'] },
  de: { stem: german, stopWords: germanWords, letters: LATIN, commonWords: ['und', 'der', 'nicht'] },
  el: {
    stem: greek,
    stopWords: greekWords,
    letters: /^\p{Script=Greek}+$/u,
    commonWords: ['και', 'το', 'να'],
  },
  en: { stem: english, stopWords: englishWords, letters: LATIN, commonWords: ['the', 'and', 'of'] },
  es: { stem: spanish, stopWords: spanishWords, letters: LATIN, commonWords: ['los', 'para', 'una'] },
  fi: { stem: finnish, stopWords: finnishWords, letters: LATIN, commonWords: ['ja', 'ei', 'että'] },
  fr: { stem: french, stopWords: frenchWords, letters: LATIN, commonWords: ['les', 'une', 'dans'] },
  hu: { stem: hungarian, stopWords: hungarianWords, letters: LATIN, commonWords: ['az', 'és', 'egy'] },
  it: { stem: italian, stopWords: italianWords, letters: LATIN, commonWords: ['che', 'della', 'per'] },
  nl: { stem: dutch, stopWords: dutchWords, letters: LATIN, commonWords: ['het', 'een', 'van'] },
  no: { stem: norwegian, stopWords: norwegianWords, letters: LATIN, commonWords: ['og', 'ikke', 'av'] },
  pt: { stem: portuguese, stopWords: portugueseWords, letters: LATIN, commonWords: ['uma', 'não', 'para'] },
  ro: { stem: romanian, stopWords: romanianWords, letters: LATIN, commonWords: ['și', 'este', 'pentru'] },
  ru: {
    stem: russian,
    stopWords: russianWords,
    letters: /^\p{Script=Cyrillic}+$/u,
    commonWords: ['и', 'не', 'на'],
  },
  sv: { stem: swedish, stopWords: swedishWords, letters: LATIN, commonWords: ['och', 'att', 'inte'] },
  tr: { stem: turkish, stopWords: turkishWords, letters: LATIN, commonWords: ['bir', 've', 'için'] },
};

/** Shortest word of which other forms are looked for, in characters, and shortest beginning that they share. */
const MIN_WORD = 3;
const MIN_BEGINNING = 3;
/** Most letters at the end of a stem that other forms of the word may lack: `library` has the stem `librari`. */
const CHANGING_LETTERS = 1;

/** What {@link languagesOf} asks the index for: an expression that the documents of the language match. */
export const LANGUAGE_MARKS: readonly (readonly [language: string, match: string])[] = Object.entries(
  LANGUAGES,
).map(([name, { commonWords }]) => [
  name,
  commonWords.map((word) => `{description body} : "${word}"`).join(' AND '),
]);

/** Words that the lists lack. */
const MORE_STOP_WORDS: Readonly<Record<string, readonly string[]>> = { en: ['a'] };

const STOP_WORDS = new Map(
  Object.entries(LANGUAGES).map(
    ([name, { stopWords }]) => [name, new Set([...stopWords, ...(MORE_STOP_WORDS[name] ?? [])])] as const,
  ),
);

/** Whether a folded word says nothing about the subject of a text in one of the languages, as `the` and `of` in English. */
export function isStopWord(word: string, languages: readonly string[]): boolean {
  return languages.some((name) => STOP_WORDS.get(name)?.has(word) === true);
}

/** Finds the other forms of one word. */
export class WordForms {
  readonly #stems: readonly { readonly stem: string; readonly of: (word: string) => string }[];
  readonly #letters: string;

  /**
   * @param word folded
   * @param languages names of ISO 639 of the languages that the documents have; others are ignored
   */
  constructor(
    readonly word: string,
    languages: readonly string[],
  ) {
    this.#letters = withoutMarks(word);
    const known = languages.flatMap((name) => LANGUAGES[name] ?? []);
    const isLong = Array.from(word).length >= MIN_WORD;
    this.#stems = known
      .filter(({ letters }) => isLong && letters.test(word))
      .map(({ stem }) => ({ stem: stem(word), of: stem }))
      .filter(({ stem }) => stem.length >= MIN_BEGINNING);
  }

  /** Beginnings of words; each form with the same stem has one of them. */
  get beginnings(): readonly string[] {
    const beginnings = new Set<string>();
    for (const { stem } of this.#stems) {
      const shared = commonBeginning(stem, this.word);
      const length = Math.max(MIN_BEGINNING, Math.min(shared.length, stem.length - CHANGING_LETTERS));
      if (shared.length >= MIN_BEGINNING) beginnings.add(shared.slice(0, length));
    }
    return [...beginnings];
  }

  /** Whether another word is a form of this word. */
  includes(other: string): boolean {
    if (other === this.word) return false;
    return (
      this.#stems.some(({ stem, of }) => of(other) === stem) ||
      (other.length >= MIN_WORD && withoutMarks(other) === this.#letters)
    );
  }
}

function commonBeginning(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}
