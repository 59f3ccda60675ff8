// The crawl's logs: the lines of each file, parsing, rotation, and progress lines.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { CrawlSnapshot } from '../../../servers/crawler/control.js';
import { outcomeOf } from '../../../servers/crawler/dispositions.js';
import type { DocumentEvent } from '../../../servers/crawler/events.js';
import { crawlLogLine, parseCrawlLogLine } from '../../../servers/crawler/logs/crawl-log.js';
import { CrawlLogs } from '../../../servers/crawler/logs/crawl-logs.js';
import { PROGRESS_LEGEND, progressLine } from '../../../servers/crawler/logs/progress.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';
import { EVENT, SNAPSHOT, TIME } from './log-fixtures.js';

/** Reads a file of a directory. */
async function text(directory: string, name: string): Promise<string> {
  return readFile(join(directory, name), 'utf8');
}

t.test('CRAWL-16.1 a line has twelve fields, padded to their widths', (t) => {
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

t.test('CRAWL-16.1 fields of sizes, endless fetches, wide numbers, annotated attempts', (t) => {
  const fieldsOf = (change: Partial<DocumentEvent>) =>
    crawlLogLine({ ...EVENT, ...change }, TIME).split(/ +/);
  t.equal(fieldsOf({ bytes: 0 })[2], '0', 'an empty response has the size 0');
  t.equal(fieldsOf({ bytes: 0, status: -2 })[2], '-', 'without a response there is no size');
  t.equal(fieldsOf({ bytes: 12_345_678_901 })[2], '12345678901');
  t.equal(fieldsOf({ fetchDuration: -1 })[8], '-');
  t.equal(fieldsOf({ worker: 1234 })[7], '#1234');
  t.equal(fieldsOf({ contentType: ' ; x' })[6], 'no-type');
  t.equal(fieldsOf({ attempts: 2, annotations: ['2t', 'lenTrunc'] })[11], '2t,lenTrunc');
  t.end();
});

t.test('CRAWL-16.1 property: no value breaks a line, and the line parses back', (t) => {
  const any = fc.string({ minLength: 1, unit: 'binary', maxLength: 40 });
  assertProperty(
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

t.test('CRAWL-8.2 CRAWL-8.4 status and disposition determine the outcome of a returned URI', (t) => {
  const outcome = (status: number, disposition: DocumentEvent['disposition'] = 'failed') =>
    outcomeOf({ status, disposition });
  t.equal(outcome(404), 'succeeded');
  t.equal(outcome(-2), 'failed');
  t.equal(outcome(-2, 'retry'), 'retry');
  t.equal(outcome(401, 'retry'), 'retry');
  t.equal(outcome(0), 'failed');
  t.equal(outcome(-5003), 'failed', 'a URI above its quota');
  for (const status of [-4001, -4002, -5000, -5001, -5002, -6000, -9998])
    t.equal(outcome(status), 'disregarded');
  t.end();
});

t.test('CRAWL-16.3 numbers are right-aligned in the columns of the original', (t) => {
  const line = progressLine(SNAPSHOT);
  const values = '2026-01-02T03:04:05Z 120 100 17 2(1.26) 32(20) 1 2 102400 51200 0.83 60 9'.split(' ');
  const ends = [20, 32, 44, 57, 74, 85, 99, 113, 126, 140, 153, 165, 177];
  const names = (
    'timestamp discovered queued downloaded doc/s(avg) KB/s(avg) dl-failures busy-thread ' +
    'mem-use-KB heap-size-KB congestion max-depth avg-depth'
  ).split(' ');
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
  const root = join(await temporaryDirectory(t), 'logs');
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
  const uriErrors = [
    { url: 'http://[x\ny z', message: 'no host' },
    { url: 'x'.repeat(5000), message: 'too long' },
  ];
  logs.document({ ...EVENT, disposition: 'retry', status: -50, url: 'http://a.test/', uriErrors });
  logs.crawl({ text: 'CRAWL PAUSED\n - operator', alert: false });
  logs.crawl({ text: 'disk is low', alert: true });
  logs.progress(SNAPSHOT);
  await logs.close();

  const crawl = (await text(root, 'crawl.log')).split('\n');
  t.equal(crawl.length, 4, 'a retry has no line');
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
  t.equal(uris[1], `2026-01-02T03:04:05.006Z http://a.test/ "too long" ${'x'.repeat(2083)}…`);
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
  const root = await temporaryDirectory(t);
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
  const current = (await text(root, 'crawl.log')).trim().split('\n');
  t.ok(old.length >= 1000, `${old.length} lines before the rotation`);
  t.same(
    [...old, ...current].map((line) => parseCrawlLogLine(line)?.url),
    [...writing, 'http://a.test/last'],
  );
  for (const name of ['progress-statistics.log', 'progress-statistics.log.cp00001-20260102030405'])
    t.equal(await text(root, name), `${PROGRESS_LEGEND}\n`, 'each file begins with the legend');
});

t.test('CRAWL-16.1 lines are flushed before the close; progress lines are periodic', async (t) => {
  const root = await temporaryDirectory(t);
  const logs = await CrawlLogs.open(root, { flushMs: 5, progressMs: 5 });
  t.teardown(() => logs.close());
  const states: CrawlSnapshot['state'][] = ['paused', 'running'];
  logs.trackProgress(() => ({ ...SNAPSHOT, state: states.shift() ?? 'paused' }));
  logs.document(EVENT);
  const until = async (name: string, lines: number): Promise<string> => {
    let found = '';
    await waitUntil(async () => {
      found = await text(root, name);
      return found.split('\n').length > lines;
    });
    return found;
  };
  t.match(await until('crawl.log', 1), 'http://a.test/x');
  t.equal(await until('progress-statistics.log', 2), `${PROGRESS_LEGEND}\n${progressLine(SNAPSHOT)}\n`);
});
