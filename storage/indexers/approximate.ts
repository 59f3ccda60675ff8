import { isWordAt, isWordBefore } from './words.js';

/**
 * Finds a pattern in a line with up to `errors` insertions, deletions and substitutions of characters (BRK-2.20,
 * 2.23).
 *
 * Sellers' dynamic programming with Ukkonen's cut-off: row `i` of a column says how many errors the first `i`
 * characters of the pattern cost in a match that ends at this place of the line. Rows below `active` cost too much
 * already and are not looked at, so a column costs about as many steps as errors are allowed, not as the pattern
 * has characters; patterns may be of any length, where bit-parallel machines stop at the word size.
 */
export class ApproximateMatcher {
  readonly #pattern: Uint32Array;
  readonly #errors: number;
  readonly #cost: Uint16Array;

  constructor(
    pattern: string,
    errors: number,
    /** The match must be bounded by characters that belong to no word. */
    readonly matchWord: boolean,
  ) {
    this.#pattern = Uint32Array.from(Array.from(pattern, (c) => c.codePointAt(0)!));
    // As many errors as characters would match everything.
    this.#errors = Math.max(0, Math.min(errors, this.#pattern.length - 1));
    this.#cost = new Uint16Array(this.#pattern.length + 1);
  }

  /** Errors allowed after the cap by the pattern's length. */
  get errors(): number {
    return this.#errors;
  }

  test(line: string): boolean {
    const pattern = this.#pattern;
    const length = pattern.length;
    const limit = this.#errors;
    const tooMany = limit + 1;
    const cost = this.#cost;
    const canStart = !this.matchWord || !isWordBefore(line, 0);
    for (let i = 0; i <= length; i++) cost[i] = canStart ? Math.min(i, tooMany) : tooMany;
    let active = canStart ? Math.min(limit, length) : 0;
    for (let at = 0; at < line.length; ) {
      const code = line.codePointAt(at)!;
      const next = at + (code > 0xffff ? 2 : 1);
      const startHere = !this.matchWord || !isWordBefore(line, next);
      let diagonal = cost[0]!;
      cost[0] = startHere ? 0 : Math.min(diagonal + 1, tooMany);
      const rows = Math.min(active + 1, length);
      for (let i = 1; i <= rows; i++) {
        const left = cost[i]!;
        // Not simply the diagonal for equal characters: where a match may begin, row 0 falls by more than one.
        const step = pattern[i - 1] === code ? 0 : 1;
        cost[i] = Math.min(diagonal + step, left + 1, cost[i - 1]! + 1, tooMany);
        diagonal = left;
      }
      active = rows;
      // Rows below may be reached by leaving out characters of the pattern.
      while (active < length && cost[active]! < limit) {
        active++;
        cost[active] = cost[active - 1]! + 1;
      }
      while (active > 0 && cost[active]! > limit) active--;
      if (active === length && cost[length]! <= limit && (!this.matchWord || !isWordAt(line, next)))
        return true;
      at = next;
    }
    return false;
  }
}
