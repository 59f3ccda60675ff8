// The words of the index that readers take for others: `café` for `cafe` (`normalize.ts`).
import { lettersOf } from '../../../../protocols/broker/index.js';
import { fold, PART } from '../../query/words.js';
import type { IndexDatabase } from './index-file.js';

const NOT_ASCII = /[^\0-\x7f]/g;
/** Longer words are their only spelling, in characters. */
const MAX_WORD = 64;
/** Words that are remembered as written, or as no others than their letters. */
const KNOWN_WORDS = 100_000;

/** Writes the spellings of the objects that a transaction changes. */
export class SpellingWriter {
  readonly #insert;
  readonly #known = new Set<string>();
  /** The words of the open transaction, with their letters. */
  readonly #words = new Map<string, string>();

  constructor(db: IndexDatabase) {
    this.#insert = db.prepare(
      `INSERT OR IGNORE INTO spelling(letters, word)
      SELECT json_extract(value, '$[1]'), json_extract(value, '$[0]') FROM json_each(?)`,
    );
  }

  /** Takes the words of a column. */
  add(text: string): void {
    for (const term of foreignWords(text)) {
      const word = term.startsWith(PART) ? term.slice(1) : term;
      if (word.length > MAX_WORD || this.#known.has(word)) continue;
      if (this.#known.size >= KNOWN_WORDS) this.#known.clear();
      // A part of a text keeps all of it in memory.
      const copy = Buffer.from(word, 'utf8').toString('utf8');
      this.#known.add(copy);
      // The tokenizer folds the letters of ASCII.
      const folded = fold(copy);
      const letters = lettersOf(folded);
      if (letters !== folded) this.#words.set(folded, letters);
    }
  }

  /** Writes them, at the end of the transaction. */
  write(): void {
    if (this.#words.size === 0) return;
    this.#insert.run(JSON.stringify([...this.#words]));
    this.#words.clear();
  }

  /** Forgets the words of a transaction that is not written. */
  clear(): void {
    this.#words.clear();
    this.#known.clear();
  }
}

/** The words of a column that are not ASCII, in time in proportion to its length, however long a word is. */
function* foreignWords(text: string): Generator<string> {
  NOT_ASCII.lastIndex = 0;
  for (let found = NOT_ASCII.exec(text); found !== null; found = NOT_ASCII.exec(text)) {
    const start = text.lastIndexOf(' ', found.index) + 1;
    const end = text.indexOf(' ', found.index);
    const next = end < 0 ? text.length : end;
    yield text.slice(start, next);
    NOT_ASCII.lastIndex = next;
  }
}

/** Finds the spellings of a word. */
export class Spellings {
  readonly #of;
  readonly #containing;
  readonly #from;

  constructor(db: IndexDatabase) {
    this.#of = db.prepare('SELECT word FROM spelling WHERE letters = ? LIMIT ?').pluck();
    this.#from = db.prepare('SELECT word FROM spelling WHERE letters >= ? AND letters < ? LIMIT ?').pluck();
    this.#containing = db.prepare('SELECT word FROM spelling WHERE instr(letters, ?) > 0 LIMIT ?').pluck();
  }

  /** The letters themselves, then the other words that have them, at most `limit` in all. */
  of(letters: string, limit: number): string[] {
    return [letters, ...(this.#of.all(letters, limit - 1) as string[])];
  }

  /** The words whose letters begin with these, and that are more than their letters; at most `limit`. */
  startingWith(letters: string, limit: number): string[] {
    return this.#from.all(letters, `${letters}\u{10ffff}`, limit) as string[];
  }

  /** The words that have a part with these letters, and are more than their letters; at most `limit`. */
  containing(letters: string, limit: number): string[] {
    return this.#containing.all(letters, limit) as string[];
  }
}
