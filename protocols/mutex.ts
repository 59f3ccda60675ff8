/** Runs one piece of asynchronous work at a time, in the order of the calls. A failure does not stop the next one. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as `work` does, which starts when all earlier work has ended. */
  runExclusive<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
