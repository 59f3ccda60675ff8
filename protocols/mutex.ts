/**
 * Runs one piece of asynchronous work at a time, in the order of the calls. A failure does not stop later work.
 */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  /** Calls `work` when all earlier work has ended. Resolves or rejects as `work` does. */
  runExclusive<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
