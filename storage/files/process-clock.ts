import { type Clock, steadyClock } from '../../protocols/clock.js';

/** The clock of this process, as `clients/connection` has it, which storage does not import. */
export const processClock: Clock = steadyClock({
  now: () => performance.now(),
  start: (callback, milliseconds) => setTimeout(callback, milliseconds),
  cancel: (timer) => clearTimeout(timer),
});
