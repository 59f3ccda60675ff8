// Formats numbers and times for people: in pages, in the terminal and in reports.

/** Formats a duration with at most two units: `450 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = Math.round(milliseconds / 1000);
  const units: readonly (readonly [number, string])[] = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const first = units.findIndex(([size]) => seconds >= size);
  const parts: string[] = [];
  let rest = seconds;
  for (const [size, unit] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.join(' ');
}

/** Formats a time relative to `now`, as `12 s ago`; empty for 0. Both are milliseconds since 1970. */
export function formatAgo(time: number, now: number): string {
  return time <= 0 ? '' : `${formatDuration(Math.max(0, now - time))} ago`;
}

/** Formats a number as `1,234`; below 100 with at most one decimal. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}
