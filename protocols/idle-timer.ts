// A time limit that begins anew with every sign of life.
import type { Clock } from './clock.js';

/**
 * Calls back when nothing has happened for some time. Peers show signs of life often, so {@link touch} only
 * notes the time; one timer looks at it when it is due.
 */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #onTimeout: () => void;
  #limitMs = 0;
  #since = 0;
  #cancel: (() => void) | undefined;

  /** @param onTimeout is called at most once after each {@link start} */
  constructor(clock: Clock, onTimeout: () => void) {
    this.#clock = clock;
    this.#onTimeout = onTimeout;
  }

  /** Begins to wait, in place of an earlier wait. @param limitMs milliseconds */
  start(limitMs: number): void {
    this.stop();
    this.#limitMs = limitMs;
    this.touch();
    this.#cancel = this.#clock.setTimer(this.#onTimer, limitMs);
  }

  /** Something happened: the time begins anew. Has no effect while nothing is waited for. */
  touch(): void {
    this.#since = this.#clock.now();
  }

  /** Ends the wait. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Whether it waits. */
  get running(): boolean {
    return this.#cancel !== undefined;
  }

  readonly #onTimer = (): void => {
    const leftMs = this.#since + this.#limitMs - this.#clock.now();
    if (leftMs > 0) {
      this.#cancel = this.#clock.setTimer(this.#onTimer, leftMs);
      return;
    }
    this.#cancel = undefined;
    this.#onTimeout();
  };
}
