import { uptime } from 'node:os';
import { isPlausiblePresent, MAX_AHEAD, type UnixSeconds } from '../../../protocols/time.js';

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

/**
 * The times of a store, by which its Broker notices at the start that the clock was set back while it was stopped.
 *
 * @param lastChange the last time that the store knows
 */
export function storedClock(lastChange: UnixSeconds): Pick<SetBackWatch, 'lastRightTime'> {
  return {
    lastRightTime: (time) =>
      lastChange - time >= MIN_SET_BACK && isPlausiblePresent(time) ? time : undefined,
  };
}

/**
 * The clock of a Broker: that of the system, until it is set by more than a day while the program runs. Then the time
 * goes on as it has passed, until what a Gatherer sends agrees with the clock: by a wrong one all objects would have
 * expired, and everything that is sent, too.
 */
export class PassedClock {
  readonly #system: () => UnixSeconds;
  readonly #passedMs: () => number;
  readonly #report: (sentence: string) => void;
  /** Both clocks when that of the system was last believed. */
  #from: { readonly time: UnixSeconds; readonly passedMs: number };
  #isBelieved = true;

  /** @param passedMs a clock that cannot be set and goes on while the machine sleeps */
  constructor(
    report: (sentence: string) => void,
    system: () => UnixSeconds = () => Math.floor(Date.now() / 1000),
    passedMs: () => number = () => uptime() * 1000,
  ) {
    this.#report = report;
    this.#system = system;
    this.#passedMs = passedMs;
    this.#from = { time: system(), passedMs: passedMs() };
  }

  readonly read = (): UnixSeconds => {
    const system = this.#system();
    const passedMs = this.#passedMs();
    const expected = Math.floor(this.#from.time + (passedMs - this.#from.passedMs) / 1000);
    if (Math.abs(system - expected) <= MAX_AHEAD) {
      this.#from = { time: system, passedMs };
      this.#isBelieved = true;
      return system;
    }
    if (this.#isBelieved)
      this.#report(
        `the clock was set to ${dateText(system)}, but it should be ${dateText(expected)}: the Broker goes by that until a Gatherer sends objects of the other date, or the Broker is started again`,
      );
    this.#isBelieved = false;
    return expected;
  };

  /**
   * Believes the system if a Gatherer does. @param newest the latest Update-Time of a collection
   *
   * @returns whether the time is another one now
   */
  witness(newest: UnixSeconds): boolean {
    if (this.#isBelieved || Math.abs(newest - this.#system()) > MAX_AHEAD) return false;
    this.#from = { time: this.#system(), passedMs: this.#passedMs() };
    this.#isBelieved = true;
    return true;
  }
}

function dateText(time: UnixSeconds): string {
  return new Date(time * 1000).toISOString();
}
