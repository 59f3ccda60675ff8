import type {
  CrawlControl,
  CrawlSnapshot,
  CrawlState,
  HostReport,
  QueueReport,
  RecentError,
  WorkerReport,
} from '../../../servers/crawler/control.js';

/** Saturday, 2026-01-31 12:00:00 UTC. */
export const NOW = 1_769_860_800_000;

/** A fake crawl: its fields hold the data that a console shows, `told` the actions that it received. */
export class FakeCrawl implements CrawlControl {
  readonly told: string[] = [];
  state: CrawlState = 'running';
  /** Added to the time of every snapshot. */
  later = 0;
  snapshots = 0;
  change: Partial<CrawlSnapshot> = {};
  list: QueueReport[] = [
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
  busy: WorkerReport[] = [
    { worker: 0, url: 'http://a.example/<script>alert(1)</script>', step: 'fetch', milliseconds: 1500 },
    { worker: 1, url: '', step: '', milliseconds: 0 },
  ];
  failures: RecentError[] = [
    { time: NOW - 65_000, url: 'http://b.example/\u001b[2Jgone', status: -2, reason: 'connection refused' },
  ];
  /** The error of checkpoint(); undefined if it succeeds. */
  checkpointFails: Error | undefined;

  snapshot(): CrawlSnapshot {
    this.snapshots++;
    return {
      name: 'example',
      time: NOW + this.later,
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
      ...this.change,
    };
  }

  async queues(options: Parameters<CrawlControl['queues']>[0] = {}): Promise<QueueReport[]> {
    const { state, after = '', limit = 100 } = options;
    return this.list
      .filter((queue) => (state === undefined || queue.state === state) && queue.classKey > after)
      .slice(0, limit);
  }

  hosts({
    match = '',
    limit = 100,
  }: {
    readonly match?: string;
    readonly limit?: number;
  } = {}): HostReport[] {
    return ['b.example:8080', 'a.example']
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
      }));
  }

  workers(): WorkerReport[] {
    return this.busy;
  }

  recentErrors(): readonly RecentError[] {
    return this.failures;
  }

  chains(): ReturnType<CrawlControl['chains']> {
    return [{ chain: 'fetch', processor: 'http', uris: 1240 }];
  }

  pause(): void {
    this.told.push('pause');
    this.state = 'paused';
  }

  resume(): void {
    this.told.push('resume');
    this.state = 'running';
  }

  stop(): void {
    this.told.push('stop');
    this.state = 'finished';
  }

  async checkpoint(): ReturnType<CrawlControl['checkpoint']> {
    this.told.push('checkpoint');
    if (this.checkpointFails !== undefined) throw this.checkpointFails;
    return {
      name: 'cp00008',
      directory: 'cp00008',
      time: NOW,
      queued: 71,
      succeeded: 1234,
      bytes: 7_500_000,
    };
  }

  forceWake(): void {
    this.told.push('wake');
  }

  async reconsiderRetired(): Promise<number> {
    this.told.push('reconsider');
    return 1;
  }

  async deleteUris(pattern: string, queuePattern?: string): Promise<number> {
    this.told.push(`delete ${pattern} in ${queuePattern ?? 'all'}`);
    return 17;
  }

  killWorker(worker: number): boolean {
    this.told.push(`kill ${worker}`);
    return worker === 0;
  }
}

/** A queue; missing fields are empty. */
export function queue(
  classKey: string,
  said: Partial<QueueReport> & Pick<QueueReport, 'state'>,
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
    ...said,
  };
}
