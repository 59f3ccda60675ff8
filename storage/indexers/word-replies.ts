import type { IndexedWord } from './contract.js';

interface Expected {
  readonly resolve: (words: readonly IndexedWord[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The owner's side of requests for words: each has one reply. */
export class WordReplies {
  readonly #expected = new Map<number, Expected>();

  /**
   * Resolves with the reply. Rejects with the reason of the signal as soon as it is aborted; the reply is then
   * ignored.
   */
  expect(id: number, signal: AbortSignal | undefined): Promise<readonly IndexedWord[]> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#expected.delete(id);
        reject(signal?.reason);
      };
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener('abort', abort);
          settle(value);
        };
      signal?.addEventListener('abort', abort, { once: true });
      this.#expected.set(id, { resolve: settled(resolve), reject: settled(reject) });
    });
  }

  deliver(id: number, words: readonly IndexedWord[]): void {
    this.#take(id)?.resolve(words);
  }

  /** Ignores the numbers of other requests. */
  fail(id: number, error: Error): void {
    this.#take(id)?.reject(error);
  }

  /** The thread has ended: no more replies will arrive. */
  failAll(error: Error): void {
    for (const { reject } of this.#expected.values()) reject(error);
    this.#expected.clear();
  }

  #take(id: number): Expected | undefined {
    const expected = this.#expected.get(id);
    this.#expected.delete(id);
    return expected;
  }
}
