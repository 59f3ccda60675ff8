// Calls that wait until something happens.

/**
 * Calls that wait for a wake-up, the longest waiting first. What it means is for the caller to see: it may be
 * woken for nothing.
 */
export class Waiters {
  readonly #wakes = new Set<() => void>();

  /** Calls that wait. */
  get size(): number {
    return this.#wakes.size;
  }

  /** Waits for the next wake-up. Rejects with the reason of the signal when that is aborted. */
  wait(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const leave = (): void => {
        this.#wakes.delete(wake);
        signal?.removeEventListener('abort', onAbort);
      };
      const wake = (): void => {
        leave();
        resolve();
      };
      const onAbort = (): void => {
        leave();
        reject(signal?.reason);
      };
      this.#wakes.add(wake);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Wakes the call that has waited longest. */
  wakeOne(): void {
    const [wake] = this.#wakes;
    wake?.();
  }

  wakeAll(): void {
    for (const wake of [...this.#wakes]) wake();
  }
}
