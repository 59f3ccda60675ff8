import { StateError } from '../../protocols/errors.js';

/**
 * A lock with shared and exclusive holders. Reads and batches are shared; publishing and closing, which close
 * the database, are exclusive: they wait for the current holders, and later calls wait for them.
 */
export class ReadWriteLock {
  readonly #what: string;
  #holders = 0;
  #barrier: Promise<void> | undefined;
  #onReleased: (() => void) | undefined;
  #closed = false;

  constructor(what: string) {
    this.#what = what;
  }

  get closed(): boolean {
    return this.#closed;
  }

  async shared<T>(work: () => Promise<T>): Promise<T> {
    while (this.#barrier !== undefined) await this.#barrier;
    this.#assertOpen();
    // In the same step as the last look at the barrier: another caller that waited for it may set a new one
    // before the next step.
    this.#holders++;
    try {
      return await work();
    } finally {
      if (--this.#holders === 0) this.#onReleased?.();
    }
  }

  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    while (this.#barrier !== undefined) await this.#barrier;
    this.#assertOpen();
    return this.#runAlone(work);
  }

  /** Waits while there is an exclusive holder. */
  async released(): Promise<void> {
    while (this.#barrier !== undefined) await this.#barrier;
  }

  /** Runs `work` exclusively, after which other calls are refused. Later calls of `close` do nothing. */
  async close(work: () => Promise<void>): Promise<void> {
    while (this.#barrier !== undefined) await this.#barrier;
    if (this.#closed) return;
    await this.#runAlone(async () => {
      this.#closed = true;
      await work();
    });
  }

  #assertOpen(): void {
    if (this.#closed) throw new StateError(`${this.#what} is closed`);
  }

  /** Sets the barrier before its first wait. */
  async #runAlone<T>(work: () => Promise<T>): Promise<T> {
    let release = () => {};
    this.#barrier = new Promise((resolve) => {
      release = resolve;
    });
    try {
      if (this.#holders > 0) {
        await new Promise<void>((resolve) => {
          this.#onReleased = resolve;
        });
        this.#onReleased = undefined;
      }
      return await work();
    } finally {
      this.#barrier = undefined;
      release();
    }
  }
}
