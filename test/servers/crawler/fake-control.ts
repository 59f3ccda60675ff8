// A crawl that exists only as the fields that a console shows.
import type {
  CrawlSnapshot,
  HostReport,
  QueueReport,
  RecentError,
  WorkerReport,
} from '../../../servers/crawler/control.js';
import type { CrawlControl } from '../../../servers/crawler/controller.js';
import type { CrawlState } from '../../../servers/crawler/states.js';

import { NO_FIGURES } from './log-fixtures.js';

/** Saturday, 2026-01-31 12:00:00 UTC. */
export const NOW = 1_769_860_800_000;

/** A fake crawl: its fields are the data that a console shows; `actions` lists the actions that it received. */
export class FakeCrawl implements CrawlControl {
  readonly actions: string[] = [];
  state: CrawlState = 'running';
  /** Added to the time of every snapshot, in milliseconds. */
  timeOffsetMs = 0;
  snapshots = 0;
  /** Replaces fields of every snapshot. */
  snapshotChanges: Partial<CrawlSnapshot> = {};
  queueReports: QueueReport[] = [
    queue('a.example', { state: 'in-process', count: 12 }),
    queue('b.example', { state: 'snoozed', count: 3, reason: 'politeness', wakeTime: NOW + 4_000 }),
    queue('c.example', { state: 'snoozed', count: 40, reason: 'retry-after', wakeTime: NOW + 200_000 }),
    queue('d.example', { state: 'inactive', count: 7, reason: 'backlog' }),
    queue('e.example', {
      state: 'retired',
      count: 9,
      reason: 'total-budget',
      totalBudget: 100,
      totalExpenditure: 104,
    }),
  ];
  workerReports: WorkerReport[] = [
    { worker: 0, url: 'http://a.example/<script>alert(1)</script>', step: 'fetch', milliseconds: 1500 },
    { worker: 1, url: '', step: '', milliseconds: 0 },
  ];
  errorReports: RecentError[] = [
    { time: NOW - 65_000, url: 'http://b.example/\u001b[2Jgone', status: -2, reason: 'connection refused' },
  ];
  /** The error of checkpoint(); undefined if it succeeds. */
  checkpointError: Error | undefined;

  overview(): CrawlSnapshot {
    return this.snapshot();
  }

  snapshot(): CrawlSnapshot {
    this.snapshots++;
    return {
      ...NO_FIGURES,
      name: 'example',
      time: NOW + this.timeOffsetMs,
      state: this.state,
      elapsed: 3725,
      discovered: 2000,
      queued: 71,
      inProcess: 1,
      succeeded: 1234,
      failed: 5,
      disregarded: 6,
      bytes: 7_500_000,
      documentsPerSecond: 10.5,
      kilobytesPerSecond: 99.5,
      currentDocumentsPerSecond: 12,
      currentKilobytesPerSecond: 130,
      workers: 2,
      busyWorkers: 1,
      queues: { exhausted: 11, inactive: 1, ready: 0, 'in-process': 1, snoozed: 2, retired: 1 },
      reasons: { politeness: 1, 'retry-after': 1 },
      congestion: 1.5,
      deepestQueue: 40,
      averageDepth: 14.2,
      seenFilter: { kind: 'level', count: 2000, memoryBytes: 64_000 },
      memoryBytes: 120_000_000,
      heapBytes: 60_000_000,
      diskFreeBytes: 5_000_000_000,
      checkpoint: 'cp00007',
      ...this.snapshotChanges,
    };
  }

  async queues(options: Parameters<CrawlControl['queues']>[0] = {}): Promise<QueueReport[]> {
    const { state, after = '', limit = 100 } = options;
    return this.queueReports
      .filter((queue) => (state === undefined || queue.state === state) && queue.classKey > after)
      .slice(0, limit);
  }

  readonly servers: CrawlControl['servers'] = {
    report: ({ match = '', limit = 100 } = {}): HostReport[] =>
      ['b.example:8080', 'a.example']
        .filter((server) => server.includes(match))
        .slice(0, limit)
        .map((server) => ({
          server,
          addresses: ['192.0.2.1'],
          robots: 'rules',
          crawlDelay: 7,
          successes: 600,
          failures: 2,
          disregarded: 1,
          robotsDenials: 3,
          bytes: 3_000_000,
          connectionErrors: 1,
          lastContact: NOW - 12_000,
        })),
  };

  async retries(): ReturnType<CrawlControl['retries']> {
    return [
      {
        url: 'http://busy.example.org/page',
        classKey: 'busy.example.org',
        status: 503,
        attempts: 2,
        dueTime: this.snapshot().time + 60_000,
        reason: 'status 503',
      },
    ];
  }

  readonly workers: CrawlControl['workers'] = {
    reports: () => this.workerReports,
    kill: (worker) => {
      this.actions.push(`kill ${worker}`);
      return worker === 0;
    },
  };

  readonly statistics: CrawlControl['statistics'] = { recentErrors: () => this.errorReports };

  chains(): ReturnType<CrawlControl['chains']> {
    return [{ chain: 'fetch', processor: 'http', uris: 1240 }];
  }

  pause(): void {
    this.actions.push('pause');
    this.state = 'paused';
  }

  resume(): void {
    this.actions.push('resume');
    this.state = 'running';
  }

  stop(): void {
    this.actions.push('stop');
    this.state = 'finished';
  }

  async checkpoint(): ReturnType<CrawlControl['checkpoint']> {
    this.actions.push('checkpoint');
    if (this.checkpointError !== undefined) throw this.checkpointError;
    return {
      name: 'cp00008',
      directory: 'cp00008',
      time: NOW,
      queued: 71,
      succeeded: 1234,
      bytes: 7_500_000,
    };
  }

  readonly frontier: CrawlControl['frontier'] = {
    forceWake: () => {
      this.actions.push('wake');
    },
    reconsiderRetired: async () => {
      this.actions.push('reconsider');
      return 1;
    },
  };

  async deleteUris(pattern: string, queuePattern?: string): Promise<number> {
    this.actions.push(`delete ${pattern} in ${queuePattern ?? 'all'}`);
    return 17;
  }
}

/** Returns a report of a queue; the fields that `fields` omits have default values. */
export function queue(
  classKey: string,
  fields: Partial<QueueReport> & Pick<QueueReport, 'state'>,
): QueueReport {
  return {
    classKey,
    count: 0,
    enqueued: 100,
    wakeTime: 0,
    precedence: 1,
    sessionBalance: 10,
    totalExpenditure: 30,
    totalBudget: -1,
    errors: 0,
    lastPeeked: `http://${classKey}/last`,
    lastQueued: `http://${classKey}/newest`,
    ...fields,
  };
}
