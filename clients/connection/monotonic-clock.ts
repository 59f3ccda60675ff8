// The clock of all time limits, of clients and of servers.
import { type Clock, steadyClock } from '../../protocols/clock.js';

/**
 * The time in milliseconds since 1970 when this process began, plus the time since. For waits: a clock that is
 * set does not change it.
 */
export function steadyTime(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}

/** The monotonic clock of this process. A timer of more than 24 days calls back after 24 days. */
export const monotonicClock: Clock = steadyClock({
  now: () => performance.now(),
  start: (callback, milliseconds) => setTimeout(callback, milliseconds),
  cancel: (timer) => clearTimeout(timer),
});
