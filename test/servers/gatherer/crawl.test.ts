// The limits of RootNodes, and the Gatherer over a site on loopback with a controlled clock.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseFilter, parseGathererConf, type RootNode } from '../../../protocols/config/index.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { HostAddresses } from '../../../servers/crawler/index.js';
import {
  type DocumentEvent,
  documentChannel,
  Gatherer,
  type GathererOptions,
  RootLimits,
} from '../../../servers/gatherer/index.js';
import { Generations } from '../../../storage/index.js';
import { page, Site } from '../../helpers/site.js';

const never = new AbortController().signal;

/** Creates a data directory; it is removed when the test ends. */
function scratch(t: { teardown: (fn: () => void) => void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'harvest-test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function rootNode(line: string): RootNode {
  const text = `Gatherer-Name: x\n<RootNodes>\n${line}\n</RootNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config.rootNodes[0]!;
}

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
  t.equal(
    hosts.hostRefusal(at('/x', 'localhost:9090'), 1),
    undefined,
    'G-33: the aliases of a host count once',
  );

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

t.test('G-63 an unavailable robots.txt: the host is skipped in this run', async (t) => {
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
      t.equal(site.paths.length, 0, 'only robots.txt was requested');
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
    t.equal(report.counts.summarized, 1, 'the busy page is summarized after a retry');
    t.equal(report.counts.failed, 1, 'the broken page fails');
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
    t.ok(site.paths.includes('/from-noindex'), 'links of a noindex page are followed');
    t.notOk(site.paths.includes('/from-nofollow'), 'links of a nofollow page are not followed');
    t.equal(
      await gatherer.store.summaries.get(`${site.url}/noindex`),
      undefined,
      'a noindex page has no object',
    );
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
    t.equal(site.requests.length, asked, 'and no server was contacted');
    t.equal(await updateTime(gatherer), 1_700_000_000);
  });
  now += 604_800;
  await gather(options, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.unchanged, 2, 'G-108 lines 2 and 3: 304, and the same digest');
    t.equal(await updateTime(gatherer), now, 'Update-Time is now');
    t.equal(gatherer.store.summaries.count, 2, 'no summary is duplicated');
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
    t.equal(gatherer.store.summaries.count, 2, 'G-104: the object of a failing URL is kept ...');
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

t.test('G-71 to G-77 Local-Mapping: no server is contacted, the URL is unchanged', async (t) => {
  const folder = t.testdir({ 'a.html': page('Mapped', ['/b.html']), 'b.html': page('Also', []) });
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nLocal-Mapping: http://nowhere.invalid/ ${folder}/\n<RootNodes>\nhttp://nowhere.invalid/a.html Delay=60\nfile://elsewhere.invalid/x/ Access=FILE\n</RootNodes>\n`;
  const mapped = parseGathererConf(text, 'test.cf', {}).config;
  await gather({ directory: scratch(t), config: mapped }, async ({ gatherer, events }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.summarized, 2, 'no delay, no robots.txt, no name resolution');
    t.ok(await gatherer.store.summaries.get('http://nowhere.invalid/b.html'), 'the object keeps its URL');
    t.ok(
      events.every(({ url, local }) => local || !url.startsWith('http:')),
      'G-77',
    );
    t.equal(report.counts.failed, 1, "G-87: another machine's files are refused, the run continues");
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

t.test('a stopped run is continued', async (t) => {
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
    t.equal(report.roots[0]?.urls, 31, 'the RootNode continues its count');
    t.ok(report.counts.summarized < 31, 'completed URLs are not gathered again');
  });
});
