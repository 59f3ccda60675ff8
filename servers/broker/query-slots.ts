/** BRK-7.3 `Max-Queries`: limits the number of concurrent queries. Waiting queries get a slot in the order of arrival. */
export class QuerySlots {
  readonly #max: () => number;
  readonly #waiting = new Set<() => void>();
  #inUse = 0;

  /** @param max returns the number of slots, which a command may change */
  constructor(max: () => number) {
    this.#max = max;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Queries that wait for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Waits until a slot may be free, for at most `timeoutMs` milliseconds. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#inUse < this.#max() || signal.aborted || timeoutMs <= 0) return;
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

  /** Acquires a slot and returns a function that releases it; undefined if none is free. Further releases have no effect. */
  acquire(): (() => void) | undefined {
    if (this.#inUse >= this.#max()) return undefined;
    this.#inUse += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#inUse -= 1;
      const [next] = this.#waiting;
      next?.();
    };
  }
}
