import { MAX_AHEAD, type UnixSeconds } from '../../../protocols/time.js';

/** Notices that the clock was set, by the monotonic clock of this process. */
export class ClockWatch {
  readonly #monotonicMs: () => number;
  /** The last time at which the clock was believed. */
  #last: { readonly time: UnixSeconds; readonly monotonicMs: number } | undefined;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Whether the time since the last call has passed, give or take a day. Until the clock is believed again the
   * answer stays false.
   *
   * @param known for the first call: a time of an earlier process
   */
  hasPassed(time: UnixSeconds, known: UnixSeconds): boolean {
    const monotonicMs = this.#monotonicMs();
    const { time: from, monotonicMs: fromMs } = this.#last ?? { time: known || time, monotonicMs };
    const passed = (monotonicMs - fromMs) / 1000;
    const isBelieved = time - from <= passed + MAX_AHEAD;
    if (isBelieved) this.#last = { time, monotonicMs };
    else this.#last ??= { time: from, monotonicMs: fromMs };
    return isBelieved;
  }
}
