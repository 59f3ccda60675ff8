// The clock of all time limits, of clients and of servers.
import type { Clock } from '../../protocols/clock.js';

/** The longest delay of `setTimeout`, which calls back at once after a longer one. */
const MAX_TIMER_MS = 0x7fffffff;

/**
 * The time in milliseconds since 1970 when this process began, plus the time since. For waits: a clock that is
 * set does not change it.
 */
export function steadyTime(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

/** The monotonic clock of this process. A timer of more than 24 days calls back after 24 days. */
export const monotonicClock: Clock = {
  now: () => performance.now(),
  setTimer(callback, milliseconds, background = false) {
    const timer = setTimeout(callback, Math.max(1, Math.min(milliseconds, MAX_TIMER_MS)));
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};
