import { createHash } from 'node:crypto';

/** Intervals between the runs of a Gatherer. */
export const PERIODS = ['daily', 'weekly', 'monthly'] as const;
export type Period = (typeof PERIODS)[number];

/** A time of day, local. */
export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

const DAY_MINUTES = 24 * 60;

/**
 * Spreads jobs over `spread` minutes from `begin`, so that they do not run at the same time, and so that not
 * all machines run at the full hour. The same ids always get the same times.
 */
export function spreadTimes(ids: readonly string[], begin: TimeOfDay, spread: number): TimeOfDay[] {
  const share = spread / Math.max(1, ids.length);
  return ids.map((id, i) => {
    const jitter = createHash('sha256').update(id).digest().readUInt16BE(0) / 0x1_0000;
    const minute = Math.floor(begin.hour * 60 + begin.minute + share * (i + jitter)) % DAY_MINUTES;
    return { hour: Math.floor(minute / 60), minute: minute % 60 };
  });
}

/** Returns the five time fields of a crontab line; weekly is on Sunday, monthly on the first. */
export function cronTime({ hour, minute }: TimeOfDay, period: Period): string {
  const days = { daily: '* * *', weekly: '* * 0', monthly: '1 * *' }[period];
  return `${minute} ${hour} ${days}`;
}

/** Returns the value of OnCalendar= of a systemd timer. */
export function calendarTime({ hour, minute }: TimeOfDay, period: Period): string {
  const days = { daily: '*-*-*', weekly: 'Sun *-*-*', monthly: '*-*-01' }[period];
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${days} ${two(hour)}:${two(minute)}:00`;
}
