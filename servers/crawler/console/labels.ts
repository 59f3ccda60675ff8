import type { CrawlSnapshot, HostReport, QueueReport } from '../control.js';
import { type CrawlState, QUEUE_STATES, type QueueState, WAIT_REASONS, type WaitReason } from '../states.js';
import { formatDuration } from '../values.js';

/** Labels of the crawl's states (CRAWL-20.1). */
export const CRAWL_STATE_LABELS: Readonly<Record<CrawlState, string>> = {
  preparing: 'preparing',
  running: 'running',
  empty: 'empty: no URI is left, waiting for more',
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
const REASON_LABELS: Readonly<Record<WaitReason, string>> = {
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

/** Returns the number of queues in each state, with its label. */
export function countsByState({
  queues,
}: Pick<CrawlSnapshot, 'queues'>): { readonly label: string; readonly count: number }[] {
  return QUEUE_STATES.map((state) => ({ label: QUEUE_STATE_LABELS[state], count: queues[state] }));
}

/** Returns the number of waiting queues for each reason that occurs, with its label. */
export function countsByReason({
  reasons,
}: Pick<CrawlSnapshot, 'reasons'>): { readonly label: string; readonly count: number }[] {
  return WAIT_REASONS.flatMap((reason) => {
    const count = reasons[reason] ?? 0;
    return count === 0 ? [] : [{ label: REASON_LABELS[reason], count }];
  });
}

/** Formats why a queue waits and for how long; empty if it does not wait. @param now milliseconds since 1970 */
export function formatWait({ reason, wakeTime }: QueueReport, now: number): string {
  const label = reason === undefined ? '' : REASON_LABELS[reason];
  const left = wakeTime > now ? `${formatDuration(wakeTime - now)} left` : '';
  return [label, left].filter((text) => text !== '').join(', ');
}
