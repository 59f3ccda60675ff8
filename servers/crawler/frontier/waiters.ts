import type { Clock } from '../../../protocols/clock.js';

/** The calls of `next` that wait until a queue is ready (CRAWL-20.5), the longest waiting first. */
export class Waiters {
  readonly #wakes: (() => void)[] = [];
  /** Of the calls that wait for a time. */
  readonly #timed = new Set<() => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits for a wake-up or the signal.
   * @param milliseconds waits for this time instead of a wake-up
   */
  async wait(signal: AbortSignal, milliseconds?: number): Promise<void> {
    let cancelTimer: (() => void) | undefined;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
      if (milliseconds === undefined) this.#wakes.push(wake);
      else {
        this.#timed.add(wake);
        const cancel = this.#clock.setTimer(wake, milliseconds);
        cancelTimer = () => {
          cancel();
          this.#timed.delete(wake);
        };
      }
    });
    cancelTimer?.();
  }

  /** Wakes the call that has waited longest. */
  wakeOne(): void {
    this.#wakes.shift()?.();
  }

  wakeAll(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }

  /** Wakes every call, those that wait for a time too: no more URIs are given out. */
  close(): void {
    this.wakeAll();
    for (const wake of this.#timed) wake();
  }
}
