// Retries wait beside their queues: one bad page does not stop its host, and a crash keeps what waits. Over
// real sockets.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import type { QueueReport } from '../../../servers/crawler/control.js';
import type { CrawlControl } from '../../../servers/crawler/index.js';
import { parseCrawlLogLine } from '../../../servers/crawler/logs/crawl-log.js';
import { OfflineCrawl } from '../../../servers/crawler/offline-crawl.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { Gatherer, type GatherReport } from '../../../servers/gatherer/index.js';
import { CliProcess, cli } from '../../helpers/cli.js';
import { freePort } from '../../helpers/daemon.js';
import { until } from '../../helpers/manual-clock.js';
import { type Page, page, Site } from '../../helpers/site.js';

const FAST = { delayFactor: 0, minDelayMs: 0, maxDelayMs: 0 };

/** Crawls a site by an order until it ends or the signal aborts it. */
async function crawl(
  directory: string,
  url: string,
  settings: NonNullable<CrawlOrderInput['settings']>,
  watch: (control: CrawlControl) => void = () => undefined,
  signal = new AbortController().signal,
): Promise<GatherReport> {
  const text = `Gatherer-Name: T\nGatherer-Host: g.example.org\nAccess-Delay: 0\n<RootNodes>\n${url}/ Delay=0\n</RootNodes>\n`;
  await using gatherer = await Gatherer.open({
    directory,
    config: parseGathererConf(text, 'test.cf', {}).config,
    essenceWorkers: 0,
    order: crawlOrderSchema.parse({ settings: { ...FAST, ...settings } }),
    onControl: watch,
  });
  return await gatherer.run(signal);
}

/** Answers with a status, and then with a page. */
function failing(times: number, status: number, headers: Record<string, string> = {}): Page {
  let count = 0;
  return (_, response) => {
    if (count++ < times) response.writeHead(status, headers).end('busy');
    else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Recovered', []));
  };
}

const LINKS = ['/a', '/b', '/c', '/d'];
const PAGES = Object.fromEntries(LINKS.map((path) => [path, page(path, [])]));

/**
 * Whether a crawl would find its only pending URI as a retry if it were killed now, by a copy of its files. A
 * copy that changed meanwhile cannot be opened, or lacks something.
 */
async function keepsRetry(data: string, copy: string): Promise<boolean> {
  try {
    cpSync(data, copy, { recursive: true });
    await using offline = await OfflineCrawl.open(copy);
    return (await offline?.retries())?.length === 1 && (await offline?.snapshot())?.queued === 1;
  } catch {
    return false;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

for (const [name, bad, status] of [
  ['503 without Retry-After', failing(1, 503), 503],
  ['429 without Retry-After', failing(1, 429), 429],
  [
    'a lost connection',
    ((): Page => {
      let count = 0;
      return (_, response) => {
        if (count++ < 1) response.socket?.destroy();
        else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Recovered', []));
      };
    })(),
    -3,
  ],
] as const) {
  t.test(
    `${name}: the host's other pages are fetched while the page waits, and it is reported`,
    async (t) => {
      await using site = await Site.start({ '/': page('Start', ['/bad', ...LINKS]), ...PAGES, '/bad': bad });
      let control: CrawlControl | undefined;
      const run = crawl(t.testdir(), site.url, {}, (running) => {
        control = running;
      });
      await until(() => LINKS.every((path) => site.paths.includes(path)));
      await until(async () => (await control?.retries())?.length === 1);
      const [waiting] = await control!.retries();
      t.match(waiting, { url: `${site.url}/bad`, status, attempts: 1 });
      const failed = site.requests.find(({ path }) => path === '/bad');
      t.ok(waiting!.dueTime - failed!.at >= 10_000, 'by default it waits for a while');
      // The pages beside it may be under way still.
      await until(() => control!.snapshot().queued === 1);
      // CRAWL-5.4 T20: the operator does not wait.
      control!.frontier.forceWake();
      const report = await run;
      t.equal(report.end, 'finished');
      t.equal(site.paths.filter((path) => path === '/bad').length, 2);
      t.equal(report.counts.summarized, 6);
      t.equal(control!.snapshot().queued, 0);
    },
  );
}

t.test('a Retry-After shorter than the usual wait is obeyed as it is', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/bad', ...LINKS]),
    ...PAGES,
    '/bad': failing(1, 503, { 'retry-after': '1' }),
  });
  const report = await crawl(t.testdir(), site.url, {});
  t.equal(report.counts.summarized, 6);
  const [first, second] = site.requests.filter(({ path }) => path === '/bad');
  t.ok(second!.at - first!.at >= 990, `it waits as long as the server asks: ${second!.at - first!.at} ms`);
});

t.test('a server that fails as a whole is left alone', async (t) => {
  const busy: Page = (_, response) => response.writeHead(503).end('busy');
  await using site = await Site.start({
    '/': page('Start', ['/x1', '/x2', '/x3', '/x4', '/x5', '/x6']),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((i) => [`/x${i}`, busy])),
  });
  const stop = new AbortController();
  let control: CrawlControl | undefined;
  const run = crawl(
    t.testdir(),
    site.url,
    { serverFailures: 3 },
    (running) => {
      control = running;
    },
    stop.signal,
  );
  await until(() => control?.snapshot().queues.snoozed === 1 && site.paths.length >= 4);
  t.equal(site.paths.length, 4, 'after three failures in a row its queue sleeps');
  const [queue] = await control!.queues();
  t.ok(queue!.wakeTime - site.requests.at(-1)!.at >= 10_000, 'for a while');
  t.equal(control!.snapshot().queued, 6);
  t.equal((await control!.retries()).length, 2, 'the third stays at the head of its queue');
  stop.abort();
  await t.rejects(run);
});

t.test(
  'a server that never answered has a wait of its own, and one that did has the usual one',
  async (t) => {
    const settings = { retryDelaySeconds: 86_400, unansweredRetryDelaySeconds: 0.01, maxRetries: 3 };
    const url = `http://127.0.0.1:${await freePort()}`;
    const report = await crawl(t.testdir({}), url, settings);
    t.equal(report.end, 'finished');
    t.match(
      report.failedRoots[0]?.reason,
      /^127\.0\.0\.1:\d+: connection refused: /,
      'the server, not robots.txt',
    );

    const stop = new AbortController();
    let control: CrawlControl | undefined;
    const watch = (running: CrawlControl): void => {
      control = running;
    };
    const usual = { ...settings, unansweredRetryDelaySeconds: -1 };
    const run = crawl(t.testdir({}), url, usual, watch, stop.signal);
    await until(() => control?.snapshot().queues.snoozed === 1);
    stop.abort();
    await t.rejects(run, 'by default there is one wait');
  },
);

t.test('the attempts of each kind of failure are limited', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/bad', ...LINKS]),
    ...PAGES,
    '/bad': failing(100, 503),
  });
  const directory = t.testdir();
  const settings = { busyMaxRetries: 3, busyRetryDelaySeconds: 0.02 };
  const report = await crawl(directory, site.url, settings);
  t.equal(report.end, 'finished');
  t.equal(site.paths.filter((path) => path === '/bad').length, 3);
  const log = readFileSync(join(directory, 'crawl', 'logs', 'crawl.log'), 'utf8');
  const line = parseCrawlLogLine(log.split('\n').find((text) => text.includes('/bad'))!);
  t.match(line, { status: 503, annotations: ['3t'] });
});

t.test('a body that cannot be decoded is kept as it is, once, with an annotation', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/bad', ...LINKS]),
    ...PAGES,
    '/bad': (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
        .end(Buffer.from('\x1f\x8b\x08 this is not gzip', 'latin1')),
  });
  const directory = t.testdir();
  const report = await crawl(directory, site.url, {});
  t.equal(report.end, 'finished');
  t.equal(site.paths.filter((path) => path === '/bad').length, 1);
  const log = readFileSync(join(directory, 'crawl', 'logs', 'crawl.log'), 'utf8');
  const line = parseCrawlLogLine(log.split('\n').find((text) => text.includes('/bad'))!);
  t.match(line, { status: 200, size: 20, annotations: ['undecoded'] });
});

t.test('kill -9 while a retry waits: it is kept, and fetched when the crawl continues', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/bad', ...LINKS]),
    ...PAGES,
    '/bad': failing(1, 503),
  });
  const directory = t.testdir();
  const order = join(directory, 'order.json');
  const conf = join(directory, 'test.cf');
  writeFileSync(
    order,
    JSON.stringify({
      seeds: [`${site.url}/`],
      settings: { ...FAST, busyRetryDelaySeconds: 86_400 },
      console: { port: 0 },
    }),
  );
  writeFileSync(
    conf,
    `Gatherer-Name: T\nGatherer-Host: g.example.org\nAccess-Delay: 0\nTop-Directory: ${directory}\nCrawl-Order: ${order}\n`,
  );
  const start = () => new CliProcess(['gatherer', conf, '--data', join(directory, 'data'), '--no-daemon']);
  const killed = start();
  await until(() => LINKS.every((path) => site.paths.includes(path)) && site.paths.includes('/bad'));
  const data = join(directory, 'data');
  while (!(await keepsRetry(data, join(directory, 'copy')))) await pause(100);
  killed.child.kill('SIGKILL');
  await killed.finished;
  t.same(site.paths.filter((path) => path === '/bad').length, 1);
  const continued = start();
  await until(() => continued.stderr.includes('console is'));
  while (site.paths.length < 7) await cli('crawl', 'wake', '--data', data);
  const { code, stderr } = await continued.finished;
  t.equal(code, 0, stderr);
  t.equal(site.paths.filter((path) => path === '/bad').length, 2);
  t.equal(site.paths.length, 7, 'every other page is fetched once');
  await using offline = await OfflineCrawl.open(data);
  t.equal((await offline?.snapshot())?.queued, 0, 'the counters are right');
});

t.test('G-81: what is read of a stopped crawl has no logins', async (t) => {
  const directory = t.testdir({});
  await using site = await Site.start({ '/': page('Root', LINKS), ...PAGES });
  const url = site.url.replace('//', '//reader:planted@');
  await crawl(directory, url, { parallelQueues: 1 }, (control) => control.stop());
  await using offline = await OfflineCrawl.open(directory);
  const queues: QueueReport[] = [];
  for await (const page of offline?.queues() ?? []) queues.push(...page);
  t.match(queues, [{ count: 1, lastQueued: /127\.0\.0\.1/ }]);
  t.notMatch(JSON.stringify(queues), /planted/);
});
