import type { StopReason } from './contract.js';

/** Thrown inside a query to unwind it after its deadline or a cancellation. Internal to this folder. */
export class QueryStopped extends Error {
  readonly code = 'ERR_QUERY_STOPPED';

  constructor(readonly reason: StopReason) {
    super(reason);
  }
}

/**
 * Lets several queries share one thread. Long work calls {@link TimeSlice.yield} often and awaits its result, which
 * yields to other queries and to messages of the owner every `sliceMs`.
 */
export class TimeSlice {
  #sliceEnd: number;
  readonly #deadline: number;
  #canceled = false;

  constructor(
    /** Milliseconds of work without a pause. */
    readonly sliceMs: number,
    /** Milliseconds from now after which the work stops with reason `lifetime` (BRK-8.16). */
    lifetimeMs: number,
  ) {
    const now = performance.now();
    this.#sliceEnd = now + sliceMs;
    this.#deadline = now + lifetimeMs;
  }

  /** Makes the work stop at its next {@link yield}. */
  cancel(): void {
    this.#canceled = true;
  }

  /**
   * Returns undefined within the slice, else a promise that the caller awaits. The promise rejects with
   * {@link QueryStopped} after the deadline or {@link cancel}.
   */
  yield(): Promise<void> | undefined {
    const now = performance.now();
    if (now < this.#sliceEnd && now < this.#deadline && !this.#canceled) return undefined;
    return this.#pause();
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    if (this.#canceled) throw new QueryStopped('aborted');
    const now = performance.now();
    if (now >= this.#deadline) throw new QueryStopped('lifetime');
    this.#sliceEnd = now + this.sliceMs;
  }
}
