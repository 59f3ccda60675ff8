import type { CrawlState, HostReport, QueueReport, QueueState, WaitReason } from '../control.js';

/** CRAWL-20.1, for people. */
export const CRAWL_STATE_WORDS: Readonly<Record<CrawlState, string>> = {
  preparing: 'preparing',
  running: 'running',
  empty: 'empty: everything is done, it waits for more',
  pausing: 'pausing: what is under way is finished first',
  paused: 'paused',
  stopping: 'stopping: what is under way is finished first',
  finished: 'finished',
};

/** CRAWL-5.4, for people. */
export const QUEUE_STATE_WORDS: Readonly<Record<QueueState, string>> = {
  'in-process': 'in process',
  ready: 'ready',
  snoozed: 'snoozed',
  inactive: 'inactive',
  retired: 'retired',
  exhausted: 'exhausted',
};

/** Why a queue waits (CRAWL-22, pain 3). */
export const REASON_WORDS: Readonly<Record<WaitReason, string>> = {
  politeness: 'pause after a contact',
  'crawl-delay': 'robots.txt asks for a longer pause',
  bandwidth: 'bandwidth of its host',
  retry: 'tries again after a failure',
  'retry-after': 'its server asked to wait',
  backlog: 'enough other queues are ready',
  'session-budget': 'used its turn up',
  'total-budget': 'its whole budget is spent',
  quota: 'a quota is reached',
  operator: 'retired by the operator',
};

/** What is known of a server's robots.txt. */
export const ROBOTS_WORDS: Readonly<Record<HostReport['robots'], string>> = {
  none: 'not asked for yet',
  rules: 'has rules',
  'allow-all': 'allows all',
  unavailable: 'cannot be had',
  pending: 'on its way',
};

/** Why a queue waits and how long still; empty: it does not. `now` in milliseconds since 1970. */
export function waitText({ reason, wakeTime }: QueueReport, now: number): string {
  const words = reason === undefined ? '' : REASON_WORDS[reason];
  const left = wakeTime > now ? `${span(wakeTime - now)} left` : '';
  return [words, left].filter((part) => part !== '').join(', ');
}

/** Milliseconds for people, two units at most: `450 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
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

/** When something was, from now: `12 s ago`; empty: never. Both in milliseconds since 1970. */
export function ago(time: number, now: number): string {
  return time <= 0 ? '' : `${span(Math.max(0, now - time))} ago`;
}

/** `1,234`; at most one digit behind the point. */
export function number(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 });
}
