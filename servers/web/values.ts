// Formats dates, sizes, durations and counts for pages.
import type { UnixSeconds } from '../../protocols/time.js';
import { type Content, html } from './html.js';

/** Latest time with a date: the end of the year 9999. */
const LATEST: UnixSeconds = 253_402_300_799;

/** Decimal seconds since 1970 as a date (UTC); text that is not a valid time stays as it is. */
export function date(seconds: string | number): Content {
  const time = dateTime(seconds);
  if (time === undefined) return String(seconds);
  return html`<time datetime="${time}">${time.slice(0, 10)}</time>`;
}

/** Decimal seconds since 1970 as `2026-01-31T12:00:00Z`; undefined for text that is not a valid time. */
export function dateTime(seconds: string | number): string | undefined {
  const text = String(seconds).trim();
  if (!/^[0-9]{1,12}$/.test(text) || Number(text) > LATEST) return undefined;
  return new Date(Number(text) * 1000).toISOString().replace('.000Z', 'Z');
}

/** A number of bytes with its unit: `8.2 kB`. */
export function byteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB', 'PB'];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}

/** A duration in seconds with the largest unit that divides it: `4 weeks`, `36 hours`. */
export function duration(seconds: number): string {
  const units: readonly (readonly [number, string])[] = [
    [604_800, 'week'],
    [86_400, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
  ];
  const [size, name] = units.find(([size]) => seconds >= size && seconds % size === 0) ?? [1, 'second'];
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** "1 object", "2 objects". */
export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}
