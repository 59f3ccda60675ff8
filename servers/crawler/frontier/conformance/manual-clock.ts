import type { Clock } from '../../../../protocols/clock.js';

/** A clock for tests, which only `advance` moves. */
export class ManualClock implements Clock {
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  #now: number;

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  /** Milliseconds until each pending timer, the earliest first. */
  get waiting(): readonly number[] {
    return Array.from(this.#timers, ({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  now(): number {
    return this.#now;
  }

  setTimer(callback: () => void, milliseconds: number): () => void {
    const timer = { at: this.#now + Math.max(0, milliseconds), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves the clock and calls the timers that are due, the earliest first. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
  }
}
