import type { WaitReason } from '../states.js';
import type { Finish, FrontierFigures } from './contract.js';
import type { QueueMemory } from './queue-memory.js';
import type { WorkQueue } from './work-queue.js';

/** The counters of a crawl (CRAWL-16.5, 17.2.2), written with every batch. */
export interface Counters {
  nextOrdinal: number;
  succeeded: number;
  failed: number;
  disregarded: number;
  bytes: number;
}

/** CRAWL-8.4: adds the outcome of a URI to the counters and to the budget of its queue. */
export function countOutcome(
  counters: Counters,
  queue: WorkQueue,
  cost: number,
  { outcome, free, penalty = 0, bytes = 0 }: Finish,
): void {
  switch (outcome) {
    case 'success':
      queue.charge(cost);
      queue.successes++;
      queue.bytes += bytes;
      counters.succeeded++;
      break;
    case 'failed':
      queue.charge(cost + penalty);
      queue.errors++;
      counters.failed++;
      break;
    case 'disregarded':
      counters.disregarded++;
      break;
    case 'retry':
      if (free !== true) queue.charge(cost);
      break;
    case 'retire':
      break;
  }
  counters.bytes += bytes;
}

/** Computes the figures of the frontier (CRAWL-5.6.7). */
export function computeFigures(memory: QueueMemory, queued: number): FrontierFigures {
  const { status } = memory;
  const reasons: Partial<Record<WaitReason, number>> = {};
  let deepest = 0;
  for (const queue of memory.queues.values()) {
    deepest = Math.max(deepest, queue.count);
    if (queue.state === 'snoozed' && queue.reason !== '')
      reasons[queue.reason] = (reasons[queue.reason] ?? 0) + 1;
  }
  if (status.inactive > 0) reasons.backlog = status.inactive;
  const busy = status['in-process'] + status.snoozed;
  const eligible = status.ready + busy + status.inactive;
  return {
    queues: { ...status },
    reasons,
    congestion: busy === 0 ? 0 : eligible / busy,
    averageDepth: eligible === 0 ? 0 : queued / eligible,
    deepestQueue: deepest,
  };
}
