// The crawl engine's parts, and the Gatherer over a site on loopback with the clock in the test's hands.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { parseFilter, parseGathererConf, type RootNode } from '../../protocols/config/index.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import { uriKey } from '../../protocols/urls/index.js';
import {
  CrawlUri,
  FingerprintSet,
  Frontier,
  HostAddresses,
  RootLimits,
  runChains,
} from '../../servers/gatherer/crawl/index.js';
import { WakeHeap } from '../../servers/gatherer/crawl/wake-heap.js';
import {
  type DocumentEvent,
  documentChannel,
  Gatherer,
  type GathererOptions,
} from '../../servers/gatherer/index.js';
import { GathererStore, Generations, type QueuedUri, type QueueEntry } from '../../storage/index.js';
import { page, Site } from '../helpers/site.js';

const never = new AbortController().signal;

/** A data directory of its own, gone at the end. */
function scratch(t: { teardown: (fn: () => void) => void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'harvest-test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function rootNode(line: string): RootNode {
  const text = `Gatherer-Name: x\n<RootNodes>\n${line}\n</RootNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config.rootNodes[0]!;
}

function queued(url: string, extra: Partial<QueuedUri> = {}): QueuedUri {
  return {
    url,
    via: '',
    pathFromSeed: '',
    root: 0,
    depth: 0,
    attempts: 0,
    forceFetch: false,
    isLeaf: false,
    ...extra,
  };
}

async function frontierOn(directory: string): Promise<{ store: GathererStore; frontier: Frontier }> {
  const store = await GathererStore.open(directory);
  const frontier = await Frontier.open(store, { assignQueue: (url) => new URL(url).host });
  return { store, frontier };
}

async function schedule(frontier: Frontier, store: GathererStore, urls: readonly string[]): Promise<number> {
  const batch = store.batch();
  const entries = urls.flatMap((url) => frontier.schedule(queued(url), batch) ?? []);
  await frontier.commit(batch, entries);
  return entries.length;
}

t.test('CRAWL-4.4 the fingerprint set answers like a set', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ minLength: 8, maxLength: 8 }), { maxLength: 3000 }), (keys) => {
      const ours = new FingerprintSet();
      const model = new Set<string>();
      for (const key of keys) {
        const text = Buffer.from(key).toString('hex');
        if (ours.has(key) !== model.has(text)) return false;
        if (ours.add(key) === model.has(text)) return false;
        model.add(text);
      }
      return ours.count === model.size;
    }),
    { numRuns: 30 },
  );
  const many = new FingerprintSet();
  for (let i = 0; i < 50_000; i++) many.add(uriKey(`http://example.org/${i}`));
  t.equal(many.count, 50_000);
  t.ok(many.has(uriKey('http://example.org/49999')));
  t.notOk(many.has(uriKey('http://example.org/50000')));
});

t.test('CRAWL-5.3 snoozed queues wake in the order of their times', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000)), (times) => {
      const heap = new WakeHeap<number>();
      for (const time of times) heap.push(time, time);
      const woken: number[] = [];
      for (let next = heap.popDue(2000); next !== undefined; next = heap.popDue(2000)) woken.push(next);
      return JSON.stringify(woken) === JSON.stringify([...times].sort((a, b) => a - b));
    }),
  );
});

t.test('CRAWL-5.6 the frontier: next, schedule, finished', async (t) => {
  const { store, frontier } = await frontierOn(join(t.testdir(), 'working'));
  t.teardown(() => store.close());
  const urls = ['http://a.org/1', 'http://a.org/2', 'http://b.org/1'];
  t.equal(await schedule(frontier, store, urls), 3);
  t.equal(await schedule(frontier, store, urls), 0, 'CRAWL-4.1: a known URI is not scheduled again');

  const first = (await frontier.next(never))!;
  const second = (await frontier.next(never))!;
  t.same(
    [first.uri.url, second.uri.url].sort(),
    ['http://a.org/1', 'http://b.org/1'],
    'one URI of each queue',
  );
  let third: QueueEntry | undefined;
  const waiting = frontier.next(never).then((entry) => {
    third = entry;
  });
  await new Promise(setImmediate);
  t.equal(third, undefined, 'CRAWL-5.6.4: a queue in process gives nothing');

  const finish = async (entry: QueueEntry, delayMs = 0, retry = false): Promise<void> =>
    frontier.finished(new CrawlUri(entry, store.batch(), never), { retry, delayMs });
  const slow = first.uri.url.startsWith('http://a.org') ? first : second;
  const other = slow === first ? second : first;
  await finish(slow, 120);
  const begin = Date.now();
  await waiting;
  t.ok(Date.now() - begin >= 100, 'CRAWL-7.1: the queue slept for the delay');
  t.equal(third?.uri.url, 'http://a.org/2');
  await finish(third!, 0, true);
  const again = (await frontier.next(never))!;
  t.equal(again.uri.url, 'http://a.org/2', 'CRAWL-8.5: a retried URI keeps its place');
  t.equal(again.uri.attempts, 1, 'CRAWL-8.3: attempts are counted');
  await finish(again);
  await finish(other);
  t.equal(await frontier.next(never), undefined, 'CRAWL-4.9: nothing is left');
  t.equal(frontier.counts.queued, 0);
  frontier.close();
});

t.test('CRAWL-5.6 a frontier opened again goes on where it was', async (t) => {
  const directory = join(t.testdir(), 'working');
  const many = Array.from({ length: 1000 }, (_, i) => `http://a.org/${i}`);
  {
    const { store, frontier } = await frontierOn(directory);
    await schedule(frontier, store, many);
    for (let i = 0; i < 10; i++) {
      const entry = (await frontier.next(never))!;
      await frontier.finished(new CrawlUri(entry, store.batch(), never), { retry: false, delayMs: 0 });
    }
    await frontier.next(never); // in process when the process ends
    frontier.close();
    await store.close();
  }
  const { store, frontier } = await frontierOn(directory);
  t.teardown(() => store.close());
  t.equal(frontier.counts.queued, 990);
  t.ok(frontier.knows('http://a.org/0'), 'what was seen stays seen');
  const rest: string[] = [];
  for (let entry = await frontier.next(never); entry !== undefined; entry = await frontier.next(never)) {
    rest.push(entry.uri.url);
    if (rest.length === 5) await schedule(frontier, store, ['http://a.org/late']);
    await frontier.finished(new CrawlUri(entry, store.batch(), never), { retry: false, delayMs: 0 });
  }
  t.same(
    rest,
    [...many.slice(10), 'http://a.org/late'],
    'CRAWL-1.9: first in, first out, nothing lost, nothing twice',
  );
  frontier.close();
});

t.test('CRAWL-11.5, 11.6 chains', async (t) => {
  const steps: string[] = [];
  const processor = (name: string, result: 'proceed' | 'finish' | 'post') => ({
    name,
    process: () => {
      steps.push(name);
      return result;
    },
  });
  const { store, frontier } = await frontierOn(join(t.testdir(), 'working'));
  t.teardown(() => store.close());
  await schedule(frontier, store, ['http://a.org/1']);
  const entry = (await frontier.next(never))!;
  const uri = new CrawlUri(entry, store.batch(), never);
  await runChains(
    {
      'pre-fetch': [processor('a', 'finish'), processor('never', 'proceed')],
      fetch: [processor('b', 'post')],
      extract: [processor('never', 'proceed')],
      write: [processor('never', 'proceed')],
      'post-process': [processor('c', 'proceed')],
    },
    uri,
  );
  t.same(steps, ['a', 'b', 'c'], 'finish ends a chain, post jumps to the last one');
  const failing = {
    name: 'Breaker',
    process: () => {
      throw new Error('broken');
    },
  };
  await runChains({ 'pre-fetch': [failing], fetch: [], extract: [], write: [], 'post-process': [] }, uri);
  t.equal(uri.status, -5, 'CRAWL-11.6: the URI fails, the worker goes on');
  t.match(uri.reason, /Breaker: broken/);
  frontier.abandoned(uri);
  frontier.close();
});

t.test('G-27 to G-45 the limits of a RootNode', async (t) => {
  const addresses = new HostAddresses();
  await addresses.resolve(['127.0.0.1', '127.0.0.2', 'localhost']);
  const limits = (line: string, filters: { url?: string; host?: string } = {}): RootLimits =>
    new RootLimits(
      {
        root: rootNode(line),
        urlFilter: filters.url === undefined ? undefined : parseFilter(filters.url, 'f'),
        hostFilter: filters.host === undefined ? undefined : parseFilter(filters.host, 'f'),
      },
      addresses,
    );
  const at = (path: string, host = '127.0.0.1:8080'): URL => new URL(`http://${host}${path}`);

  const urls = limits('http://127.0.0.1:8080/ URL=2');
  urls.take(at('/'));
  t.equal(urls.refusal(at('/a'), 1), undefined);
  urls.take(at('/a'));
  t.equal(urls.refusal(at('/b'), 1), 'url-max', 'G-32');

  const depth = limits('http://127.0.0.1:8080/ Depth=2');
  t.equal(depth.refusal(at('/a'), 2), undefined, 'G-34');
  t.equal(depth.refusal(at('/a'), 3), 'depth', 'G-34');
  t.equal(limits('http://127.0.0.1:8080/').refusal(at('/a'), 99), undefined, 'G-34: 0 is unlimited');

  const access = limits('http://127.0.0.1:8080/');
  t.equal(access.refusal(new URL('ftp://127.0.0.1/x'), 1), 'access', 'G-36');
  t.equal(access.refusal(new URL('https://127.0.0.1/x'), 1), undefined, 'G-56: HTTP includes HTTPS');
  t.equal(
    limits('http://127.0.0.1/ Access=HTTP|FTP').refusal(new URL('ftp://127.0.0.1/x'), 1),
    undefined,
    'G-36',
  );
  const local = limits('file:///var/www/');
  t.equal(
    local.refusal(new URL('file:///var/www/a.html'), 1),
    undefined,
    'G-36: Access is for HTTP RootNodes',
  );
  t.equal(local.refusal(new URL('ftp://127.0.0.1/x'), 1), 'access', 'G-36');

  const filtered = limits('http://127.0.0.1:8080/', { url: 'Deny /gatherers/\nAllow .\n' });
  t.equal(filtered.refusal(at('/gatherers/x'), 1), 'url-filter', 'G-44');
  t.equal(filtered.refusal(at('/x'), 1), undefined, 'G-44');

  const hosts = limits('http://127.0.0.1:8080/ Host=1');
  hosts.take(at('/'));
  t.equal(hosts.hostRefusal(at('/x', '127.0.0.2:8080'), 1), 'host-max', 'G-33');
  t.equal(hosts.hostRefusal(at('/x', 'localhost:9090'), 1), undefined, 'G-33: an alias counts once');

  const named = limits('http://127.0.0.1:8080/ Host=9', {
    host: 'Deny localhost:8080\nAllow ^127\\.0\\.\nDeny .\n',
  });
  t.equal(named.hostRefusal(at('/', '127.0.0.2:8080'), 1), undefined, 'G-45');
  t.equal(named.hostRefusal(at('/', 'other.invalid:80'), 1), 'host-filter', 'G-45');
});

interface Run {
  readonly gatherer: Gatherer;
  readonly events: DocumentEvent[];
}

async function gather(options: GathererOptions, run: (r: Run) => Promise<void>): Promise<void> {
  const events: DocumentEvent[] = [];
  const listen = (message: unknown): void => {
    events.push(message as DocumentEvent);
  };
  documentChannel.subscribe(listen);
  try {
    await using gatherer = await Gatherer.open({ essenceWorkers: 0, retryDelayMs: 5, ...options });
    await run({ gatherer, events });
  } finally {
    documentChannel.unsubscribe(listen);
  }
}

function config(roots: string, leaves = ''): GathererOptions['config'] {
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nAccess-Delay: 0\n<RootNodes>\n${roots}\n</RootNodes>\n<LeafNodes>\n${leaves}\n</LeafNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config;
}

t.test('G-38, G-63, G-66 the delay between contacts, raised by Crawl-delay', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a', '/b']),
    '/a': page('A', []),
    '/b': page('B', []),
    '/robots.txt': 'User-agent: harvest\nCrawl-delay: 0.3\n',
  });
  await gather({ directory: t.testdir(), config: config(`${site.url}/ Delay=0.1`) }, async ({ gatherer }) => {
    await gatherer.run(never);
    const gaps = site.requests.slice(1).map(({ at }, i) => at - site.requests[i]!.at);
    t.equal(site.requests.length, 4);
    t.ok(
      gaps.every((gap) => gap >= 290),
      `every gap is at least the Crawl-delay: ${gaps}`,
    );
  });
});

t.test('G-63 robots.txt that cannot be had: the host is skipped in this run', async (t) => {
  await using site = await Site.start({
    '/': page('Start', []),
    '/robots.txt': (_, response) => response.writeHead(500).end(),
  });
  await gather(
    { directory: t.testdir(), config: config(`${site.url}/ Delay=0`) },
    async ({ gatherer, events }) => {
      const report = await gatherer.run(never);
      t.equal(report.counts.failed, 1);
      t.equal(events.at(-1)?.status, -61, 'CRAWL-12.5');
      t.equal(site.paths.length, 0, 'nothing but robots.txt was asked for');
    },
  );
});

t.test('CRAWL-8.3 failures are retried, then counted; 429 with Retry-After is obeyed', async (t) => {
  let busy = 2;
  await using site = await Site.start({
    '/': (_, response) => {
      if (busy-- > 0) response.writeHead(429, { 'retry-after': '0' }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Start', ['/broken']));
    },
    '/broken': (request) => request.socket.destroy(),
  });
  await gather({ directory: t.testdir(), config: config(`${site.url}/ Delay=0`) }, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.summarized, 1, 'the busy page came in the end');
    t.equal(report.counts.failed, 1, 'the broken one did not');
    t.equal(site.paths.filter((path) => path === '/broken').length, 4, 'maxRetries attempts');
  });
});

t.test('G-63, E-25 robots META: noindex and nofollow', async (t) => {
  const meta = (content: string, links: string[]): string =>
    page('Meta', links).replace('<head>', `<head><meta name="robots" content="${content}">`);
  await using site = await Site.start({
    '/': page('Start', ['/noindex', '/nofollow']),
    '/noindex': meta('noindex', ['/from-noindex']),
    '/nofollow': meta('nofollow', ['/from-nofollow']),
    '/from-noindex': page('Found', []),
    '/from-nofollow': page('Never', []),
  });
  await gather({ directory: t.testdir(), config: config(`${site.url}/ Delay=0`) }, async ({ gatherer }) => {
    await gatherer.run(never);
    t.ok(site.paths.includes('/from-noindex'), 'noindex is followed');
    t.notOk(site.paths.includes('/from-nofollow'), 'nofollow is not');
    t.equal(await gatherer.store.summaries.get(`${site.url}/noindex`), undefined, 'noindex leaves no object');
    t.ok(await gatherer.store.summaries.get(`${site.url}/nofollow`));
  });
});

t.test('G-100 to G-108 lifetimes, refresh and expiry', async (t) => {
  let now = 1_700_000_000;
  let modified = 'Tue, 14 Nov 2023 22:13:20 GMT';
  let body = page('Start', ['/a']);
  await using site = await Site.start({
    '/': (request, response) => {
      if (request.headers['if-modified-since'] === modified) response.writeHead(304).end();
      else response.writeHead(200, { 'content-type': 'text/html', 'last-modified': modified }).end(body);
    },
    '/a': page('A', []),
  });
  const directory = t.testdir();
  const options = { directory, config: config(`${site.url}/ Delay=0`), now: () => now };
  const start = `${site.url}/`;
  const updateTime = async (gatherer: Gatherer): Promise<number | undefined> => {
    const summary = await gatherer.store.summaries.get(start);
    return summary && decodeSoif(summary.soif).number('Update-Time');
  };
  await gather(options, async ({ gatherer }) => {
    await gatherer.run(never);
    const summary = decodeSoif((await gatherer.store.summaries.get(start))!.soif);
    t.same(
      ['Update-Time', 'Last-Modification-Time', 'Refresh-Rate', 'Time-to-Live', 'Gatherer-Host'].map((name) =>
        summary.text(name),
      ),
      ['1700000000', '1700000000', '604800', '2419200', 'g.example.org'],
      'E-110, G-102',
    );
  });
  now += 1000;
  await gather(options, async ({ gatherer }) => {
    const asked = site.requests.length;
    const report = await gatherer.run(never);
    t.equal(report.counts.kept, 2, 'G-108 line 1: not due, so kept');
    t.equal(site.requests.length, asked, 'and nobody was contacted');
    t.equal(await updateTime(gatherer), 1_700_000_000);
  });
  now += 604_800;
  await gather(options, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.unchanged, 2, 'G-108 lines 2 and 3: 304, and the same digest');
    t.equal(await updateTime(gatherer), now, 'Update-Time is now');
    t.equal(gatherer.store.summaries.count, 2, 'nothing is doubled');
  });
  now += 604_801;
  modified = 'Wed, 15 Nov 2023 22:13:20 GMT';
  body = page('Changed', ['/a']);
  await gather(options, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.summarized, 1, 'G-108 line 4');
    const summary = decodeSoif((await gatherer.store.summaries.get(start))!.soif);
    t.match(summary.text('title'), 'Changed');
    t.equal(summary.text('Last-Modification-Time'), '1700086400');
  });
  now += 2_419_201;
  site.pages.delete('/a');
  site.pages.delete('/');
  await gather(options, async ({ gatherer }) => {
    await gatherer.run(never);
    t.equal(gatherer.store.summaries.count, 2, 'G-104: what cannot be fetched stays ...');
    await gatherer.publish();
    t.equal(gatherer.store.summaries.count, 0, 'G-103: ... until it expires');
    await using snapshot = await new Generations(gatherer.generationsDirectory).open();
    t.equal(snapshot.count, 0);
  });
});

t.test('G-26, G-35, G-87 directories, LeafNodes and files', async (t) => {
  const folder = t.testdir({
    'one.html': page('One', ['two.txt', 'http://other.invalid/']),
    'two.txt': 'Two is plain text.\n',
    deep: { 'three.txt': 'Three is deeper.\n', deeper: { 'four.txt': 'Four.\n' } },
  });
  const root = `file://${folder}/`;
  const urls = async (line: string, leaves = ''): Promise<string[]> => {
    const found: string[] = [];
    const directory = scratch(t);
    await gather({ directory, config: config(line, leaves) }, async ({ gatherer }) => {
      await gatherer.run(never);
      for await (const summaries of gatherer.store.summaries.iterate())
        found.push(...summaries.map(({ url }) => url));
    });
    return found.map((url) => url.slice(url.indexOf(folder) + folder.length)).sort();
  };
  t.same(await urls(`${root} Access=FILE`), [
    '/deep/deeper/four.txt',
    '/deep/three.txt',
    '/one.html',
    '/two.txt',
  ]);
  t.same(await urls(`${root} Access=FILE Depth=1`), ['/one.html', '/two.txt'], 'G-35');
  t.same(
    await urls(`${root} Access=FILE Depth=2`),
    ['/deep/three.txt', '/one.html', '/two.txt'],
    'G-39 example 4',
  );
  t.same(
    await urls(`${root} Access=FILE Depth=1 URL=1`).then((all) => all.length),
    1,
    'G-32: directories do not count',
  );
  t.same(await urls('', `${root}one.html`), ['/one.html'], 'G-26: a LeafNode is processed as it is');
});

t.test('G-71 to G-77 Local-Mapping: nobody is contacted, the URL stays', async (t) => {
  const folder = t.testdir({ 'a.html': page('Mapped', ['/b.html']), 'b.html': page('Also', []) });
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nLocal-Mapping: http://nowhere.invalid/ ${folder}/\n<RootNodes>\nhttp://nowhere.invalid/a.html Delay=60\nfile://elsewhere.invalid/x/ Access=FILE\n</RootNodes>\n`;
  const mapped = parseGathererConf(text, 'test.cf', {}).config;
  await gather({ directory: scratch(t), config: mapped }, async ({ gatherer, events }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.summarized, 2, 'no wait, no robots.txt, no name to resolve');
    t.ok(await gatherer.store.summaries.get('http://nowhere.invalid/b.html'), 'SOIF keeps the URL');
    t.ok(
      events.every(({ url, local }) => local || !url.startsWith('http:')),
      'G-77',
    );
    t.equal(report.counts.failed, 1, "G-87: another machine's files are refused, the run goes on");
  });
});

t.test(
  'G-20, G-24 filter files: found in Lib-Directory below Top-Directory, or named in the error',
  async (t) => {
    await using site = await Site.start({
      '/': page('Start', ['/yes', '/no']),
      '/yes': page('Yes', []),
      '/no': page('No', []),
    });
    const folder = t.testdir({ lib: { MyFilter: 'Deny ^/no\nAllow .\n' } });
    const text = (filter: string): string =>
      `Gatherer-Name: Test\nTop-Directory: ${folder}\nLib-Directory: lib\n<RootNodes>\n${site.url}/ URL=10,${filter} Delay=0\n</RootNodes>\n`;
    const run = (filter: string): Promise<void> =>
      gather(
        { directory: scratch(t), config: parseGathererConf(text(filter), 'my.cf', {}).config },
        async ({ gatherer }) => {
          await gatherer.run(never);
        },
      );
    await run('MyFilter');
    t.ok(site.paths.includes('/yes'));
    t.notOk(site.paths.includes('/no'));
    await t.rejects(run('NoSuchFilter'), { code: 'ERR_CONFIG', message: /NoSuchFilter.*line 5/ });
  },
);

t.test('a stopped run goes on where it was', async (t) => {
  const links = Array.from({ length: 30 }, (_, i) => `/p${i}`);
  const stop = new AbortController();
  const pages: Record<string, string> = Object.fromEntries(links.map((link) => [link, page(link, [])]));
  await using site = await Site.start({ '/': page('Start', links), ...pages });
  const options = { directory: t.testdir(), config: config(`${site.url}/ Delay=0`) };
  let seen = 0;
  const count = (): void => {
    if (++seen === 10) stop.abort(new Error('enough'));
  };
  documentChannel.subscribe(count);
  await gather(options, async ({ gatherer }) => {
    await t.rejects(gatherer.run(stop.signal), /enough/);
  });
  documentChannel.unsubscribe(count);
  await gather(options, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.ok(report.resumed);
    t.equal(gatherer.store.summaries.count, 31);
    t.equal(report.roots[0]?.urls, 31, 'the RootNode went on counting');
    t.ok(report.counts.summarized < 31, 'what was done is not done again');
  });
});
