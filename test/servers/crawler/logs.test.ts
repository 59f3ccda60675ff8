import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type {
  CrawlControl,
  CrawlSnapshot,
  HostReport,
  QueueReport,
} from '../../../servers/crawler/control.js';
import type { DocumentEvent } from '../../../servers/crawler/events.js';
import {
  CrawlLogs,
  CrawlStatistics,
  crawlLogLine,
  frontierLine,
  humanBytes,
  humanSeconds,
  makeReport,
  outcomeOf,
  PROGRESS_LEGEND,
  parseCrawlLogLine,
  progressLine,
  queuesReport,
  REPORT_KINDS,
  reportJson,
  reportLines,
  writeEndReports,
} from '../../../servers/crawler/logs/index.js';

const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

const EVENT: DocumentEvent = {
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

const SNAPSHOT: CrawlSnapshot = {
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

async function directory(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'harvest-logs-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function text(directory: string, name: string): Promise<string> {
  return readFile(join(directory, name), 'utf8');
}

t.test('CRAWL-16.1 a line has twelve fields in their widths', (t) => {
  t.equal(
    crawlLogLine(EVENT, TIME),
    '2026-01-02T03:04:05.006Z   200       1234 http://a.test/x L http://a.test/ text/html #007 20260102030404090+65 sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA - -',
  );
  const bare: DocumentEvent = {
    ...EVENT,
    status: -9998,
    disposition: 'rejected',
    bytes: 0,
    pathFromSeed: '',
    via: '',
    contentType: '',
    worker: 0,
    fetchBegin: 0,
    fetchDuration: -1,
    digest: '',
    sourceTag: 'http://a.test/',
    attempts: 3,
    annotations: ['robotExcluded', 'dol:12'],
  };
  t.equal(
    crawlLogLine(bare, TIME),
    '2026-01-02T03:04:05.006Z -9998          - http://a.test/x - - no-type #000 - - http://a.test/ 3t,robotExcluded,dol:12',
  );
  t.end();
});

t.test('CRAWL-16.1 sizes, fetches without an end, wide worker numbers, annotated attempts', (t) => {
  const fieldsOf = (change: Partial<DocumentEvent>) =>
    crawlLogLine({ ...EVENT, ...change }, TIME).split(/ +/);
  t.equal(fieldsOf({ bytes: 0 })[2], '0', 'an empty answer');
  t.equal(fieldsOf({ bytes: 0, status: -2 })[2], '-', 'no answer');
  t.equal(fieldsOf({ bytes: 12_345_678_901 })[2], '12345678901');
  t.equal(fieldsOf({ fetchDuration: -1 })[8], '-');
  t.equal(fieldsOf({ worker: 1234 })[7], '#1234');
  t.equal(fieldsOf({ contentType: ' ; x' })[6], 'no-type');
  t.equal(fieldsOf({ attempts: 2, annotations: ['2t', 'lenTrunc'] })[11], '2t,lenTrunc');
  t.end();
});

t.test('CRAWL-16.1 property: no value breaks a line, and the line parses back', (t) => {
  const any = fc.string({ minLength: 1, unit: 'binary', maxLength: 40 });
  fc.assert(
    fc.property(
      any,
      any,
      any,
      fc.array(any, { maxLength: 3 }),
      any,
      (url, via, contentType, annotations, digest) => {
        const line = crawlLogLine({ ...EVENT, url, via, contentType, annotations, digest }, TIME);
        const entry = parseCrawlLogLine(line);
        if (/[\r\n\u0085\u2028\u2029]/.test(line) || line.trimEnd().split(/ +/).length !== 12) return false;
        if (entry === undefined || entry.annotations.length !== annotations.length) return false;
        return (/[\s\p{C}]/u.test(url) || url === '-' || entry.url === url) && entry.worker === 7;
      },
    ),
    { numRuns: 200 },
  );
  t.same(parseCrawlLogLine(crawlLogLine({ ...EVENT, attempts: 2, annotations: ['a,b'] }, TIME)), {
    time: TIME,
    status: 200,
    size: 1234,
    url: 'http://a.test/x',
    pathFromSeed: 'L',
    via: 'http://a.test/',
    mimeType: 'text/html',
    worker: 7,
    fetchBegin: EVENT.fetchBegin,
    fetchDuration: 65,
    digest: EVENT.digest,
    sourceTag: '',
    annotations: ['2t', 'a%2Cb'],
  });
  for (const line of [
    '',
    'x',
    'a b c d e f g h i j k l',
    '2026-01-02T03:04:05.006Z 200 x http://a.test/ - - t #1 - - - -',
  ])
    t.equal(parseCrawlLogLine(line), undefined, line);
  t.end();
});

t.test('CRAWL-8.2 CRAWL-8.4 the outcome of a returned URI', (t) => {
  const of = (status: number, disposition: DocumentEvent['disposition'] = 'failed') =>
    outcomeOf({ status, disposition });
  t.equal(of(404), 'succeeded');
  t.equal(of(-2), 'failed');
  t.equal(of(-2, 'retry'), 'retry');
  t.equal(of(401, 'retry'), 'retry');
  t.equal(of(0), 'failed');
  t.equal(of(-5003), 'failed', 'quota');
  for (const status of [-4001, -4002, -5000, -5001, -5002, -6000, -9998]) t.equal(of(status), 'disregarded');
  t.end();
});

t.test('CRAWL-16.3 figures are right-aligned in the columns of the original', (t) => {
  const line = progressLine(SNAPSHOT);
  const values = [
    '2026-01-02T03:04:05Z',
    '120',
    '100',
    '17',
    '2(1.26)',
    '32(20)',
    '1',
    '2',
    '102400',
    '51200',
    '0.83',
    '60',
    '9',
  ];
  const ends = [20, 32, 44, 57, 74, 85, 99, 113, 126, 140, 153, 165, 177];
  const names = [
    'timestamp',
    'discovered',
    'queued',
    'downloaded',
    'doc/s(avg)',
    'KB/s(avg)',
    'dl-failures',
    'busy-thread',
    'mem-use-KB',
    'heap-size-KB',
    'congestion',
    'max-depth',
    'avg-depth',
  ];
  for (const [i, end] of ends.entries()) {
    t.equal(line.slice(0, end).split(' ').at(-1), values[i]);
    t.equal(PROGRESS_LEGEND.slice(0, end).split(' ').at(-1), names[i]);
  }
  t.equal(line.length, 177);
  const wide = progressLine({ ...SNAPSHOT, discovered: 123_456_789_012_345, congestion: Number.NaN });
  t.match(wide, /^2026-01-02T03:04:05Z 123456789012345 +100 /);
  t.equal(wide.trim().split(/ +/).length, 13);
  t.end();
});

t.test('CRAWL-16.1 CRAWL-16.4 every event goes into its log', async (t) => {
  const root = join(await directory(t), 'logs');
  const logs = await CrawlLogs.open(root, { now: () => TIME });
  logs.document(EVENT);
  logs.document({
    ...EVENT,
    status: -2,
    disposition: 'retry',
    reason: 'connect "refused"\nby peer',
    attempts: 4,
  });
  logs.document({ ...EVENT, status: -50, disposition: 'retry', reason: 'robots.txt comes first' });
  logs.document({
    ...EVENT,
    url: 'http://a.test/bad',
    status: -5,
    disposition: 'failed',
    reason: 'Extract: boom',
    bytes: 0,
  });
  logs.document({ ...EVENT, url: 'http://a.test/w', warnings: ['unknown charset'] });
  logs.uriError({ url: 'http://[x\ny z', source: 'http://a.test/', message: 'no host' });
  logs.uriError({ url: 'x'.repeat(5000), source: '', message: 'too long' });
  logs.crawl({ text: 'CRAWL PAUSED\n - operator', alert: false });
  logs.crawl({ text: 'disk is low', alert: true });
  logs.progress(SNAPSHOT);
  await logs.close();

  const crawl = (await text(root, 'crawl.log')).split('\n');
  t.equal(crawl.length, 4, 'retries are not disposed');
  t.equal(crawl[0], crawlLogLine(EVENT, TIME));
  t.match(crawl[1], / {4}-5 {10}- http:\/\/a\.test\/bad /);
  t.equal(
    await text(root, 'local-errors.log'),
    '2026-01-02T03:04:05.006Z    -2 4t http://a.test/x L http://a.test/ "connect \\"refused\\"\\nby peer"\n' +
      '2026-01-02T03:04:05.006Z   200 1t http://a.test/w L http://a.test/ "unknown charset"\n',
  );
  t.equal(
    await text(root, 'runtime-errors.log'),
    '2026-01-02T03:04:05.006Z    -5 1t http://a.test/bad L http://a.test/ "Extract: boom"\n',
  );
  const uris = (await text(root, 'uri-errors.log')).split('\n');
  t.equal(uris[0], '2026-01-02T03:04:05.006Z http://a.test/ "no host" http://[x%0Ay%20z');
  t.equal(uris[1], `2026-01-02T03:04:05.006Z - "too long" ${'x'.repeat(2083)}…`);
  t.equal(await text(root, 'alerts.log'), '2026-01-02T03:04:05.006Z disk is low\n');
  t.same((await text(root, 'progress-statistics.log')).split('\n'), [
    PROGRESS_LEGEND,
    '2026-01-02T03:04:05Z CRAWL PAUSED - operator',
    '2026-01-02T03:04:05Z disk is low',
    progressLine(SNAPSHOT),
    '',
  ]);
});

t.test('CRAWL-16.4 logs rotate at a checkpoint, lose nothing, and continue when reopened', async (t) => {
  const root = await directory(t);
  const logs = await CrawlLogs.open(root);
  const writing: string[] = [];
  const write = (i: number): void => {
    writing.push(`http://a.test/${i}`);
    logs.document({ ...EVENT, url: `http://a.test/${i}` });
  };
  for (let i = 0; i < 1000; i++) write(i);
  const rotation = logs.rotate('cp00001-20260102030405');
  for (let i = 1000; i < 1500; i++) write(i);
  t.equal((await rotation).length, 6);
  for (let i = 1500; i < 2000; i++) write(i);
  await t.rejects(logs.rotate('cp00001-20260102030405'), { name: 'StateError' });
  await t.rejects(logs.rotate('a/b'), { name: 'TypeError' });
  await logs.close();
  const again = await CrawlLogs.open(root);
  again.document({ ...EVENT, url: 'http://a.test/last' });
  await again[Symbol.asyncDispose]();

  const old = (await text(root, 'crawl.log.cp00001-20260102030405')).trim().split('\n');
  const young = (await text(root, 'crawl.log')).trim().split('\n');
  t.ok(old.length >= 1000, `${old.length} lines before the rotation`);
  t.same(
    [...old, ...young].map((line) => parseCrawlLogLine(line)?.url),
    [...writing, 'http://a.test/last'],
  );
  for (const name of ['progress-statistics.log', 'progress-statistics.log.cp00001-20260102030405'])
    t.equal(await text(root, name), `${PROGRESS_LEGEND}\n`, 'each file has its legend once');
});

t.test('CRAWL-16.1 lines are written without a close; progress lines are written periodically', async (t) => {
  const root = await directory(t);
  const logs = await CrawlLogs.open(root, { flushMs: 5, progressMs: 5 });
  t.teardown(() => logs.close());
  const states: CrawlSnapshot['state'][] = ['paused', 'running'];
  logs.trackProgress(() => ({ ...SNAPSHOT, state: states.shift() ?? 'paused' }));
  logs.document(EVENT);
  const until = async (name: string, lines: number): Promise<string> => {
    for (;;) {
      const found = await text(root, name);
      if (found.split('\n').length > lines) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  t.match(await until('crawl.log', 1), 'http://a.test/x');
  t.equal(await until('progress-statistics.log', 2), `${PROGRESS_LEGEND}\n${progressLine(SNAPSHOT)}\n`);
});

/** A manual clock, milliseconds. */
function clock() {
  let now = TIME;
  return {
    now: () => now,
    pass(seconds: number) {
      now += seconds * 1000;
    },
  };
}

t.test('CRAWL-16.5 counters, statuses, types and sources', (t) => {
  const statistics = new CrawlStatistics({ now: () => TIME, namesLimit: 2 });
  const event = (change: Partial<DocumentEvent>) => statistics.document({ ...EVENT, bytes: 100, ...change });
  event({ sourceTag: 'http://s.test/' });
  event({ contentType: 'TEXT/HTML', annotations: ['duplicate:digest'] });
  event({ status: 304, bytes: 0, contentType: '', annotations: ['duplicate:server-not-modified'] });
  event({ status: 404, contentType: 'text/plain' });
  event({ status: -2, disposition: 'retry', bytes: 0 });
  event({ status: -2, disposition: 'failed', bytes: 0, reason: 'refused', sourceTag: 'http://s.test/' });
  event({ status: -9998, disposition: 'rejected', bytes: 0 });
  const { succeeded, failed, disregarded, bytes, elapsed, documentsPerSecond } = statistics.figures();
  t.same(
    { succeeded, failed, disregarded, bytes, elapsed, documentsPerSecond },
    {
      succeeded: 4,
      failed: 1,
      disregarded: 1,
      bytes: 300,
      elapsed: 0,
      documentsPerSecond: 0,
    },
  );
  t.equal(statistics.retries, 1);
  t.same(statistics.mimeTypes(), [
    { name: 'text/html', uris: 2, bytes: 200 },
    { name: 'no-type', uris: 1, bytes: 0 },
    { name: 'other', uris: 1, bytes: 100 },
  ]);
  t.same(statistics.responseCodes(), [
    { name: 'other', uris: 3, bytes: 100 },
    { name: '200', uris: 2, bytes: 200 },
    { name: '304', uris: 1, bytes: 0 },
  ]);
  t.same(statistics.sources(), [{ name: 'http://s.test/', uris: 2, bytes: 100 }]);
  t.same(statistics.novelty, {
    novel: { uris: 2, bytes: 200 },
    notModified: { uris: 1, bytes: 0 },
    duplicate: { uris: 1, bytes: 100 },
  });
  t.same(statistics.recentErrors(), [{ time: TIME, url: EVENT.url, status: -2, reason: 'refused' }]);
  t.end();
});

t.test('CRAWL-16.3 rates exclude pauses and cover the last twenty seconds', (t) => {
  const { now, pass } = clock();
  const statistics = new CrawlStatistics({ now });
  const documents = (count: number): void => {
    for (let i = 0; i < count; i++) statistics.document({ ...EVENT, bytes: 1024 });
  };
  pass(50);
  statistics.resume();
  documents(10);
  t.equal(statistics.figures().currentDocumentsPerSecond, 10, 'the first second is not extrapolated');
  pass(10);
  t.equal(statistics.figures().currentDocumentsPerSecond, 1);
  statistics.pause();
  pass(3600);
  t.equal(statistics.figures().elapsed, 10);
  statistics.resume();
  statistics.resume();
  pass(20);
  documents(39);
  const figures = statistics.figures();
  t.equal(figures.elapsed, 30);
  // From second 11 to second 30: the first ten documents are too old.
  t.equal(figures.currentDocumentsPerSecond, 39 / 19);
  t.equal(figures.currentKilobytesPerSecond, 39 / 19);
  t.equal(figures.documentsPerSecond, 49 / 30);
  t.equal(figures.kilobytesPerSecond, 49 / 30);
  t.end();
});

t.test('CRAWL-16.5 recent errors are the last hundred; seeds are bounded too', (t) => {
  const statistics = new CrawlStatistics({ now: () => TIME, seedsLimit: 2 });
  for (let i = 0; i < 250; i++)
    statistics.document({
      ...EVENT,
      url: `http://a.test/${i}`,
      status: -4,
      disposition: 'failed',
      pathFromSeed: '',
    });
  const errors = statistics.recentErrors();
  t.equal(errors.length, 100);
  t.equal(errors[0]?.url, 'http://a.test/249');
  t.equal(errors[99]?.url, 'http://a.test/150');
  t.equal(statistics.seeds().length, 2);
  t.end();
});

t.test('CRAWL-17.3 statistics continue from a checkpoint, and refuse an invalid one', (t) => {
  const { now, pass } = clock();
  const first = new CrawlStatistics({ now });
  first.resume();
  pass(7);
  first.document({ ...EVENT, pathFromSeed: '', via: '', url: 'http://s.test/', status: 302 });
  first.document({ ...EVENT, pathFromSeed: 'R', via: 'http://s.test/', url: 'http://www.s.test/' });
  first.document({ ...EVENT, status: -4, disposition: 'failed' });
  const stored: unknown = JSON.parse(JSON.stringify(first));
  pass(100);
  const second = CrawlStatistics.restore(stored, { now });
  t.same(second.toJSON(), stored);
  t.equal(second.figures().elapsed, 7);
  second.resume();
  pass(1);
  second.document(EVENT);
  t.equal(second.figures().elapsed, 8);
  t.equal(second.figures().succeeded, 3);
  t.same(second.seeds(), [
    { url: 'http://s.test/', status: 302, disposed: true, redirect: 'http://www.s.test/' },
  ]);
  t.throws(() => CrawlStatistics.restore({ version: 1 }), { name: 'StorageError' });
  t.throws(() => CrawlStatistics.restore(undefined), { name: 'StorageError' });
  t.end();
});

const QUEUE: QueueReport = {
  classKey: 'a.test',
  state: 'snoozed',
  count: 60,
  enqueued: 75,
  reason: 'politeness',
  wakeTime: TIME + 2500,
  precedence: 3,
  sessionBalance: 2990,
  totalExpenditure: 15,
  totalBudget: -1,
  errors: 0,
  lastPeeked: 'http://a.test/next',
  lastQueued: 'http://a.test/last',
};

const HOST: HostReport = {
  server: 'a.test',
  addresses: ['127.0.0.1', '::1'],
  robots: 'rules',
  crawlDelay: 10,
  successes: 15,
  failures: 1,
  disregarded: 2,
  robotsDenials: 2,
  bytes: 1_500_000,
  connectionErrors: 0,
  lastContact: TIME,
};

t.test('CRAWL-22 pain 3: the report says why each queue waits, in aligned columns', (t) => {
  const other: QueueReport = {
    ...QUEUE,
    classKey: 'long-name.example',
    state: 'ready',
    count: 5,
    wakeTime: 0,
    totalBudget: 100,
  };
  const { reason: _, ...ready } = other;
  const report = queuesReport([QUEUE, ready], TIME);
  t.same(reportLines(report), [
    'Queues',
    'queue              state    waits for   another  queued  ever  precedence  balance  spent  budget  errors  next or last URI    queued last',
    'a.test             snoozed  politeness     2.5s      60    75           3     2990     15       -       0  http://a.test/next  http://a.test/last',
    'long-name.example  ready    -                 -       5    75           3     2990     15     100       0  http://a.test/next  http://a.test/last',
  ]);
  const narrow = reportLines(report, { width: 130 });
  t.ok(narrow.every((line) => line.length <= 130));
  t.match(narrow[2], /^a\.test +snoozed +politeness +2\.5s .* http:\S+… {2}http:\S+…$/);
  t.ok(reportLines(report, { width: 20 }).every((line) => line.length <= 20));
  t.match(reportJson(report), {
    report: 'queues',
    rows: [{ classKey: 'a.test', reason: 'politeness', wait: 2.5 }, { wait: undefined }],
  });
  t.end();
});

t.test('CRAWL-5.6.7 the frontier in one line, and human units', (t) => {
  t.equal(
    frontierLine(SNAPSHOT),
    'running: 100 queued in 13 queues; 9 active (2 in-process, 3 ready, 4 snoozed); 2 inactive; 1 retired; 1 exhausted; 120 seen',
  );
  t.same([0, 999, 1000, 1536, 10_240, 1_048_575, 5e9].map(humanBytes), [
    '0 B',
    '999 B',
    '1.0 KiB',
    '1.5 KiB',
    '10 KiB',
    '1.0 MiB',
    '4.7 GiB',
  ]);
  t.same([0, 0.44, 9.94, 9.96, 59.4, 59.6, 185, 3600, 7505, 356_400].map(humanSeconds), [
    '0s',
    '0.4s',
    '9.9s',
    '10s',
    '59s',
    '1m00s',
    '3m05s',
    '1h00m',
    '2h05m',
    '4d03h',
  ]);
  t.end();
});

/** A read-only crawl; `names` are its queues. */
function control(names: readonly string[]): Parameters<typeof makeReport>[1] & { asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    snapshot: () => ({ ...SNAPSHOT, end: 'finished', queues: { ...SNAPSHOT.queues, snoozed: names.length } }),
    async queues({ state, after = '', limit = 100 } = {}) {
      asked.push(limit);
      const behind = state === 'snoozed' ? names.filter((name) => name > after) : [];
      return behind.slice(0, limit).map((classKey) => ({ ...QUEUE, classKey }));
    },
    hosts: () => [HOST],
    workers: () => [{ worker: 1, url: 'http://a.test/w', step: 'Fetch', milliseconds: 1500 }],
    recentErrors: () => [{ time: TIME, url: 'http://a.test/e', status: -2, reason: 'refused\nby peer' }],
    chains: (): ReturnType<CrawlControl['chains']> => [{ chain: 'fetch', processor: 'Fetch', uris: 17 }],
  };
}

t.test('CRAWL-16.7 the contents of each report', async (t) => {
  const statistics = new CrawlStatistics({ now: () => TIME });
  statistics.document({ ...EVENT, url: 'http://s.test/', pathFromSeed: '', via: '' });
  const lines: Record<string, string[]> = {};
  for (const kind of REPORT_KINDS) {
    const report = await makeReport(kind, control(['a.test']), {
      statistics,
      seeds: ['http://s.test/', 'http://t.test/'],
    });
    lines[kind] = reportLines(report!);
    t.equal(report?.kind, kind);
  }
  t.match(lines.crawl?.join('\n'), /^succeeded +17$/m);
  t.match(lines.crawl?.join('\n'), /^crawling +1h02m$/m);
  t.same(lines.seeds?.slice(2), [
    '   200  crawled      http://s.test/  -',
    '     0  not reached  http://t.test/  -',
  ]);
  t.equal(
    lines.hosts?.[2],
    '15       1            2  1.4 MiB       0  2026-01-02T03:04:05Z  a.test  127.0.0.1 ::1',
  );
  t.equal(lines.robots?.[2], 'rules         10s       2  a.test');
  t.same(lines.source?.slice(1), ['No source tags: the order does not set sourceTagSeeds.']);
  t.equal(lines.mimetype?.[2], '   1  1.2 KiB  text/html');
  t.equal(lines.responsecode?.[2], '   1  1.2 KiB  200');
  t.equal(lines.processors?.[2], 'fetch  Fetch        17');
  t.equal(lines.frontier?.at(-1), frontierLine({ ...SNAPSHOT, queues: { ...SNAPSHOT.queues, snoozed: 1 } }));
  t.match(lines.frontier?.join('\n'), /^waiting: politeness +3$/m);
  t.match(lines.queues?.[2], /^a\.test +snoozed +politeness /);
  t.match(lines.workers?.[2], /^ +1 +1\.5s {2}Fetch +http:\/\/a\.test\/w$/);
  t.equal(lines.errors?.[2], '2026-01-02T03:04:05Z      -2  http://a.test/e  refused by peer');
  t.match(lines.seen?.join('\n'), /^memory of the filter +64 KiB$/m);
  t.equal(await makeReport('seeds', control([])), undefined, 'needs statistics');
});

t.test('CRAWL-6.1 queues are read page by page, up to the limit', async (t) => {
  const names = Array.from({ length: 1300 }, (_, i) => `h${String(i).padStart(5, '0')}.test`);
  const many = control(names);
  const report = await makeReport('queues', many, { state: 'snoozed', limit: 1200 });
  t.same(
    report?.rows.map(({ classKey }) => classKey),
    names.slice(0, 1200),
  );
  t.same(many.asked, [500, 500, 200]);
  t.same(report?.notes, ['1200 of 1300 queues snoozed are shown.']);
  await t.rejects(makeReport('queues', many, { signal: AbortSignal.abort(new Error('stopped')) }), {
    message: 'stopped',
  });
});

t.test('CRAWL-16.7 the end reports are files with a manifest', async (t) => {
  const root = await directory(t);
  const statistics = new CrawlStatistics();
  const paths = await writeEndReports(join(root, 'reports'), control([]), { statistics });
  const manifest = (await text(root, 'reports/crawl-manifest.txt')).trim().split('\n');
  t.same([...manifest, 'crawl-manifest.txt'].sort(), (await readdir(join(root, 'reports'))).sort());
  t.same(
    paths,
    [...manifest, 'crawl-manifest.txt'].map((name) => join(root, 'reports', name)),
  );
  for (const name of [
    'crawl',
    'seeds',
    'hosts',
    'source',
    'mimetype',
    'responsecode',
    'processors',
    'frontier',
  ])
    t.ok(manifest.includes(`${name}-report.txt`), name);
  t.match(await text(root, 'reports/crawl-report.txt'), /^ended +finished$/m);
  await appendFile(join(root, 'file'), '');
  await t.rejects(writeEndReports(join(root, 'file'), control([])), { name: 'StorageError' });
});
