// Runs timed events on one timer, and records their outcomes.
import { messageOf } from '../../../protocols/errors.js';
import type { UnixSeconds } from '../../../protocols/time.js';

/** Longest delay of the timer; a longer wait takes several, so that a clock that was set is noticed. */
const MAX_DELAY_MS = 60_000;

/** An event of the timetable. */
export interface TimedEvent {
  readonly name: string;
  /** One line that describes the event. */
  readonly description: string;
  /** The time of the next run, always after `now`; undefined if the event is turned off. */
  readonly next: (now: UnixSeconds) => UnixSeconds | undefined;
  /** Runs the event through {@link Timetable.observe}. */
  readonly run: () => Promise<void>;
}

/** One row of the timetable. */
export interface TimetableRow {
  readonly name: string;
  readonly description: string;
  /** Absent while the event is turned off or the timetable does not run. */
  readonly next?: UnixSeconds | undefined;
  readonly running: boolean;
  /** Start of the last run, timed or requested. */
  readonly lastStarted?: UnixSeconds | undefined;
  readonly lastOutcome?: string | undefined;
  readonly lastFailed: boolean;
}

interface EventState {
  readonly event: TimedEvent;
  due: UnixSeconds | undefined;
  running: number;
  lastStarted?: UnixSeconds;
  lastOutcome?: string;
  lastFailed: boolean;
}

/**
 * BRK-7.11: returns the time of the next collection, always after `now`: `timeOfDay` (local, seconds since
 * midnight) plus a multiple of `interval` seconds.
 */
export function nextRun(now: UnixSeconds, timeOfDay: number, interval: number): UnixSeconds {
  const day = new Date(now * 1000);
  day.setHours(Math.floor(timeOfDay / 3600), Math.floor(timeOfDay / 60) % 60, timeOfDay % 60, 0);
  const anchor = Math.floor(day.getTime() / 1000);
  return anchor + (Math.floor((now - anchor) / interval) + 1) * interval;
}

/**
 * BRK-7.10: the Broker's timed events on one timer. Events that are due at the same time run one after the
 * other, in the order of their addition. The timer does not keep the process alive.
 */
export class Timetable implements Disposable {
  readonly #now: () => UnixSeconds;
  readonly #events: EventState[] = [];
  readonly #onFailure: (event: TimedEvent, error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #running = false;

  constructor(
    now: () => UnixSeconds,
    /** Called for an event that failed; the events after it still run. */
    onFailure: (event: TimedEvent, error: unknown) => void,
  ) {
    this.#now = now;
    this.#onFailure = onFailure;
  }

  add(event: TimedEvent): void {
    this.#events.push({ event, due: undefined, running: 0, lastFailed: false });
  }

  /** Starts the timer: every event becomes due at its next time. */
  start(): void {
    this.#running = true;
    this.reschedule();
  }

  /** Computes the next times again, after a setting has changed. */
  reschedule(): void {
    if (!this.#running) return;
    for (const state of this.#events) state.due = state.event.next(this.#now());
    this.#arm();
  }

  /**
   * Runs the events that are due, and resolves when they have ended. Called by the timer, and by tests after
   * moving the clock.
   */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick().finally(() => {
      this.#ticking = undefined;
      this.#arm();
    });
    return this.#ticking;
  }

  /** Runs an event's work, whether it is due or requested, and records it in the event's row. */
  async observe<T>(name: string, work: () => Promise<T>, outcomeOf: (result: T) => string): Promise<T> {
    const state = this.#events.find(({ event }) => event.name === name);
    if (state === undefined) return work();
    state.running += 1;
    state.lastStarted = this.#now();
    const finish = (outcome: string, failed: boolean): void => {
      state.running -= 1;
      state.lastOutcome = outcome;
      state.lastFailed = failed;
    };
    try {
      const result = await work();
      finish(outcomeOf(result), false);
      return result;
    } catch (error) {
      finish(messageOf(error), true);
      throw error;
    }
  }

  /** The rows in the order of their addition. */
  rows(): readonly TimetableRow[] {
    return this.#events.map(({ event, due, running, lastStarted, lastOutcome, lastFailed }) => ({
      name: event.name,
      description: event.description,
      next: due,
      running: running > 0,
      lastStarted,
      lastOutcome,
      lastFailed,
    }));
  }

  /** Stops the timer. A running event continues. */
  [Symbol.dispose](): void {
    this.#running = false;
    clearTimeout(this.#timer);
    for (const state of this.#events) state.due = undefined;
  }

  async #tick(): Promise<void> {
    for (const state of this.#events) {
      if (!this.#running || state.due === undefined) continue;
      const next = state.event.next(this.#now());
      if (state.due > this.#now()) {
        // A clock that was set back would put the event off by as much.
        state.due = Math.min(state.due, next ?? state.due);
        continue;
      }
      state.due = next;
      try {
        await state.event.run();
      } catch (error) {
        this.#onFailure(state.event, error);
      }
    }
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const due = this.#events.flatMap((state) => state.due ?? []);
    if (!this.#running || due.length === 0) return;
    const wait = (Math.min(...due) - this.#now()) * 1000;
    this.#timer = setTimeout(() => void this.tick(), Math.min(MAX_DELAY_MS, Math.max(0, wait))).unref();
  }
}
