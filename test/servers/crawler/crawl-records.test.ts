// What a crawl tells about itself: each line and each count once, after kills, in another run and of cut
// documents.
import { copyFileSync, cpSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import type { CrawlControl } from '../../../servers/crawler/index.js';
import { parseCrawlLogLine } from '../../../servers/crawler/logs/crawl-log.js';
import { CrawlLogs } from '../../../servers/crawler/logs/crawl-logs.js';
import { CrawlStatistics } from '../../../servers/crawler/logs/statistics.js';
import {
  recoverEvents,
  StoredEvents,
  type StoredEventsOptions,
} from '../../../servers/crawler/logs/stored-events.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { Gatherer, type GathererOptions } from '../../../servers/gatherer/index.js';
import { GathererStore } from '../../../storage/index.js';
import { page, Site } from '../../helpers/site.js';
import { EVENT } from './log-fixtures.js';

const never = new AbortController().signal;

/** Runs a crawl of the site once, by an order that crawls as fast as possible. */
async function crawl(
  directory: string,
  site: Site,
  order: CrawlOrderInput = {},
  extra: Partial<GathererOptions> & { readonly text?: string } = {},
): Promise<void> {
  const { text = '', ...options } = extra;
  const { config } = parseGathererConf(
    `Gatherer-Name: Test\nGatherer-Host: g.example.org\nAccess-Delay: 0\n${text}<RootNodes>\n${site.url}/ Delay=0 URL=1000\n</RootNodes>\n`,
    'test.cf',
    {},
  );
  const { settings, ...rest } = order;
  const fast = { delayFactor: 0, minDelayMs: 0, retryDelaySeconds: 0.01, maxRetries: 2, ...settings };
  await using gatherer = await Gatherer.open({
    directory,
    config,
    essenceWorkers: 0,
    order: crawlOrderSchema.parse({ ...rest, settings: fast }),
    ...options,
  });
  await gatherer.run(never);
}

function linesOf(directory: string, name = 'crawl.log'): string[] {
  return readFileSync(join(directory, 'crawl', 'logs', name), 'utf8')
    .split('\n')
    .filter(Boolean);
}

function entriesOf(directory: string) {
  return linesOf(directory).map((line) => parseCrawlLogLine(line)!);
}

function reportOf(directory: string, name: string): string {
  return readFileSync(join(directory, 'crawl', 'reports', `${name}-report.txt`), 'utf8');
}

t.test('CRAWL-16.1: a kill at any byte of the log neither loses nor repeats a line or a count', async (t) => {
  const directory = t.testdir();
  const store = await GathererStore.open(join(directory, 'store'));
  const logs = await CrawlLogs.open(join(directory, 'logs'));
  const statistics = new CrawlStatistics();
  const optionsOf = (store: GathererStore, statistics: CrawlStatistics): StoredEventsOptions => ({
    store,
    count: (event) => statistics.document(event),
    figures: () => statistics.toJSON(),
  });
  const options = optionsOf(store, statistics);
  const events = new StoredEvents(options, logs, await recoverEvents(options, join(directory, 'logs')));
  const add = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) {
      const batch = store.batch();
      const written = events.put({ ...EVENT, url: `http://a.test/ü${i}`, warnings: [`w${i}`] }, batch);
      await batch.commit();
      written();
    }
  };
  await add(0, 4);
  await events.purge();
  const before = readFileSync(join(directory, 'logs', 'crawl.log')).length;
  await add(4, 7);
  await store.clone(join(directory, 'killed'));
  const saved = (await store.meta.get('events.figures')) as string;
  await events.close();
  await logs.close();
  await store.close();
  const whole = readFileSync(join(directory, 'logs', 'crawl.log'));
  const warnings = readFileSync(join(directory, 'logs', 'local-errors.log'), 'utf8');

  // Every length that the file may have had at the kill; the later ones in steps.
  for (let size = before; size <= whole.length; size += size < before + 20 ? 1 : 17) {
    const copy = join(directory, `cut${size}`);
    mkdirSync(copy);
    for (const name of ['crawl.log', 'local-errors.log'])
      copyFileSync(join(directory, 'logs', name), join(copy, name));
    truncateSync(join(copy, 'crawl.log'), size);
    cpSync(join(directory, 'killed'), join(copy, 'store'), { recursive: true });
    for (const run of ['first', 'second']) {
      await using again = await GathererStore.open(join(copy, 'store'));
      const figures = (await again.meta.get('events.figures')) as string;
      if (run === 'first') t.equal(figures, saved);
      const counted = CrawlStatistics.restore(JSON.parse(figures));
      await recoverEvents(optionsOf(again, counted), copy);
      t.equal(counted.figures().succeeded, 7, `${run} start after ${size} bytes: each event is counted once`);
      t.same(readFileSync(join(copy, 'crawl.log')), whole, 'each line is in the file once');
      t.equal(readFileSync(join(copy, 'local-errors.log'), 'utf8'), warnings);
    }
  }
});

t.test('CRAWL-16.1: a changed log gets all lines; without logs events are counted', async (t) => {
  const directory = t.testdir();
  await using store = await GathererStore.open(join(directory, 'store'));
  const batch = store.batch();
  const counted: string[] = [];
  const options: StoredEventsOptions = {
    store,
    count: ({ url }) => counted.push(url),
    figures: () => counted.length,
  };
  const events = new StoredEvents(options, undefined, await recoverEvents(options, undefined));
  // As if the process were killed between the write and what follows it.
  events.put(EVENT, batch);
  await batch.commit();
  writeFileSync(join(directory, 'crawl.log'), 'something else\n');
  await recoverEvents(options, directory);
  t.same(counted, [EVENT.url]);
  const [first, line, ...rest] = readFileSync(join(directory, 'crawl.log'), 'utf8').split('\n');
  t.equal(first, 'something else');
  t.equal(parseCrawlLogLine(line!)?.url, EVENT.url);
  t.same(rest, ['']);
  await events.close();
});

t.test('G-108: pages that a second crawl keeps are not logged with the status of the first', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a', '/b', '/gone']),
    '/a': page('A', []),
    '/b': page('B', []),
  });
  const directory = t.testdir();
  await crawl(directory, site);
  const first = entriesOf(directory);
  t.same(first.map(({ status }) => status).sort(), [200, 200, 200, 404]);
  const requests = site.paths.length;
  await crawl(directory, site);
  const second = entriesOf(directory).slice(first.length);
  t.same(site.paths.slice(requests), ['/gone'], 'only the failed page is fetched again');
  const kept = second.filter(({ annotations }) => annotations.includes('kept'));
  t.equal(kept.length, 3);
  for (const { status, fetchBegin, size } of kept)
    t.same([status, fetchBegin, size], [0, undefined, undefined]);
  t.same(
    second.filter(({ status }) => status > 0).map(({ url }) => url),
    [`${site.url}/gone`],
  );
  t.match(reportOf(directory, 'responsecode'), /^ *1 .* 404$/m);
  t.notMatch(reportOf(directory, 'responsecode'), / 200$/m, 'the reports are those of this run');
});

t.test('CRAWL-5.6.6: each URI that the operator deletes has a line with -6000', async (t) => {
  const paths = Array.from({ length: 30 }, (_, i) => `/d${i}`);
  await using site = await Site.start({
    '/': page('Start', paths),
    ...Object.fromEntries(paths.map((path) => [path, page(path, [])])),
  });
  const directory = t.testdir();
  let deleted = 0;
  const remove = async (control: CrawlControl): Promise<void> => {
    while (!site.paths.some((path) => path.startsWith('/d')))
      await new Promise((resolve) => setTimeout(resolve, 1));
    control.pause();
    deleted = await control.deleteUris('.*/d.*');
    control.resume();
  };
  let removed: Promise<void> | undefined;
  await crawl(
    directory,
    site,
    { settings: { minDelayMs: 50, maxDelayMs: 50 } },
    {
      onControl: (control) => {
        removed = remove(control);
      },
    },
  );
  await removed;
  const entries = entriesOf(directory);
  const lines = entries.filter(({ status }) => status === -6000);
  t.ok(deleted > 0);
  t.equal(lines.length, deleted);
  t.equal(new Set(entries.map(({ url }) => url)).size, 31, 'every URI has a line');
  t.equal(entries.length, 31);
  t.equal(lines[0]?.via, `${site.url}/`);
  t.match(reportOf(directory, 'responsecode'), new RegExp(`^ *${deleted} .* -6000$`, 'm'));
});

t.test('CRAWL-8.6: documents cut by length, time or size of the head are annotated', async (t: Test) => {
  await using site = await Site.start({
    '/': page('Start', ['/long', '/slow', '/head']),
    '/long': 'x'.repeat(5000),
    '/slow': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 100 });
      response.write('the beginning');
    },
    '/head': (_, response) => {
      response.writeHead(200, { 'x-long': 'h'.repeat(3 << 20) }).end('body');
    },
  });
  const directory = t.testdir();
  await crawl(directory, site, { settings: { fetchSeconds: 1 } }, { text: 'Max-Retrieval-Size: 2000\n' });
  const found = new Map(entriesOf(directory).map((entry) => [new URL(entry.url).pathname, entry]));
  t.match(found.get('/long'), { status: 200, size: 2000, annotations: ['lenTrunc'] });
  t.match(found.get('/slow'), { status: 200, size: 13, annotations: ['timeTrunc'] });
  t.ok(found.get('/head')?.annotations.includes('headerTrunc'), 'the head');
  t.equal(found.size, 4);
  t.equal(
    site.paths.filter((path) => path === '/slow').length,
    1,
    'a cut body is no error: no other attempt',
  );
});

t.test('CRAWL-16.7: reports of seeds, sources, types and statuses have the figures', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a', '/text.txt', '/gone']),
    '/a': page('A', []),
    '/text.txt': 'text',
  });
  const directory = t.testdir();
  await crawl(directory, site, { sourceTagSeeds: true });
  t.match(reportOf(directory, 'seeds'), new RegExp(`${site.url}/`));
  t.match(reportOf(directory, 'source'), new RegExp(`${site.url}/`));
  t.match(reportOf(directory, 'source'), /\b4\b/);
  t.match(reportOf(directory, 'mimetype'), /^ *2 .* text\/html$/m);
  t.match(reportOf(directory, 'responsecode'), /^ *3 .* 200$/m);
  t.match(reportOf(directory, 'responsecode'), /^ *1 .* 404$/m);
});

t.test('CRAWL-16.7: the last events are counted before the reports, also in a rotation', async (t) => {
  const directory = t.testdir();
  await using store = await GathererStore.open(join(directory, 'store'));
  const logs = await CrawlLogs.open(join(directory, 'logs'));
  let counted = 0;
  const options: StoredEventsOptions = { store, count: () => counted++, figures: () => ({}) };
  const events = new StoredEvents(options, logs, await recoverEvents(options, join(directory, 'logs')));
  const rotated = events.rotate('cp00001');
  const batch = store.batch();
  const written = events.put(EVENT, batch);
  await batch.commit();
  written();
  t.equal(counted, 0, 'the rotation holds the event back');
  await events.settled();
  t.equal(counted, 1);
  await rotated;
  await events.close();
  await logs.close();
});
