// The time of limits and waits. Components take it as an option, so that a test decides when a time has passed.
/**
 * A clock with timers: that of this process is made by {@link steadyClock}, since protocols read none. Dates that are stored or sent are `UnixSeconds` and come from elsewhere.
 */
export interface Clock {
  /** Milliseconds since a time that does not change: of most clocks only differences have a meaning. */
  now(): number;
  /**
   * Calls back once after this many milliseconds, unless the returned function is called first.
   *
   * @param background whether the process may end before; a clock without a process ignores it. Default false
   */
  setTimer(callback: () => void, milliseconds: number, background?: boolean): () => void;
}

/** What a process has to measure time with. */
export interface TimeSource<Timer> {
  /** Milliseconds, never fewer than before: `performance.now`. */
  readonly now: () => number;
  /** `setTimeout` and `clearTimeout`. */
  readonly start: (callback: () => void, milliseconds: number) => Timer;
  readonly cancel: (timer: Timer) => void;
}

/** The longest delay of `setTimeout`, which calls back at once after a longer one. */
const MAX_TIMER_MS = 0x7fffffff;

/** The clock of a process that cannot be set. A timer of more than 24 days calls back after 24 days. */
export function steadyClock<Timer extends { unref(): unknown }>(source: TimeSource<Timer>): Clock {
  return {
    now: source.now,
    setTimer(callback, milliseconds, background = false) {
      const timer = source.start(callback, Math.max(1, Math.min(milliseconds, MAX_TIMER_MS)));
      if (background) timer.unref();
      return () => source.cancel(timer);
    },
  };
}

/** Resolves after this many milliseconds; rejects with the signal's reason when that is aborted before. */
export function pauseFor(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.setTimer(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Returns the result of work, or that of `onLate` if the work takes longer than this many milliseconds. The
 * work continues; its late result or error is ignored.
 */
export async function withTimeout<T, L>(
  clock: Clock,
  milliseconds: number,
  work: Promise<T>,
  onLate: () => L,
): Promise<T | L> {
  let cancel: (() => void) | undefined;
  const late = new Promise<'late'>((resolve) => {
    cancel = clock.setTimer(() => resolve('late'), milliseconds);
  });
  try {
    const done = work.then((result) => ({ result }));
    const first = await Promise.race([done, late]);
    return first === 'late' ? onLate() : first.result;
  } finally {
    cancel?.();
  }
}

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
