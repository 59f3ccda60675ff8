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

/** The clock of a process that was set back by less is that of a machine that keeps time. */
const MIN_SET_BACK = 30;

/** Notices between two collections that the clock was set back, though no stored time is in the future any more. */
export class SetBackWatch {
  readonly #monotonicMs: () => number;
  #last: { readonly time: UnixSeconds; readonly monotonicMs: number } | undefined;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Called with the time of each collection.
   *
   * @returns what the time of the last collection was by the clock of now, if the clock was set back since
   */
  lastRightTime(time: UnixSeconds): UnixSeconds | undefined {
    const monotonicMs = this.#monotonicMs();
    const last = this.#last;
    this.#last = { time, monotonicMs };
    if (last === undefined) return undefined;
    const lastTime = Math.floor(time - (monotonicMs - last.monotonicMs) / 1000);
    return last.time - lastTime >= MIN_SET_BACK ? lastTime : undefined;
  }
}
