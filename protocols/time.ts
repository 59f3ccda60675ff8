// Times and the default lifetimes of objects, all in seconds.
/** Seconds since 1970-01-01 00:00:00 UTC (SOIF-6.1). */
export type UnixSeconds = number;

/** SOIF-6.3: Harvest's week, month (four weeks) and year (twelve such months), in seconds. */
export const WEEK = 604_800;
export const MONTH = 4 * WEEK;
export const YEAR = 12 * MONTH;

/** SOIF-6.2: the defaults of `Refresh-Rate` and `Time-to-Live`, in seconds. */
export const DEFAULT_REFRESH_RATE = WEEK;
export const DEFAULT_TIME_TO_LIVE = MONTH;

/**
 * Seconds by which the clocks of two machines, or of one machine at two times, may differ. A time further ahead
 * is that of a wrong clock: it decides nothing.
 */
export const MAX_AHEAD = 86_400;

/** 2026-01-01 00:00:00 UTC. A clock that says less is wrong: this program is younger. */
export const EARLIEST_PRESENT: UnixSeconds = 1_767_225_600;

/**
 * Whether a clock can say the present time. One that cannot, e.g. after its battery failed, proves nothing about
 * stored times.
 */
export function isPlausiblePresent(now: UnixSeconds): boolean {
  return now >= EARLIEST_PRESENT;
}
