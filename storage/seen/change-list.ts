import type { KeyChange, KeyLog } from './key-log.js';

const FIRST_WORDS = 1 << 12;

/** The uncommitted changes of a filter, in their order; consecutive changes of one kind share an array. */
export class ChangeList {
  readonly #parts: { readonly change: KeyChange; words: Uint32Array; used: number }[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(change: KeyChange, low: number, high: number): void {
    let part = this.#parts.at(-1);
    if (part?.change !== change) {
      part = { change, words: new Uint32Array(FIRST_WORDS), used: 0 };
      this.#parts.push(part);
    }
    if (part.used === part.words.length) {
      const words = new Uint32Array(2 * part.words.length);
      words.set(part.words);
      part.words = words;
    }
    part.words[part.used++] = low;
    part.words[part.used++] = high;
    this.#count++;
  }

  async appendTo(log: KeyLog): Promise<void> {
    for (const { change, words, used } of this.#parts) await log.append(change, words.subarray(0, used));
  }
}
