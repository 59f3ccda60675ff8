import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';

/** The clock of a frontier: it keeps times over a restart, so they are milliseconds since 1970. */
export const wallClock: Clock = { ...monotonicClock, now: () => Date.now() };
