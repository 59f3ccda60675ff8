// A clock that stands still until a test advances it.
import type { MonotonicClock } from '../../servers/essence/time-budget.js';

export class ManualClock implements MonotonicClock {
  #nowMs = 0;
  readonly #timers = new Map<() => void, number>();

  readonly now = (): number => this.#nowMs;

  setTimer(callback: () => void, milliseconds: number): () => void {
    // Each call has a timer of its own, also of the same function.
    const timer = (): void => callback();
    this.#timers.set(timer, this.#nowMs + milliseconds);
    return () => {
      this.#timers.delete(timer);
    };
  }

  /** Lets the time pass; timers run in their order, each at its time. */
  advance(milliseconds: number): void {
    const end = this.#nowMs + milliseconds;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      const [timer, at] = next;
      this.#timers.delete(timer);
      this.#nowMs = Math.max(this.#nowMs, at);
      timer();
    }
    this.#nowMs = end;
  }

  #next(end: number): readonly [() => void, number] | undefined {
    return [...this.#timers].filter(([, at]) => at <= end).sort(([, a], [, b]) => a - b)[0];
  }
}
