import { join } from 'node:path';
import { StorageError } from '../../protocols/errors.js';
import { readWords } from './files.js';
import { FILE } from './format.js';
import { KeyIndex } from './key-index.js';

/** The PageRank of every known ID, in memory: 12 to 16 bytes each. */
export class RankTable {
  readonly #index: KeyIndex;
  readonly #values: Float32Array;

  private constructor(ids: Uint32Array, values: Float32Array) {
    this.#index = new KeyIndex(ids);
    this.#values = values;
  }

  /** Returns undefined if the generation has no ranks. @throws StorageError if its files are inconsistent */
  static async open(
    directory: string,
    files: Readonly<Record<string, number>>,
  ): Promise<RankTable | undefined> {
    const size = files[FILE.rankIds];
    if (size === undefined) return undefined;
    if (files[FILE.rankValues] !== size) throw new StorageError(`the ranks in ${directory} are damaged`);
    const ids = await readWords(join(directory, FILE.rankIds), size);
    const values = await readWords(join(directory, FILE.rankValues), size);
    return new RankTable(ids, new Float32Array(values.buffer));
  }

  rank(id: number): number | undefined {
    const index = this.#index.find(id);
    return index < 0 ? undefined : this.#values[index];
  }

  /** Returns the `count` highest ranks in descending order; equal ranks are ordered by ID. */
  highest(count: number): { readonly id: number; readonly rank: number }[] {
    const values = this.#values;
    const order = (a: number, b: number): number => (values[b] ?? 0) - (values[a] ?? 0) || a - b;
    let candidates: number[] = [];
    let threshold = -1;
    // Collects twice the requested number, then keeps the better half. This needs no heap and few sorts.
    for (let index = 0; index < values.length; index++) {
      if ((values[index] ?? 0) <= threshold) continue;
      candidates.push(index);
      if (candidates.length < 2 * count) continue;
      candidates = candidates.sort(order).slice(0, count);
      threshold = values[candidates.at(-1) ?? 0] ?? -1;
    }
    return candidates
      .sort(order)
      .slice(0, count)
      .map((index) => ({ id: this.#index.keys[index] ?? 0, rank: values[index] ?? 0 }));
  }
}
