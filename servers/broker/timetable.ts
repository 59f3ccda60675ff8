import { messageOf } from '../../protocols/errors.js';
import type { UnixSeconds } from '../../protocols/time.js';

/** Longest sleep of the timer, milliseconds: longer waits are taken in steps. */
const LONGEST_SLEEP = 24 * 3600 * 1000;

/** An event of the timetable. */
export interface TimedEvent {
  readonly name: string;
  /** One line for people: what it does. */
  readonly description: string;
  /** When it is due next, always after `now`; undefined = the event is turned off. */
  readonly next: (now: UnixSeconds) => UnixSeconds | undefined;
  /** Does it, by way of {@link Timetable.observe}. */
  readonly run: () => Promise<void>;
}

/** One row of the timetable, as people see it. */
export interface TimetableRow {
  readonly name: string;
  readonly description: string;
  /** Undefined while the event is turned off or the timetable does not run. */
  readonly next?: UnixSeconds;
  readonly running: boolean;
  /** When it last began, whoever asked for it. */
  readonly lastStarted?: UnixSeconds;
  readonly lastMilliseconds?: number;
  readonly lastOutcome?: string;
  readonly lastFailed: boolean;
}

interface Record {
  readonly event: TimedEvent;
  due: UnixSeconds | undefined;
  running: number;
  lastStarted?: UnixSeconds;
  lastMilliseconds?: number;
  lastOutcome?: string;
  lastFailed: boolean;
}

/**
 * BRK-7.11: when the next collection is due: at `timeOfDay` (local, seconds since midnight) and every
 * `interval` seconds from there on. Always after `now`.
 */
export function nextRun(now: UnixSeconds, timeOfDay: number, interval: number): UnixSeconds {
  const day = new Date(now * 1000);
  day.setHours(Math.floor(timeOfDay / 3600), Math.floor(timeOfDay / 60) % 60, timeOfDay % 60, 0);
  const anchor = Math.floor(day.getTime() / 1000);
  return anchor + (Math.floor((now - anchor) / interval) + 1) * interval;
}

/**
 * BRK-7.10: the Broker's timed events on one timer. Events that are due together run one after the other, in the order
 * in which they were added. The timer never keeps the process alive.
 */
export class Timetable implements Disposable {
  readonly #now: () => UnixSeconds;
  readonly #records: Record[] = [];
  readonly #onFailure: (event: TimedEvent, error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #running = false;

  constructor(
    now: () => UnixSeconds,
    /** Told of an event that failed; the next ones run all the same. */
    onFailure: (event: TimedEvent, error: unknown) => void,
  ) {
    this.#now = now;
    this.#onFailure = onFailure;
  }

  add(event: TimedEvent): void {
    this.#records.push({ event, due: undefined, running: 0, lastFailed: false });
  }

  /** Begins: every event becomes due at its next time. */
  start(): void {
    this.#running = true;
    this.reschedule();
  }

  /** Reckons anew when each event is due, after a setting has changed. */
  reschedule(): void {
    if (!this.#running) return;
    for (const record of this.#records) record.due = record.event.next(this.#now());
    this.#arm();
  }

  /** Runs what is due, and resolves when it has run. The timer calls it; tests may, after moving the clock. */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick().finally(() => {
      this.#ticking = undefined;
      this.#arm();
    });
    return this.#ticking;
  }

  /** Does an event's work outside its time, and remembers it in its row. */
  async observe<T>(name: string, work: () => Promise<T>, outcomeOf: (result: T) => string): Promise<T> {
    const record = this.#records.find(({ event }) => event.name === name);
    if (record === undefined) return work();
    record.running += 1;
    record.lastStarted = this.#now();
    const started = performance.now();
    const finish = (outcome: string, failed: boolean): void => {
      record.running -= 1;
      record.lastMilliseconds = Math.round(performance.now() - started);
      record.lastOutcome = outcome;
      record.lastFailed = failed;
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

  /** The rows, in the order in which the events were added. */
  rows(): readonly TimetableRow[] {
    return this.#records.map(
      ({ event, due, running, lastStarted, lastMilliseconds, lastOutcome, lastFailed }) => ({
        name: event.name,
        description: event.description,
        ...(due === undefined ? {} : { next: due }),
        running: running > 0,
        ...(lastStarted === undefined ? {} : { lastStarted }),
        ...(lastMilliseconds === undefined ? {} : { lastMilliseconds }),
        ...(lastOutcome === undefined ? {} : { lastOutcome }),
        lastFailed,
      }),
    );
  }

  /** No event begins any more; one that runs goes on. */
  [Symbol.dispose](): void {
    this.#running = false;
    clearTimeout(this.#timer);
    for (const record of this.#records) record.due = undefined;
  }

  async #tick(): Promise<void> {
    for (const record of this.#records) {
      if (!this.#running || record.due === undefined || record.due > this.#now()) continue;
      record.due = record.event.next(this.#now());
      try {
        await record.event.run();
      } catch (error) {
        this.#onFailure(record.event, error);
      }
    }
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const due = this.#records.flatMap((record) => record.due ?? []);
    if (!this.#running || due.length === 0) return;
    const wait = (Math.min(...due) - this.#now()) * 1000;
    this.#timer = setTimeout(() => void this.tick(), Math.min(LONGEST_SLEEP, Math.max(0, wait))).unref();
  }
}
