// The time that reading a document may take: a limit of processor time, and a longer one of the clock for a
// reader that only waits (E-45, E-70).

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
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

// Processor time of processes and threads, in milliseconds. Linux shows it in /proc, by ticks of 10 ms; other
// systems show less.

/** Milliseconds of a tick: USER_HZ is 100 on all architectures that Node supports. */
const TICK_MS = 10;
/**
 * Fields of /proc/PID/stat after the name: time in user and kernel mode, and that of the children that were
 * waited for.
 */
const USER_TIME = 11;
const CHILDREN_USER_TIME = 13;
const CHILDREN_KERNEL_TIME = 14;

/** Returns the processor time of this process. */
export function processMs(): number {
  return ofUsage(process.cpuUsage());
}

/** Returns the processor time of the programs that this process has run; 0 without /proc. */
export function childrenMs(): number {
  return statMs('/proc/self/stat', CHILDREN_USER_TIME) ?? 0;
}

let ofCallingThread: (() => number) | undefined;

/** Returns the processor time of the calling thread. */
export function callingThreadMs(): number {
  // Node 23.9 and later.
  const usage: unknown = Reflect.get(process, 'threadCpuUsage');
  if (typeof usage === 'function') return ofUsage(usage.call(process));
  ofCallingThread ??= measureThread(threadId());
  return ofCallingThread();
}

/**
 * Returns the number of the calling thread, for {@link measureThread} in another thread of this process;
 * undefined without /proc.
 */
export function threadId(): number | undefined {
  try {
    return Number(readlinkSync('/proc/thread-self').replace(/^.*\//, ''));
  } catch {
    return undefined;
  }
}

/**
 * Returns a function that measures a thread of this process, by its {@link threadId}. Without one the result is
 * too high: in each interval the time of the clock or the processor time of the whole process, whichever is
 * less.
 */
export function measureThread(id: number | undefined): () => number {
  const other = processShare();
  let last = 0;
  return () => {
    if (id === undefined) return other();
    // A thread that has ended has used what it had used before.
    last = statMs(`/proc/self/task/${id}/stat`) ?? last;
    return last;
  };
}

/** Returns the processor time of a process and its descendants; undefined without /proc, or if it has ended. */
export function treeMs(pid: number): number | undefined {
  const own = statMs(`/proc/${pid}/stat`);
  if (own === undefined) return undefined;
  return childrenOf(pid).reduce((sum, child) => sum + (treeMs(child) ?? 0), own);
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' '))
      .filter((child) => child.trim() !== '')
      .map(Number);
  } catch {
    // It has just ended.
    return [];
  }
}

function statMs(file: string, firstField = USER_TIME): number | undefined {
  try {
    const text = readFileSync(file, 'latin1');
    // The name of a program may contain blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    let ticks = 0;
    for (let field = firstField; field <= CHILDREN_KERNEL_TIME; field++) ticks += Number(fields[field]);
    return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
  } catch {
    return undefined;
  }
}

function processShare(): () => number {
  let clock = performance.now();
  let processor = processMs();
  let used = 0;
  return () => {
    const [now, processorNow] = [performance.now(), processMs()];
    used += Math.min(now - clock, processorNow - processor);
    [clock, processor] = [now, processorNow];
    return used;
  };
}

function ofUsage({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}
