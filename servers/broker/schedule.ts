import type { UnixSeconds } from '../../protocols/time.js';

/** Longest sleep of one timer, milliseconds: longer waits are taken in steps. */
const LONGEST_TIMER = 24 * 3600 * 1000;

/**
 * BRK-7.10, 7.11: when the next collection is due: at `timeOfDay` (local, seconds since midnight) and every
 * `interval` seconds from there on. Always after `now`.
 */
export function nextRun(now: UnixSeconds, timeOfDay: number, interval: number): UnixSeconds {
  const day = new Date(now * 1000);
  day.setHours(Math.floor(timeOfDay / 3600), Math.floor(timeOfDay / 60) % 60, timeOfDay % 60, 0);
  const anchor = Math.floor(day.getTime() / 1000);
  return anchor + (Math.floor((now - anchor) / interval) + 1) * interval;
}

/** A task that runs again and again; it never keeps the process alive. */
export class RepeatingTask implements Disposable {
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /**
   * @param next when it is due next, given the present time.
   * @param run must not reject.
   */
  constructor(
    readonly next: (now: UnixSeconds) => UnixSeconds,
    readonly run: () => Promise<void>,
  ) {
    this.#arm(this.#due());
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #due(): number {
    return this.next(Math.floor(Date.now() / 1000)) * 1000;
  }

  #arm(due: number): void {
    const wait = Math.min(LONGEST_TIMER, Math.max(0, due - Date.now()));
    this.#timer = setTimeout(() => void this.#fire(due), wait).unref();
  }

  async #fire(due: number): Promise<void> {
    if (Date.now() >= due) await this.run();
    if (!this.#stopped) this.#arm(Date.now() >= due ? this.#due() : due);
  }
}
