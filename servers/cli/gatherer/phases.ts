import { createInterface, type Interface } from 'node:readline';

/** Stops a run after each of its phases, until the user presses Enter (G-12, `-manual`). */
export class Phases implements Disposable {
  readonly #input: Interface;
  readonly #lines: AsyncIterator<string>;
  readonly #close = (): void => this.#input.close();

  constructor(readonly signal: AbortSignal) {
    this.#input = createInterface({ input: process.stdin, terminal: false });
    this.#lines = this.#input[Symbol.asyncIterator]();
    signal.addEventListener('abort', this.#close, { once: true });
  }

  /**
   * Prints the finished phase and asks whether to continue: Enter does, `q` or the end of the input does not.
   *
   * @param done a report of the phase
   * @param next what follows, e.g. `publish`
   * @returns false if the user ends the run
   * @throws the signal's reason when aborted
   */
  async confirm(done: string, next: string): Promise<boolean> {
    process.stderr.write(`${done}\nNext: ${next}. Press Enter to go on, q to end here: `);
    const answer = await this.#lines.next();
    this.signal.throwIfAborted();
    process.stderr.write('\n');
    return answer.done !== true && !/^\s*q/i.test(answer.value);
  }

  [Symbol.dispose](): void {
    this.signal.removeEventListener('abort', this.#close);
    this.#input.close();
  }
}
