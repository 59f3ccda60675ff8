// An event, a snapshot and their time, for the tests of logs and reports.
import type { CrawlSnapshot } from '../../../servers/crawler/control.js';
import type { DocumentEvent } from '../../../servers/crawler/events.js';
import { FIGURE_ROWS, type Figures } from '../../../servers/crawler/figures.js';

/** 2026-01-02T03:04:05.006Z, in milliseconds. */
export const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

export const EVENT: DocumentEvent = {
  url: 'http://a.test/x',
  status: 200,
  disposition: 'summarized',
  reason: '',
  type: 'HTML',
  bytes: 1234,
  local: false,
  milliseconds: 80,
  warnings: [],
  frontier: {
    queued: 0,
    discovered: 0,
    inProcess: 0,
    queues: 0,
    snoozed: 0,
    succeeded: 0,
    failed: 0,
    disregarded: 0,
    bytes: 0,
  },
  classKey: 'a.test',
  via: 'http://a.test/',
  pathFromSeed: 'L',
  sourceTag: '',
  attempts: 1,
  worker: 7,
  fetchBegin: Date.UTC(2026, 0, 2, 3, 4, 4, 90),
  fetchDuration: 65,
  contentType: 'text/html; charset=utf-8',
  digest: 'sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  annotations: [],
};

/** All figures, for snapshots that give some of them. */
export const NO_FIGURES = Object.fromEntries(FIGURE_ROWS.map(([name]) => [name, 0])) as Figures;

export const SNAPSHOT: CrawlSnapshot = {
  ...NO_FIGURES,
  name: 'test',
  time: TIME,
  state: 'running',
  elapsed: 3725,
  discovered: 120,
  queued: 100,
  inProcess: 2,
  succeeded: 17,
  failed: 1,
  disregarded: 2,
  bytes: 1_500_000,
  documentsPerSecond: 1.256,
  kilobytesPerSecond: 20.4,
  currentDocumentsPerSecond: 2,
  currentKilobytesPerSecond: 31.5,
  workers: 16,
  busyWorkers: 2,
  queues: { exhausted: 1, inactive: 2, ready: 3, 'in-process': 2, snoozed: 4, retired: 1 },
  reasons: { politeness: 3, 'retry-after': 1 },
  congestion: 0.8333,
  deepestQueue: 60,
  averageDepth: 9.1,
  seenFilter: { kind: 'level', count: 120, memoryBytes: 65_536 },
  memoryBytes: 104_857_600,
  heapBytes: 52_428_800,
  diskFreeBytes: -1,
  checkpoint: '',
};
