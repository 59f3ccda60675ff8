/** Lets one in at a time, in the order of their coming. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Runs `work` when all that came before are done. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let leave: () => void = () => undefined;
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
