import { MONTH } from '../../../protocols/time.js';

/**
 * Whether a stored time, in milliseconds, lies so far ahead that it was written with another clock: nothing
 * waits for a month.
 */
export function isTooLong(time: number, now: number): boolean {
  return time > now + MONTH * 1000;
}

/** Whether a queue with this stored wake time, in milliseconds, still sleeps. */
export function isAsleep(wakeTime: number, now: number): boolean {
  return wakeTime > now && !isTooLong(wakeTime, now);
}
