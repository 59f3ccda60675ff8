// Work over many files beside the clients of a server: other work has its turn every few milliseconds.

const TURN_MS = 5;
/** Steps between two looks at the clock. */
const STEPS = 64;

/** A long walk asks {@link isOver} at each step. */
export class Pace {
  #begin = performance.now();
  #steps = 0;

  /** Whether other work is due. */
  get isOver(): boolean {
    return ++this.#steps % STEPS === 0 && performance.now() - this.#begin > TURN_MS;
  }

  async yield(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#begin = performance.now();
  }
}
