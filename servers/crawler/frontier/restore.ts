import { QUEUE_STATUS, type QueuedUri } from '../../../storage/index.js';
import type { SeenFilter } from '../../../storage/seen/index.js';
import type { FrontierWriter } from './frontier-writer.js';
import type { InactiveQueues } from './inactive-queues.js';
import type { QueueLifeCycle } from './life-cycle.js';
import type { QueueMemory } from './queue-memory.js';
import { isAsleep } from './stored-times.js';
import { WorkQueue } from './work-queue.js';

/** The parts of a new frontier that are restored. */
export interface RestoreContext {
  readonly memory: QueueMemory;
  readonly cycle: QueueLifeCycle;
  readonly inactive: InactiveQueues;
  readonly writer: FrontierWriter;
  /** The key of a queued URI in the seen filter. */
  readonly seenKeyOf: (uri: QueuedUri) => string;
  /** A seen filter with its own files; it may lack the URIs that were queued last. */
  readonly ownFilter: SeenFilter | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** See `FrontierOptions.restMs`. */
  readonly restMs: number;
}

/** Restores the queues and counters that an interrupted crawl left in the store (CRAWL-17.2.2). */
export async function restoreFrontier(context: RestoreContext): Promise<void> {
  const { memory, inactive, writer, ownFilter, seenKeyOf } = context;
  const state = await writer.store.frontierState();
  if (state === undefined) return;
  const { nextSequence, pending: _, ...counters } = state;
  inactive.nextSequence = nextSequence;
  Object.assign(writer.counters, counters);
  for await (const records of writer.store.queueRecords.pages())
    for (const record of records) restoreQueue(context, WorkQueue.restored(record), record.status);
  inactive.restored(memory.status.inactive);
  if (ownFilter === undefined) return;
  for await (const entries of writer.store.queues.pages())
    await ownFilter.add(entries.map(({ uri }) => seenKeyOf(uri)));
  for await (const page of writer.store.waiting.pages())
    await ownFilter.add(page.map(({ entry: { uri } }) => seenKeyOf(uri)));
}

function restoreQueue(
  { memory, cycle, now, restMs }: RestoreContext,
  queue: WorkQueue,
  status: number,
): void {
  if (status === QUEUE_STATUS.retired) {
    memory.status.retired++;
    return;
  }
  cycle.queued += queue.count;
  if (status === QUEUE_STATUS.inactive) {
    memory.status.inactive++;
    return;
  }
  if (restMs > 0 && queue.count > 0) {
    const stored = isAsleep(queue.wakeTime, now) ? queue.wakeTime : 0;
    queue.wakeTime = Math.max(stored, now + restMs);
  }
  const sleeps = isAsleep(queue.wakeTime, now);
  if (queue.count === 0 && !sleeps) return;
  memory.add(queue);
  if (sleeps) cycle.snooze(queue);
  else cycle.makeReady(queue);
}
