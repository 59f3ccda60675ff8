// The statistics of a crawl and the reports that are made from them.
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { HostReport, QueueReport } from '../../../servers/crawler/control.js';
import type { CrawlControl } from '../../../servers/crawler/controller.js';
import type { DocumentEvent } from '../../../servers/crawler/events.js';
import {
  frontierLine,
  makeReport,
  queueRows,
  REPORT_KINDS,
  REPORTS,
  writeEndReports,
} from '../../../servers/crawler/logs/reports.js';
import { CrawlStatistics } from '../../../servers/crawler/logs/statistics.js';
import { reportLines } from '../../../servers/crawler/logs/table.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { EVENT, SNAPSHOT, TIME } from './log-fixtures.js';

/** Reads a file of a directory. */
async function text(directory: string, name: string): Promise<string> {
  return readFile(join(directory, name), 'utf8');
}

/** A manual clock: `now` returns milliseconds, `pass` advances it by seconds. */
function manualClock() {
  let now = TIME;
  return {
    now: () => now,
    pass(seconds: number) {
      now += seconds * 1000;
    },
  };
}

t.test('CRAWL-16.5 statistics count outcomes, statuses, types and sources', (t) => {
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
  t.equal(statistics.counters.retries, 1);
  t.same(statistics.mimeTypes.sorted(), [
    { name: 'text/html', uris: 2, bytes: 200 },
    { name: 'no-type', uris: 1, bytes: 0 },
    { name: 'other', uris: 1, bytes: 100 },
  ]);
  t.same(statistics.statuses.sorted(), [
    { name: 'other', uris: 3, bytes: 100 },
    { name: '200', uris: 2, bytes: 200 },
    { name: '304', uris: 1, bytes: 0 },
  ]);
  t.same(statistics.sources.sorted(), [{ name: 'http://s.test/', uris: 2, bytes: 100 }]);
  t.same(statistics.novelty, {
    novel: { uris: 2, bytes: 200 },
    notModified: { uris: 1, bytes: 0 },
    duplicate: { uris: 1, bytes: 100 },
  });
  t.same(statistics.recentErrors(), [{ time: TIME, url: EVENT.url, status: -2, reason: 'refused' }]);
  t.end();
});

t.test('CRAWL-16.3 rates exclude pauses and cover the last twenty seconds', (t) => {
  const { now, pass } = manualClock();
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

t.test('CRAWL-16.5 the last hundred errors are kept; the number of seeds is bounded too', (t) => {
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
  const { now, pass } = manualClock();
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

/** The paths of numbers that are 0 and of empty lists: a test that compares them does not see their loss. */
function untouched(value: unknown, path = ''): string[] {
  if (value === 0 || (Array.isArray(value) && value.length === 0)) return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => untouched(member, `${path}.${name}`));
}

t.test('CRAWL-17.3 no figure is lost between two checkpoints: a document of every outcome', async (t) => {
  const { now, pass } = manualClock();
  const statistics = new CrawlStatistics({ now });
  statistics.resume();
  const documents: readonly Partial<DocumentEvent>[] = [
    { pathFromSeed: '', via: '', url: 'http://s.test/', status: 302, sourceTag: 'http://s.test/' },
    { pathFromSeed: 'R', via: 'http://s.test/', url: 'http://www.s.test/' },
    { annotations: ['lenientHttp'] },
    { annotations: ['duplicate:digest'] },
    { status: 304, annotations: ['duplicate:server-not-modified'] },
    { status: -2, disposition: 'retry' },
    { status: -2, disposition: 'failed', reason: 'refused' },
    { status: -9998, disposition: 'rejected' },
  ];
  for (const document of documents) {
    statistics.document({ ...EVENT, ...document });
    pass(1);
  }
  const stored = statistics.toJSON();
  t.same(untouched(stored), [], 'every figure of a checkpoint was counted');
  t.same(CrawlStatistics.restore(JSON.parse(JSON.stringify(stored)), { now }).toJSON(), stored);
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

t.test('CRAWL-22: the report says why each queue waits, in aligned columns', (t) => {
  const other: QueueReport = {
    ...QUEUE,
    classKey: 'long-name.example',
    state: 'ready',
    count: 5,
    wakeTime: 0,
    totalBudget: 100,
  };
  const { reason: _, ...ready } = other;
  const { title, columns } = REPORTS.queues;
  const rows = queueRows([QUEUE, ready], TIME);
  t.same(reportLines({ title, columns, rows, notes: [] }), [
    'Queues',
    'queue              state    waits for   another  queued  ever  precedence  balance  spent  budget  errors  next or last URI    queued last',
    'a.test             snoozed  politeness      3 s      60    75           3    2,990     15       -       0  http://a.test/next  http://a.test/last',
    'long-name.example  ready    -                 -       5    75           3    2,990     15     100       0  http://a.test/next  http://a.test/last',
  ]);
  t.match(rows, [{ classKey: 'a.test', reason: 'politeness', wait: 2.5 }, { wait: undefined }]);
  t.end();
});

t.test('CRAWL-5.6.7 the frontier is described in one line', (t) => {
  t.equal(
    frontierLine(SNAPSHOT),
    'running: 100 queued in 13 queues; 9 active (2 in-process, 3 ready, 4 snoozed); 2 inactive; 1 retired; 1 exhausted; 120 seen',
  );
  t.end();
});

/** A fake crawl with snoozed queues of these names; `limits` lists the limits of the requests for queues. */
function fakeCrawl(names: readonly string[]): Parameters<typeof makeReport>[1] & { limits: number[] } {
  const limits: number[] = [];
  return {
    limits,
    snapshot: () => ({ ...SNAPSHOT, end: 'finished', queues: { ...SNAPSHOT.queues, snoozed: names.length } }),
    async queues({ state, after = '', limit = 100 } = {}) {
      limits.push(limit);
      const rest = state === 'snoozed' ? names.filter((name) => name > after) : [];
      return rest.slice(0, limit).map((classKey) => ({ ...QUEUE, classKey }));
    },
    servers: { report: () => [HOST] },
    retries: async () => [],
    statistics: {
      recentErrors: () => [{ time: TIME, url: 'http://a.test/e', status: -2, reason: 'refused\nby peer' }],
    },
    chains: (): ReturnType<CrawlControl['chains']> => [{ chain: 'fetch', processor: 'Fetch', uris: 17 }],
  };
}

t.test('CRAWL-16.7 each report has the specified contents', async (t) => {
  const statistics = new CrawlStatistics({ now: () => TIME });
  statistics.document({ ...EVENT, url: 'http://s.test/', pathFromSeed: '', via: '' });
  const lines: Record<string, string[]> = {};
  for (const kind of REPORT_KINDS) {
    const report = await makeReport(kind, fakeCrawl(['a.test']), {
      statistics,
      seeds: ['http://s.test/', 'http://t.test/'],
    });
    lines[kind] = reportLines(report!);
    t.match(lines[kind]?.[0], REPORTS[kind].title);
  }
  t.match(lines.crawl?.join('\n'), /^succeeded +17$/m);
  t.match(lines.crawl?.join('\n'), /^crawling +1 h 2 min$/m);
  t.same(lines.seeds?.slice(2), [
    '   200  crawled      http://s.test/  -',
    '     0  not reached  http://t.test/  -',
  ]);
  t.equal(
    lines.hosts?.[2],
    '15       1            2  1.5 MB       0  2026-01-02T03:04:05Z  a.test  127.0.0.1 ::1',
  );
  t.equal(lines.robots?.[2], 'rules        10 s       2  a.test');
  t.same(lines.source?.slice(1), ['No source tags: the order does not set sourceTagSeeds.']);
  t.equal(lines.mimetype?.[2], '   1  1.2 kB  text/html');
  t.equal(lines.responsecode?.[2], '   1  1.2 kB  200');
  t.equal(lines.processors?.[2], 'fetch  Fetch        17');
  t.equal(lines.frontier?.at(-1), frontierLine({ ...SNAPSHOT, queues: { ...SNAPSHOT.queues, snoozed: 1 } }));
  t.match(lines.frontier?.join('\n'), /^waiting: politeness +3$/m);
  t.match(lines.queues?.[2], /^a\.test +snoozed +politeness /);
  t.equal(lines.errors?.[2], '2026-01-02T03:04:05Z      -2  http://a.test/e  refused by peer');
  t.equal(await makeReport('seeds', fakeCrawl([])), undefined, 'the report of the seeds requires statistics');
});

t.test('CRAWL-6.1 queues are read page by page, up to the limit', async (t) => {
  const names = Array.from({ length: 1300 }, (_, i) => `h${String(i).padStart(5, '0')}.test`);
  const many = fakeCrawl(names);
  const report = await makeReport('queues', many, { state: 'snoozed', limit: 1200 });
  t.same(
    report?.rows.map(({ classKey }) => classKey),
    names.slice(0, 1200),
  );
  t.same(many.limits, [500, 500, 200]);
  t.same(report?.notes, ['1200 of 1300 queues snoozed are shown.']);
  await t.rejects(makeReport('queues', many, { signal: AbortSignal.abort(new Error('stopped')) }), {
    message: 'stopped',
  });
});

t.test('CRAWL-16.7 the end reports are files with a manifest', async (t) => {
  const root = await temporaryDirectory(t);
  const statistics = new CrawlStatistics();
  const paths = await writeEndReports(join(root, 'reports'), fakeCrawl([]), { statistics });
  const manifest = (await text(root, 'reports/crawl-manifest.txt')).trim().split('\n');
  t.same([...manifest, 'crawl-manifest.txt'].sort(), (await readdir(join(root, 'reports'))).sort());
  t.same(
    paths,
    [...manifest, 'crawl-manifest.txt'].map((name) => join(root, 'reports', name)),
  );
  for (const name of 'crawl seeds hosts source mimetype responsecode processors frontier'.split(' '))
    t.ok(manifest.includes(`${name}-report.txt`), name);
  t.match(await text(root, 'reports/crawl-report.txt'), /^ended +finished$/m);
  await appendFile(join(root, 'file'), '');
  await t.rejects(writeEndReports(join(root, 'file'), fakeCrawl([])), { name: 'StorageError' });
});
