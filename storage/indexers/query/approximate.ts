// Finds words with spelling errors in lines.
import { isWordAt, isWordBefore } from './words.js';

/** Characters of a line between two pauses. */
const PIECE = 4_096;

/**
 * Finds a pattern in a line with up to `errors` insertions, deletions and substitutions of characters
 * (BRK-2.20, 2.23).
 *
 * Sellers' dynamic programming with Ukkonen's cut-off: row `i` of a column is the number of errors of the first
 * `i` characters of the pattern in a match that ends at this position of the line. Rows below `active` exceed
 * the limit and are skipped, so the cost of a column grows with the number of errors, not with the length of
 * the pattern. Patterns may have any length, while bit-parallel algorithms are limited to the word size.
 */
export class ApproximateMatcher {
  /** The match must not be adjacent to word characters. */
  readonly #matchWord: boolean;
  readonly #pattern: Uint32Array;
  readonly #errors: number;
  readonly #cost: Uint16Array;
  /** Rows of the current column within the limit, and its position in the line. */
  #active = 0;
  #position = 0;

  constructor(pattern: string, errors: number, matchWord: boolean) {
    this.#matchWord = matchWord;
    this.#pattern = Uint32Array.from(Array.from(pattern, (c) => c.codePointAt(0)!));
    // With as many errors as characters the pattern would match everything.
    this.#errors = Math.max(0, Math.min(errors, this.#pattern.length - 1));
    this.#cost = new Uint16Array(this.#pattern.length + 1);
  }

  /** Maximum number of errors of a match; less than the length of the pattern. */
  get errors(): number {
    return this.#errors;
  }

  test(line: string): boolean {
    this.#begin(line);
    return this.#scan(line, line.length);
  }

  /** Like {@link test}, and pauses every few thousand characters. The matcher tests one line at a time. */
  *steps(line: string): Generator<void, boolean> {
    this.#begin(line);
    while (!this.#scan(line, Math.min(this.#position + PIECE, line.length))) {
      if (this.#position >= line.length) return false;
      yield;
    }
    return true;
  }

  #begin(line: string): void {
    const { length } = this.#pattern;
    const limit = this.#errors;
    const canStart = !this.#matchWord || !isWordBefore(line, 0);
    for (let i = 0; i <= length; i++) this.#cost[i] = canStart ? Math.min(i, limit + 1) : limit + 1;
    this.#active = canStart ? Math.min(limit, length) : 0;
    this.#position = 0;
  }

  /** Goes on to this position; returns true at the end of a match. */
  #scan(line: string, end: number): boolean {
    const pattern = this.#pattern;
    const length = pattern.length;
    const limit = this.#errors;
    const tooMany = limit + 1;
    const cost = this.#cost;
    let active = this.#active;
    let position = this.#position;
    while (position < end) {
      const code = line.codePointAt(position)!;
      const next = position + (code > 0xffff ? 2 : 1);
      const startHere = !this.#matchWord || !isWordBefore(line, next);
      let diagonal = cost[0]!;
      cost[0] = startHere ? 0 : Math.min(diagonal + 1, tooMany);
      const rows = Math.min(active + 1, length);
      for (let i = 1; i <= rows; i++) {
        const left = cost[i]!;
        // Equal characters do not always take the diagonal: where a match may begin, row 0 drops by more than
        // one.
        const step = pattern[i - 1] === code ? 0 : 1;
        cost[i] = Math.min(diagonal + step, left + 1, cost[i - 1]! + 1, tooMany);
        diagonal = left;
      }
      active = rows;
      // Deletions of pattern characters may reach the rows below.
      while (active < length && cost[active]! < limit) {
        active++;
        cost[active] = cost[active - 1]! + 1;
      }
      while (active > 0 && cost[active]! > limit) active--;
      if (active === length && cost[length]! <= limit && (!this.#matchWord || !isWordAt(line, next)))
        return true;
      position = next;
    }
    this.#active = active;
    this.#position = position;
    return false;
  }
}
