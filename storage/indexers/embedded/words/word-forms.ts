// Other forms of a word, for ranking: words with the same stem by the Snowball algorithms, or without their
// accents the same letters.
import { createRequire } from 'node:module';
import { lettersOf } from '../../../../protocols/broker/index.js';

/**
 * A language whose words are stemmed, and three words by which its documents are recognized: nearly all of them
 * contain these.
 */
interface Language {
  /** The name of its stemmer and of its list of stop words in the packages. */
  readonly name: string;
  readonly letters: RegExp;
  readonly commonWords: readonly [string, string, string];
}

const LATIN = /^\p{Script=Latin}+$/u;

/**
 * The languages by their names in ISO 639. The common words occur in no other of these languages, at least not
 * all three.
 */
const LANGUAGES: Readonly<Record<string, Language>> = {
  da: { name: 'danish', letters: LATIN, commonWords: ['og', 'ikke', 'af'] },
  de: { name: 'german', letters: LATIN, commonWords: ['und', 'der', 'nicht'] },
  el: {
    name: 'greek',
    letters: /^\p{Script=Greek}+$/u,
    commonWords: ['και', 'το', 'να'],
  },
  en: { name: 'english', letters: LATIN, commonWords: ['the', 'and', 'of'] },
  es: { name: 'spanish', letters: LATIN, commonWords: ['los', 'para', 'una'] },
  fi: { name: 'finnish', letters: LATIN, commonWords: ['ja', 'ei', 'että'] },
  fr: { name: 'french', letters: LATIN, commonWords: ['les', 'une', 'dans'] },
  hu: { name: 'hungarian', letters: LATIN, commonWords: ['az', 'és', 'egy'] },
  it: { name: 'italian', letters: LATIN, commonWords: ['che', 'della', 'per'] },
  nl: { name: 'dutch', letters: LATIN, commonWords: ['het', 'een', 'van'] },
  no: { name: 'norwegian', letters: LATIN, commonWords: ['og', 'ikke', 'av'] },
  pt: { name: 'portuguese', letters: LATIN, commonWords: ['uma', 'não', 'para'] },
  ro: { name: 'romanian', letters: LATIN, commonWords: ['și', 'este', 'pentru'] },
  ru: {
    name: 'russian',
    letters: /^\p{Script=Cyrillic}+$/u,
    commonWords: ['и', 'не', 'на'],
  },
  sv: { name: 'swedish', letters: LATIN, commonWords: ['och', 'att', 'inte'] },
  tr: { name: 'turkish', letters: LATIN, commonWords: ['bir', 've', 'için'] },
};

/** Shortest word of which other forms are looked for, in characters, and shortest beginning that they share. */
const MIN_WORD = 3;
const MIN_BEGINNING = 3;
/**
 * Most letters at the end of a stem that other forms of the word may lack: `library` has the stem `librari`.
 */
const CHANGING_LETTERS = 1;

/** The words by which the documents of each language are recognized: nearly all of them contain these. */
export const LANGUAGE_MARKS: readonly (readonly [language: string, words: readonly string[]])[] =
  Object.entries(LANGUAGES).map(([name, { commonWords }]) => [name, commonWords]);

/** Words that the lists lack. */
const MORE_STOP_WORDS: Readonly<Record<string, readonly string[]>> = { en: ['a'] };

const STOP_WORDS = new Map<string, ReadonlySet<string>>();

/**
 * The packages are loaded for the languages that the documents have, which are mostly one or two of sixteen.
 */
const require = createRequire(import.meta.url);

function stemmerOf({ name }: Language): (word: string) => string {
  return (require(`@orama/stemmers/${name}`) as { stemmer: (word: string) => string }).stemmer;
}

/** Words of English that may be singular although they end in `s`, which its stemmer takes for a plural: `status`. */
const ENDS_IN_S = /[^s]s$/;
/** Plurals of which the stemmer leaves the `e`: `buses`. */
const PLURAL_OF_US = /uses$/;

/** Returns a function that gives the stems of a word: of `status`, `statu` and `status`. Forms share one of them. */
function stemsIn(language: Language): (word: string) => readonly string[] {
  const stem = stemmerOf(language);
  const isEnglish = language.name === 'english';
  return (word) => {
    const stems = [stem(word)];
    if (isEnglish && ENDS_IN_S.test(word)) stems.push(word);
    if (isEnglish && PLURAL_OF_US.test(word)) stems.push(word.slice(0, -2));
    return stems.filter(({ length }) => length >= MIN_BEGINNING);
  };
}

function stopWordsOf(code: string): ReadonlySet<string> {
  const language = LANGUAGES[code];
  let words = STOP_WORDS.get(code);
  if (words !== undefined || language === undefined) return words ?? new Set();
  const { stopwords } = require(`@orama/stopwords/${language.name}`) as { stopwords: readonly string[] };
  words = new Set([...stopwords, ...(MORE_STOP_WORDS[code] ?? [])]);
  STOP_WORDS.set(code, words);
  return words;
}

/**
 * Whether a folded word says nothing about the subject of a text in one of the languages, as `the` and `of` in
 * English.
 */
export function isStopWord(word: string, languages: readonly string[]): boolean {
  return languages.some((code) => stopWordsOf(code).has(word));
}

/** Finds the other forms of one word. */
export class WordForms {
  readonly #word: string;
  readonly #languages: readonly {
    readonly stems: readonly string[];
    readonly of: (word: string) => readonly string[];
  }[];
  readonly #letters: string;

  /**
   * @param word folded
   * @param languages names of ISO 639 of the languages that the documents have; others are ignored
   */
  constructor(word: string, languages: readonly string[]) {
    this.#word = word;
    this.#letters = lettersOf(word);
    const known = languages.flatMap((code) => LANGUAGES[code] ?? []);
    const isLong = Array.from(word).length >= MIN_WORD;
    this.#languages = known
      .filter(({ letters }) => isLong && letters.test(word))
      .map(stemsIn)
      .map((of) => ({ stems: of(word), of }));
  }

  /** Beginnings of words; each form with the same stem has one of them. */
  get beginnings(): readonly string[] {
    const beginnings = new Set<string>();
    for (const stem of this.#languages.flatMap(({ stems }) => stems)) {
      const shared = commonBeginning(stem, this.#word);
      const length = Math.max(MIN_BEGINNING, Math.min(shared.length, stem.length - CHANGING_LETTERS));
      if (shared.length >= MIN_BEGINNING) beginnings.add(shared.slice(0, length));
    }
    const all = [...beginnings];
    return all.filter((one) => !all.some((other) => other !== one && one.startsWith(other)));
  }

  /** Whether another word is a form of this word. */
  includes(other: string): boolean {
    if (other === this.#word) return false;
    return (
      this.#languages.some(({ stems, of }) => of(other).some((stem) => stems.includes(stem))) ||
      (other.length >= MIN_WORD && lettersOf(other) === this.#letters)
    );
  }
}

function commonBeginning(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}
