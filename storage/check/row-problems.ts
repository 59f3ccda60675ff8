// Collects what a comparison of a store's tables found.

import type { Level } from '../level/level.js';
import type { KeyRange } from '../rows/keys.js';

/** The result of a comparison of tables. */
export interface CheckedRows {
  readonly objects: number;
  readonly problems: string[];
}

/** Collects the problems of a store's tables. */
export class RowProblems {
  readonly #level: Level;
  readonly #limit: number;
  readonly #sentences: string[] = [];

  /** @param limit sentences that are kept; the others are dropped */
  constructor(level: Level, limit: number) {
    this.#level = level;
    this.#limit = limit;
  }

  add(sentence: string): void {
    if (this.#sentences.length < this.#limit) this.#sentences.push(sentence);
  }

  /** Compares the rows of a table with their number by other rows. */
  async compareCount(range: KeyRange, expected: number, sentence: (rows: number) => string): Promise<void> {
    const rows = await this.#level.count(range);
    if (rows !== expected) this.add(sentence(rows));
  }

  /** Returns the result for a store of this many objects. */
  result(objects: number): CheckedRows {
    return { objects, problems: this.#sentences };
  }
}
