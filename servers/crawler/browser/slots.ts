/** Work that waits. */
interface Waiting {
  readonly count: number;
  readonly start: () => void;
}

/** A number of places for work, which gets them in the order of its calls. */
export class Slots {
  #free: number;
  readonly #waiting: Waiting[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  /** Runs work that takes `count` places, at most all of them. @throws what the work throws; the signal's reason while it waits */
  async run<T>(count: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    await this.#enter(count, signal);
    try {
      return await work();
    } finally {
      this.#free += count;
      this.#startNext();
    }
  }

  #enter(count: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        count,
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
        this.#startNext();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#startNext();
    });
  }

  #startNext(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || next.count > this.#free) return;
      this.#waiting.shift();
      this.#free -= next.count;
      next.start();
    }
  }
}
