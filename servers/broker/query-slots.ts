/**
 * BRK-7.3 `Max-Queries`: the places for queries that run at one time. Those who wait for one get their turn in the order in
 * which they came.
 */
export class QuerySlots {
  readonly #most: () => number;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(most: () => number) {
    this.#most = most;
  }

  /** Queries that hold a place now. */
  get taken(): number {
    return this.#taken;
  }

  /** Those that wait for one. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Waits until a query may begin, for at most so many milliseconds. */
  async turn(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#taken < this.#most() || signal.aborted || timeoutMs <= 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.add(done);
    });
  }

  /** Takes a place; the function gives it back, once however often it is called. Undefined when none is free. */
  take(): (() => void) | undefined {
    if (this.#taken >= this.#most()) return undefined;
    this.#taken += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#taken -= 1;
      const [next] = this.#waiting;
      next?.();
    };
  }
}
