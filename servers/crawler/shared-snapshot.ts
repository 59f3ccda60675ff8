// The snapshot of a crawl that several processes share, from those of each.
import type { CrawlProcess, CrawlSnapshot } from './control.js';
import type { FigureName } from './figures.js';

/** A process that shares the crawl. */
export interface ProcessSnapshot {
  readonly name: string;
  /** Parts of the queues that it has. */
  readonly partitions: number;
  readonly snapshot: CrawlSnapshot;
}

const SUMS = [
  'discovered',
  'queued',
  'inProcess',
  'succeeded',
  'failed',
  'disregarded',
  'bytes',
  'documentsPerSecond',
  'kilobytesPerSecond',
  'currentDocumentsPerSecond',
  'currentKilobytesPerSecond',
  'workers',
  'busyWorkers',
] as const satisfies readonly FigureName[];
const GREATEST = ['elapsed', 'deepestQueue'] as const satisfies readonly FigureName[];
const MEANS = ['congestion', 'averageDepth'] as const satisfies readonly FigureName[];

/**
 * The snapshot of all processes. Memory, disk, state and seen filter are those of the own one, the first.
 *
 * @param processes the own one first
 */
export function sharedSnapshot(processes: readonly [ProcessSnapshot, ...ProcessSnapshot[]]): CrawlSnapshot {
  const snapshots = processes.map(({ snapshot }) => snapshot);
  const figures: Partial<Record<FigureName, number>> = {};
  const sum = (name: FigureName): number => snapshots.reduce((total, each) => total + each[name], 0);
  for (const name of SUMS) figures[name] = sum(name);
  for (const name of GREATEST) figures[name] = Math.max(...snapshots.map((each) => each[name]));
  for (const name of MEANS) figures[name] = sum(name) / snapshots.length;
  const [{ snapshot: own }] = processes;
  return {
    ...own,
    ...figures,
    queues: sumsOf(snapshots.map(({ queues }) => queues)) as CrawlSnapshot['queues'],
    reasons: sumsOf(snapshots.map(({ reasons }) => reasons)),
    processes: processes.map(reportOf).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function reportOf({ name, partitions, snapshot }: ProcessSnapshot): CrawlProcess {
  const { state, succeeded, queued, busyWorkers, workers } = snapshot;
  const { currentDocumentsPerSecond, currentKilobytesPerSecond } = snapshot;
  return {
    ...{ name, partitions, state, succeeded, queued, busyWorkers, workers },
    ...{ currentDocumentsPerSecond, currentKilobytesPerSecond },
  };
}

function sumsOf(counts: readonly Readonly<Record<string, number | undefined>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const each of counts)
    for (const [name, count = 0] of Object.entries(each)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}
