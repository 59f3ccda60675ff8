import { StateError } from '../../protocols/errors.js';

/**
 * Many may pass at once, or one alone. Reads and batches pass as `shared`; publishing and closing, which
 * take the database away for a moment, as `exclusive`: they wait for those inside and hold back those who come.
 */
export class ReadWriteLock {
  #inside = 0;
  #barrier: Promise<void> | undefined;
  #emptied: (() => void) | undefined;
  #closed = false;

  constructor(readonly what: string) {}

  get closed(): boolean {
    return this.#closed;
  }

  async shared<T>(work: () => Promise<T>): Promise<T> {
    await this.#pass();
    this.#inside++;
    try {
      return await work();
    } finally {
      if (--this.#inside === 0) this.#emptied?.();
    }
  }

  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    await this.#pass();
    return this.#alone(work);
  }

  /** Runs `work` alone, after which nobody passes any more. The second and later calls do nothing. */
  async close(work: () => Promise<void>): Promise<void> {
    while (this.#barrier !== undefined) await this.#barrier;
    if (this.#closed) return;
    await this.#alone(async () => {
      this.#closed = true;
      await work();
    });
  }

  async #pass(): Promise<void> {
    while (this.#barrier !== undefined) await this.#barrier;
    if (this.#closed) throw new StateError(`${this.what} is closed`);
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    let open = () => {};
    this.#barrier = new Promise((resolve) => {
      open = resolve;
    });
    try {
      if (this.#inside > 0) {
        await new Promise<void>((resolve) => {
          this.#emptied = resolve;
        });
        this.#emptied = undefined;
      }
      return await work();
    } finally {
      this.#barrier = undefined;
      open();
    }
  }
}
