import type { CrawlState, HostReport, QueueReport, QueueState, WaitReason } from '../control.js';

/** Labels of the crawl's states (CRAWL-20.1). */
export const CRAWL_STATE_LABELS: Readonly<Record<CrawlState, string>> = {
  preparing: 'preparing',
  running: 'running',
  empty: 'empty: everything is done, waiting for more URIs',
  pausing: 'pausing: the URIs in process are finished first',
  paused: 'paused',
  stopping: 'stopping: the URIs in process are finished first',
  finished: 'finished',
};

/** Labels of the queues' states (CRAWL-5.4). */
export const QUEUE_STATE_LABELS: Readonly<Record<QueueState, string>> = {
  'in-process': 'in process',
  ready: 'ready',
  snoozed: 'snoozed',
  inactive: 'inactive',
  retired: 'retired',
  exhausted: 'exhausted',
};

/** Labels of the reasons why a queue waits (CRAWL-22). */
export const REASON_LABELS: Readonly<Record<WaitReason, string>> = {
  politeness: 'pause after a contact',
  'crawl-delay': 'robots.txt asks for a longer pause',
  bandwidth: 'bandwidth of its host',
  retry: 'tries again after a failure',
  'retry-after': 'its server asked to wait',
  backlog: 'enough other queues are ready',
  'session-budget': 'its session budget is spent',
  'total-budget': 'its whole budget is spent',
  quota: 'a quota is reached',
  operator: 'retired by the operator',
};

/** Labels of the state of a server's robots.txt. */
export const ROBOTS_LABELS: Readonly<Record<HostReport['robots'], string>> = {
  none: 'not requested yet',
  rules: 'has rules',
  'allow-all': 'allows all',
  unavailable: 'not available',
  pending: 'requested',
};

/** Why a queue waits and for how long; empty if it does not wait. `now` in milliseconds since 1970. */
export function waitText({ reason, wakeTime }: QueueReport, now: number): string {
  const label = reason === undefined ? '' : REASON_LABELS[reason];
  const left = wakeTime > now ? `${span(wakeTime - now)} left` : '';
  return [label, left].filter((text) => text !== '').join(', ');
}

/** A duration in milliseconds as text, two units at most: `450 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function span(milliseconds: number): string {
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

/** A time relative to `now`, as `12 s ago`; empty for 0. Both in milliseconds since 1970. */
export function ago(time: number, now: number): string {
  return time <= 0 ? '' : `${span(Math.max(0, now - time))} ago`;
}

/** A number as text, as `1,234`; below 100 with one digit after the point at most. */
export function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}
