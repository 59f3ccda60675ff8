/** The clock of a frontier, which a test can replace. */
export interface FrontierClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once after this many milliseconds, unless the returned function is called first. */
  setTimer(callback: () => void, milliseconds: number): () => void;
}

/** The longest delay of `setTimeout`. */
const MAX_TIMER_MS = 0x7fffffff;

/** The clock of this machine. */
export const systemClock: FrontierClock = {
  now: () => Date.now(),
  setTimer(callback, milliseconds) {
    const timer = setTimeout(callback, Math.max(1, Math.min(milliseconds, MAX_TIMER_MS)));
    return () => clearTimeout(timer);
  },
};
