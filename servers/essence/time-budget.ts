// The time that reading a document may take: a limit of processor time, and a longer one of the clock for a
// reader that only waits (E-45, E-70).
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';

/**
 * The limit of the clock is this many times that of the processor. Beside other work a reader waits for the
 * processor, and the document is no worse for it; a reader that hangs uses no processor time at all.
 */
const CLOCK_FACTOR = 10;

/** Milliseconds between two looks at a reader. */
const MIN_LOOK_MS = 10;
const MAX_LOOK_MS = 1000;
/**
 * Share of the limit after which a reader is looked at for the first time: measuring costs more than reading a
 * small document.
 */
const FIRST_LOOK_SHARE = 0.1;

/** The measures of one reader, which a test can replace. */
export interface TimeMeasures {
  /** Milliseconds of processor time that the reader has used; only differences count. */
  readonly processorMs: () => number;
  /** Milliseconds of the clock. Default: those of this process. */
  readonly now?: () => number;
}

/** The time that is left to read one document. It begins with its first look at the processor time. */
export class TimeBudget {
  readonly #limitMs: number;
  readonly #processorMs: () => number;
  readonly #now: () => number;
  readonly #outer: TimeBudget | undefined;
  readonly #startMs: number;
  #processorAtStart: number | undefined;
  #nextLookMs: number;
  #exceeded: string | undefined;

  /**
   * @param limitMs - milliseconds of processor time; {@link CLOCK_FACTOR} times as many by the clock
   * @param outer - a budget that this one is a part of: it is exceeded with it
   */
  constructor(limitMs: number, { processorMs, now = monotonicClock.now }: TimeMeasures, outer?: TimeBudget) {
    this.#limitMs = limitMs;
    this.#processorMs = processorMs;
    this.#now = now;
    this.#outer = outer;
    this.#startMs = now();
    this.#nextLookMs = this.#startMs + Math.min(MAX_LOOK_MS, limitMs * FIRST_LOOK_SHARE);
  }

  /** Returns a budget for a part of the reading, with a limit of its own. */
  within(limitMs: number): TimeBudget {
    return new TimeBudget(limitMs, { processorMs: this.#processorMs, now: this.#now }, this);
  }

  /**
   * Returns a clause about the limit that is exceeded, e.g. `more than 30000 ms of processor time`; undefined
   * while there is time left. Most calls look at the clock only.
   */
  exceeded(): string | undefined {
    this.#exceeded ??= this.#outer?.exceeded();
    const now = this.#exceeded === undefined ? this.#now() : Number.NEGATIVE_INFINITY;
    if (now >= this.#nextLookMs) this.#look(now);
    return this.#exceeded;
  }

  #look(now: number): void {
    const used = this.usedMs;
    const limit = this.#limitMs;
    if (used > limit) this.#exceeded = `more than ${limit} ms of processor time`;
    else if (now - this.#startMs > limit * CLOCK_FACTOR)
      this.#exceeded = `more than ${limit * CLOCK_FACTOR} ms by the clock`;
    // Half of the rest: several threads of a reader may use more processor time than the clock shows.
    this.#nextLookMs = now + Math.max(MIN_LOOK_MS, Math.min(MAX_LOOK_MS, (limit - used) / 2));
  }

  /** Milliseconds of processor time since the first look. */
  get usedMs(): number {
    const processor = this.#processorMs();
    this.#processorAtStart ??= processor;
    return processor - this.#processorAtStart;
  }

  /** Milliseconds until a look can have another result. */
  get waitMs(): number {
    return Math.max(0, this.#nextLookMs - this.#now());
  }
}

/** Watches a budget from outside, with timers. */
export class TimeWatch {
  readonly budget: TimeBudget;
  readonly #clock: Clock;
  readonly #onExceeded: (clause: string) => void;
  #cancel: () => void = () => undefined;

  /** @param onExceeded - called once, with the clause of {@link TimeBudget.exceeded} */
  constructor(budget: TimeBudget, clock: Clock, onExceeded: (clause: string) => void) {
    this.budget = budget;
    this.#clock = clock;
    this.#onExceeded = onExceeded;
    this.#wait();
  }

  /** Ends the watch. */
  stop(): void {
    this.#cancel();
  }

  #wait(): void {
    this.#cancel = this.#clock.setTimer(() => {
      const clause = this.budget.exceeded();
      if (clause === undefined) this.#wait();
      else this.#onExceeded(clause);
    }, this.budget.waitMs);
  }
}
