import { type GathererBatch, QUEUE_STATUS, type QueueEntry } from '../../../storage/index.js';
import type { QueueReport, QueueSelection } from '../control.js';
import type { FrontierWriter } from './frontier-writer.js';
import type { QueueLifeCycle } from './life-cycle.js';
import type { QueueMemory } from './queue-memory.js';
import type { WaitingUris } from './waiting-uris.js';
import { WorkQueue } from './work-queue.js';

/** The parts of a frontier that an operator's actions use. */
export interface OperatorContext {
  readonly memory: QueueMemory;
  readonly cycle: QueueLifeCycle;
  readonly writer: FrontierWriter;
  readonly waiting: WaitingUris;
  readonly onDeleted: ((entry: QueueEntry, batch: GathererBatch) => () => void) | undefined;
  /** Runs work with the frontier's mutex held. */
  readonly exclusive: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * CRAWL-5.4 T19: all retired queues become inactive; those still over budget retire again at their activation.
 */
export async function reconsiderRetired(
  { memory, cycle, writer, exclusive }: OperatorContext,
  budgets?: (classKey: string) => number,
): Promise<number> {
  let count = 0;
  for await (const records of writer.store.queueRecords.pages()) {
    const retired = records.filter(({ status }) => status === QUEUE_STATUS.retired);
    if (retired.length === 0) continue;
    const { completions, written } = await exclusive(async () => {
      const batch = writer.store.batch();
      const loaded = await memory.load(retired.map(({ classKey }) => classKey));
      const queues = loaded.filter(({ state }) => state === 'retired');
      const completions = queues.map((queue) => {
        queue.totalBudget = budgets?.(queue.classKey) ?? queue.totalBudget;
        cycle.queued += queue.count;
        return cycle.deactivate(queue, batch, 'backlog');
      });
      count += queues.length;
      return { completions, written: writer.submit(batch, queues) };
    });
    await written;
    for (const complete of completions) complete();
  }
  return count;
}

/**
 * CRAWL-5.6.6, T21: deletes pending URIs; those in process stay.
 * @returns the number of deleted URIs
 */
export async function deleteUris(
  { memory, cycle, writer, waiting, onDeleted, exclusive }: OperatorContext,
  matches: (url: string, classKey: string) => boolean,
): Promise<number> {
  let deleted = 0;
  for await (const entries of writer.store.queues.pages()) {
    const matching = entries.filter(({ uri, classKey }) => matches(uri.url, classKey));
    if (matching.length === 0) continue;
    const { queues, written } = await exclusive(async () => {
      await writer.settled();
      const batch = writer.store.batch();
      const queues = await memory.load([...new Set(matching.map(({ classKey }) => classKey))]);
      for (const entry of matching) {
        const queue = memory.queues.get(entry.classKey)!;
        // Skips a URI that is in process, or was returned or finished since the page was read.
        if (queue.peeked?.ordinal === entry.ordinal) continue;
        const justBefore = { ...entry, ordinal: entry.ordinal - 1 };
        const [current] = await writer.store.queues.heads(entry.classKey, 1, justBefore);
        if (current?.ordinal !== entry.ordinal) continue;
        batch.dequeue(entry);
        if (onDeleted !== undefined) writer.after(batch, onDeleted(entry, batch));
        queue.count--;
        if (queue.state !== 'retired') cycle.queued--;
        writer.counters.disregarded++;
        deleted++;
      }
      return { queues, written: writer.submit(batch, queues) };
    });
    await written;
    for (const queue of queues) queue.window.clear(queue.count > 0);
  }
  for await (const page of writer.store.waiting.pages()) {
    const matching = page.filter(({ entry: { uri, classKey } }) => matches(uri.url, classKey));
    if (matching.length === 0) continue;
    const written = await exclusive(async () => {
      await writer.settled();
      const batch = writer.store.batch();
      for (const uri of matching) {
        if (!(await waiting.delete(uri, batch))) continue;
        if (onDeleted !== undefined) writer.after(batch, onDeleted(uri.entry, batch));
        writer.counters.disregarded++;
        deleted++;
      }
      return { done: writer.submit(batch, []) };
    });
    await written.done;
  }
  return deleted;
}

/** Reports of queues in the order of their class keys, with the state in memory if they are in memory. */
export async function queueReports(
  { memory, writer }: Pick<OperatorContext, 'memory' | 'writer'>,
  selection: QueueSelection,
): Promise<QueueReport[]> {
  const { state, after, limit = 100 } = selection;
  const reports: QueueReport[] = [];
  for await (const records of writer.store.queueRecords.pages({ after })) {
    for (const record of records) {
      const report = (memory.queues.get(record.classKey) ?? WorkQueue.restored(record)).report();
      if (state === undefined ? report.count > 0 : report.state === state) reports.push(report);
      if (reports.length >= limit) return reports;
    }
  }
  return reports;
}
