// The limits of RootNodes, and runs of the Gatherer over a site on loopback. Times are in Unix seconds.
import t, { type Test } from 'tap';
import {
  parseFilter,
  parseGathererConf,
  parseHostFilter,
  type RootNode,
} from '../../../protocols/config/index.js';
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
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const never = new AbortController().signal;

/** Returns the parsed RootNode of a line. */
function rootNode(line: string): RootNode {
  const text = `Gatherer-Name: x\n<RootNodes>\n${line}\n</RootNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config.rootNodes[0]!;
}

t.test('G-27 to G-45: the limits of a RootNode refuse URLs and hosts', async (t) => {
  const addresses = new HostAddresses();
  await addresses.resolve(['127.0.0.1', '127.0.0.2', 'localhost']);
  const limits = (line: string, filters: { url?: string; host?: string } = {}): RootLimits =>
    new RootLimits(
      {
        root: rootNode(line),
        urlFilter: filters.url === undefined ? undefined : parseFilter(filters.url, 'f'),
        hostFilter: filters.host === undefined ? undefined : parseHostFilter(filters.host, 'f'),
      },
      addresses,
    );
  const urlAt = (path: string, host = '127.0.0.1:8080'): URL => new URL(`http://${host}${path}`);

  const urls = limits('http://127.0.0.1:8080/ URL=2');
  urls.countUrl(urlAt('/'));
  t.equal(urls.refusal(urlAt('/a'), 1), undefined);
  urls.countUrl(urlAt('/a'));
  t.equal(urls.refusal(urlAt('/b'), 1), 'url-max', 'G-32: a third URL is over URL=2');

  const depth = limits('http://127.0.0.1:8080/ Depth=2');
  t.equal(depth.refusal(urlAt('/a'), 2), undefined, 'G-34: depth 2 is allowed');
  t.equal(depth.refusal(urlAt('/a'), 3), 'depth', 'G-34: depth 3 is refused');
  t.equal(limits('http://127.0.0.1:8080/').refusal(urlAt('/a'), 99), undefined, 'G-34: 0 is unlimited');

  const access = limits('http://127.0.0.1:8080/');
  t.equal(access.refusal(new URL('ftp://127.0.0.1/x'), 1), 'access', 'G-36: only HTTP is allowed by default');
  t.equal(access.refusal(new URL('https://127.0.0.1/x'), 1), undefined, 'G-56: HTTP includes HTTPS');
  t.equal(
    limits('http://127.0.0.1/ Access=HTTP|FTP').refusal(new URL('ftp://127.0.0.1/x'), 1),
    undefined,
    'G-36: Access= allows another scheme',
  );
  const local = limits('file:///var/www/');
  t.equal(local.refusal(new URL('file:///var/www/a.html'), 1), undefined, 'G-36: Access= is for HTTP');
  t.equal(local.refusal(new URL('ftp://127.0.0.1/x'), 1), 'access', 'G-36: a file RootNode allows no FTP');

  for (const words of ['', ' Access=HTTP|FTP']) {
    const menu = limits(`gopher://127.0.0.1/ Host=9${words}`);
    t.equal(menu.refusal(new URL('gopher://127.0.0.1/0/a'), 1), undefined, 'G-37: a menu is followed');
    for (const other of ['http://127.0.0.1/x', 'ftp://127.0.0.1/x'])
      t.equal(menu.refusal(new URL(other), 1), 'access', `G-37: no other method is, ${words}`);
  }

  for (const root of ['file:///var/www/', 'file://localhost/var/www/', 'news:comp.infosystems']) {
    t.equal(limits(root).hostRefusal(urlAt('/'), 1), 'host-max', `G-27: ${root} stays on its server`);
    t.equal(limits(`${root} Host=2`).hostRefusal(urlAt('/'), 1), undefined, 'G-33: Host=2 allows one more');
  }

  const filtered = limits('http://127.0.0.1:8080/', { url: 'Deny /gatherers/\nAllow .\n' });
  t.equal(filtered.refusal(urlAt('/gatherers/x'), 1), 'url-filter', 'G-44: the filter denies the path');
  t.equal(filtered.refusal(urlAt('/x'), 1), undefined, 'G-44: the filter allows the path');
  const home = limits('http://127.0.0.1:8080/', { url: 'Allow ^/~hardy/.*[?]q=a$\nDeny .\n' });
  t.equal(home.refusal(urlAt('/%7ehardy/x?q=a'), 1), undefined, 'G-48: the path, its query, a tilde');
  t.equal(home.refusal(urlAt('/%7ehardy/x'), 1), 'url-filter', 'G-48: the query is missing');

  const queries = limits('http://127.0.0.1:8080/', { url: 'Deny [?]\n' });
  t.equal(queries.refusal(urlAt('/x?'), 1), 'url-filter', 'G-48: an empty query has its ?');

  const hosts = limits('http://127.0.0.1:8080/ Host=1');
  hosts.countUrl(urlAt('/'));
  t.equal(hosts.hostRefusal(urlAt('/x', '127.0.0.2:8080'), 1), 'host-max', 'G-33: Host=1 is exceeded');
  t.equal(hosts.hostRefusal(urlAt('/x', 'localhost:9090'), 1), undefined, 'G-33: aliases count once');

  const named = limits('http://127.0.0.1:8080/ Host=9', {
    host: 'Deny localhost:8080\nAllow ^127\\.0\\.\nDeny .\n',
  });
  t.equal(named.hostRefusal(urlAt('/', '127.0.0.2:8080'), 1), undefined, 'G-45: its address is allowed');
  t.equal(
    named.hostRefusal(urlAt('/', 'other.invalid:80'), 1),
    'host-filter',
    'G-45: the filter denies the name of the host',
  );
});

t.test('G-45: the host filter of the manual: the first line that matches name or address', async (t) => {
  const known: Readonly<Record<string, string>> = {
    'bcn.boulder.co.us': '128.138.1.1',
    'bvsd.k12.co.us': '128.138.1.2',
    'cs.colorado.edu': '128.138.243.151',
    'www.example.org': '192.0.2.1',
  };
  const addresses = new HostAddresses({
    lookup: async (name) => ({ addresses: [known[name] ?? ''], ttlSeconds: -1 }),
  });
  await addresses.resolve(Object.keys(known));
  const text = 'Deny bcn.boulder.co.us:8080\nDeny bvsd.k12.co.us\nAllow ^128\\.138\\..*\nDeny .\n';
  const limits = new RootLimits(
    {
      root: rootNode('http://www.colorado.edu/ Host=99'),
      urlFilter: undefined,
      hostFilter: parseHostFilter(text, 'f'),
    },
    addresses,
  );
  const refusal = (url: string) => limits.hostRefusal(new URL(url), 1);
  t.equal(refusal('http://bcn.boulder.co.us:8080/'), 'host-filter', 'line 1 denies this port');
  t.equal(refusal('http://bcn.boulder.co.us/'), undefined, 'line 3 allows the other ports by the address');
  t.equal(refusal('http://bvsd.k12.co.us/'), 'host-filter', 'line 2 denies the name, line 3 is late');
  t.equal(refusal('http://cs.colorado.edu/'), undefined);
  t.equal(refusal('http://www.example.org/'), 'host-filter', 'line 4 denies all others');
});

/** A Gatherer during a test, and the events of its documents. */
interface Run {
  readonly gatherer: Gatherer;
  readonly events: DocumentEvent[];
}

/** Opens a Gatherer, calls `use`, and closes the Gatherer. */
async function withGatherer(options: GathererOptions, use: (run: Run) => Promise<void>): Promise<void> {
  const events: DocumentEvent[] = [];
  const onDocument = (message: unknown): void => {
    events.push(message as DocumentEvent);
  };
  documentChannel.subscribe(onDocument);
  try {
    await using gatherer = await Gatherer.open({ essenceWorkers: 0, retryDelayMs: 5, ...options });
    await use({ gatherer, events });
  } finally {
    documentChannel.unsubscribe(onDocument);
  }
}

/** Gathers a site from its first page in an empty directory. */
function gatherSite(t: Test, site: Site, use: (run: Run) => Promise<void>): Promise<void> {
  return withGatherer({ directory: t.testdir(), config: parseConfig(`${site.url}/ Delay=0`) }, use);
}

function parseConfig(roots: string, leaves = ''): GathererOptions['config'] {
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nAccess-Delay: 0\n<RootNodes>\n${roots}\n</RootNodes>\n<LeafNodes>\n${leaves}\n</LeafNodes>\n`;
  return parseGathererConf(text, 'test.cf', {}).config;
}

t.test('G-38, G-63, G-66: Crawl-delay raises the delay between requests', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/a', '/b']),
    '/a': page('A', []),
    '/b': page('B', []),
    '/robots.txt': 'User-agent: harvest\nCrawl-delay: 0.3\n',
  });
  await withGatherer(
    { directory: t.testdir(), config: parseConfig(`${site.url}/ Delay=0.1`) },
    async ({ gatherer }) => {
      await gatherer.run(never);
      const gaps = site.requests.slice(1).map(({ at }, i) => at - site.requests[i]!.at);
      t.equal(site.requests.length, 4);
      t.ok(
        gaps.every((gap) => gap >= 290),
        `every gap is at least the Crawl-delay: ${gaps}`,
      );
    },
  );
});

t.test('G-63: a host with an unavailable robots.txt is skipped in this run', async (t) => {
  await using site = await Site.start({
    '/': page('Start', []),
    '/robots.txt': (_, response) => response.writeHead(500).end(),
  });
  await gatherSite(t, site, async ({ gatherer, events }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.failed, 1);
    t.equal(events.at(-1)?.status, -61, 'CRAWL-12.5: the status is -61');
    t.equal(site.paths.length, 0, 'only robots.txt was requested');
  });
});

t.test('CRAWL-8.3: failures are retried, then counted; 429 with Retry-After is obeyed', async (t) => {
  let busyReplies = 2;
  await using site = await Site.start({
    '/': (_, response) => {
      if (busyReplies-- > 0) response.writeHead(429, { 'retry-after': '0' }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end(page('Start', ['/broken']));
    },
    '/broken': (request) => request.socket.destroy(),
  });
  await gatherSite(t, site, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.summarized, 1, 'the busy page is summarized after a retry');
    t.equal(report.counts.failed, 1, 'the broken page fails');
    t.equal(site.paths.filter((path) => path === '/broken').length, 4, 'maxRetries attempts');
  });
});

t.test('G-63, E-25: robots META tags noindex and nofollow are obeyed', async (t) => {
  const meta = (content: string, links: string[]): string =>
    page('Meta', links).replace('<head>', `<head><meta name="robots" content="${content}">`);
  await using site = await Site.start({
    '/': page('Start', ['/noindex', '/nofollow']),
    '/noindex': meta('noindex', ['/from-noindex']),
    '/nofollow': meta('nofollow', ['/from-nofollow']),
    '/from-noindex': page('Found', []),
    '/from-nofollow': page('Never', []),
  });
  await gatherSite(t, site, async ({ gatherer }) => {
    await gatherer.run(never);
    t.ok(site.paths.includes('/from-noindex'), 'links of a noindex page are followed');
    t.notOk(site.paths.includes('/from-nofollow'), 'links of a nofollow page are not followed');
    t.equal(await gatherer.store.summaries.get(`${site.url}/noindex`), undefined, 'noindex: no object');
    t.ok(await gatherer.store.summaries.get(`${site.url}/nofollow`));
  });
});

t.test('G-100 to G-108: objects are kept, refreshed and expired by their lifetimes', async (t) => {
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
  const options = { directory, config: parseConfig(`${site.url}/ Delay=0`), now: () => now };
  const start = `${site.url}/`;
  const updateTime = async (gatherer: Gatherer): Promise<number | undefined> => {
    const summary = await gatherer.store.summaries.get(start);
    return summary && decodeSoif(summary.soif).number('Update-Time');
  };
  await withGatherer(options, async ({ gatherer }) => {
    await gatherer.run(never);
    const summary = decodeSoif((await gatherer.store.summaries.get(start))!.soif);
    t.same(
      ['Update-Time', 'Last-Modification-Time', 'Refresh-Rate', 'Time-to-Live', 'Gatherer-Host'].map((name) =>
        summary.text(name),
      ),
      ['1700000000', '1700000000', '604800', '2419200', 'g.example.org'],
      'E-110, G-102: the object has its times and rates',
    );
  });
  now += 1000;
  await withGatherer(options, async ({ gatherer }) => {
    const requests = site.requests.length;
    const report = await gatherer.run(never);
    t.equal(report.counts.kept, 2, 'G-108 line 1: documents that are not due are kept');
    t.equal(site.requests.length, requests, 'no server is contacted');
    t.equal(await updateTime(gatherer), 1_700_000_000);
  });
  now += 604_800;
  await withGatherer(options, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.unchanged, 2, 'G-108 lines 2 and 3: 304, and the same digest');
    t.equal(await updateTime(gatherer), now, 'Update-Time is the current time');
    t.equal(gatherer.store.summaries.count, 2, 'no summary is duplicated');
  });
  now += 604_801;
  modified = 'Wed, 15 Nov 2023 22:13:20 GMT';
  body = page('Changed', ['/a']);
  await withGatherer(options, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.equal(report.counts.summarized, 1, 'G-108 line 4: a changed document is summarized');
    const summary = decodeSoif((await gatherer.store.summaries.get(start))!.soif);
    t.match(summary.text('title'), 'Changed');
    t.equal(summary.text('Last-Modification-Time'), '1700086400');
  });
  now += 2_419_201;
  site.pages.delete('/a');
  site.pages.delete('/');
  await withGatherer(options, async ({ gatherer }) => {
    await gatherer.run(never);
    t.equal(gatherer.store.summaries.count, 2, 'G-104: the object of a failing URL is kept');
    await gatherer.publish();
    t.equal(gatherer.store.summaries.count, 0, 'G-103: an expired object is deleted');
    await using snapshot = await new Generations(gatherer.generationsDirectory).open();
    t.equal(snapshot.count, 0);
  });
});

t.test('G-26, G-35, G-87: directories are walked to their depth; a LeafNode is one file', async (t) => {
  const folder = t.testdir({
    'one.html': page('One', ['two.txt', 'http://other.invalid/']),
    'two.txt': 'Two is plain text.\n',
    deep: { 'three.txt': 'Three is deeper.\n', deeper: { 'four.txt': 'Four.\n' } },
  });
  const root = `file://${folder}/`;
  const gatheredPaths = async (line: string, leaves = ''): Promise<string[]> => {
    const found: string[] = [];
    const directory = await temporaryDirectory(t);
    await withGatherer({ directory, config: parseConfig(line, leaves) }, async ({ gatherer }) => {
      await gatherer.run(never);
      for await (const summaries of gatherer.store.summaries.iterate())
        found.push(...summaries.map(({ url }) => url));
    });
    return found.map((url) => url.slice(url.indexOf(folder) + folder.length)).sort();
  };
  t.same(await gatheredPaths(`${root} Access=FILE`), [
    '/deep/deeper/four.txt',
    '/deep/three.txt',
    '/one.html',
    '/two.txt',
  ]);
  t.same(
    await gatheredPaths(`${root} Access=FILE Depth=1`),
    ['/one.html', '/two.txt'],
    'G-35: one directory',
  );
  t.same(
    await gatheredPaths(`${root} Access=FILE Depth=2`),
    ['/deep/three.txt', '/one.html', '/two.txt'],
    'G-39 example 4: Depth=2 includes subdirectories',
  );
  t.same(
    await gatheredPaths(`${root} Access=FILE Depth=1 URL=1`).then((all) => all.length),
    1,
    'G-32: directories do not count',
  );
  t.same(await gatheredPaths('', `${root}one.html`), ['/one.html'], 'G-26: a LeafNode is processed as it is');
});

t.test('G-71 to G-77: with Local-Mapping no server is contacted, and URLs are unchanged', async (t) => {
  const folder = t.testdir({ 'a.html': page('Mapped', ['/b.html']), 'b.html': page('Also', []) });
  const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\nLocal-Mapping: http://nowhere.invalid/ ${folder}/\n<RootNodes>\nhttp://nowhere.invalid/a.html Delay=60\nfile://elsewhere.invalid/x/ Access=FILE\n</RootNodes>\n`;
  const mapped = parseGathererConf(text, 'test.cf', {}).config;
  await withGatherer(
    { directory: await temporaryDirectory(t), config: mapped },
    async ({ gatherer, events }) => {
      const report = await gatherer.run(never);
      t.equal(report.counts.summarized, 2, 'no delay, no robots.txt, no name resolution');
      t.ok(await gatherer.store.summaries.get('http://nowhere.invalid/b.html'), 'the object keeps its URL');
      t.ok(
        events.every(({ url, local }) => local || !url.startsWith('http:')),
        'G-77: they are local',
      );
      t.equal(report.counts.failed, 1, 'G-87: files of another machine are refused; the run continues');
    },
  );
});

t.test('G-20, G-24: filter files of Lib-Directory below Top-Directory; a missing one is named', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/yes', '/no']),
    '/yes': page('Yes', []),
    '/no': page('No', []),
  });
  const folder = t.testdir({ lib: { MyFilter: 'Deny ^/no\nAllow .\n' } });
  const text = (filter: string): string =>
    `Gatherer-Name: Test\nTop-Directory: ${folder}\nLib-Directory: lib\n<RootNodes>\n${site.url}/ URL=10,${filter} Delay=0\n</RootNodes>\n`;
  const run = async (filter: string): Promise<void> =>
    withGatherer(
      {
        directory: await temporaryDirectory(t),
        config: parseGathererConf(text(filter), 'my.cf', {}).config,
      },
      async ({ gatherer }) => {
        await gatherer.run(never);
      },
    );
  await run('MyFilter');
  t.ok(site.paths.includes('/yes'));
  t.notOk(site.paths.includes('/no'));
  await t.rejects(run('NoSuchFilter'), { code: 'ERR_CONFIG', message: /NoSuchFilter.*line 5/ });
});

t.test('the next run continues a stopped run', async (t) => {
  const links = Array.from({ length: 30 }, (_, i) => `/p${i}`);
  const stop = new AbortController();
  const pages: Record<string, string> = Object.fromEntries(links.map((link) => [link, page(link, [])]));
  await using site = await Site.start({ '/': page('Start', links), ...pages });
  const options = { directory: t.testdir(), config: parseConfig(`${site.url}/ Delay=0`) };
  let seen = 0;
  const stopAtTen = (): void => {
    if (++seen === 10) stop.abort(new Error('enough'));
  };
  documentChannel.subscribe(stopAtTen);
  await withGatherer(options, async ({ gatherer }) => {
    await t.rejects(gatherer.run(stop.signal), /enough/);
  });
  documentChannel.unsubscribe(stopAtTen);
  await withGatherer(options, async ({ gatherer }) => {
    const report = await gatherer.run(never);
    t.ok(report.resumed);
    t.equal(gatherer.store.summaries.count, 31);
    t.equal(report.roots[0]?.urls, 31, 'the RootNode continues its count');
    t.ok(report.counts.summarized < 31, 'completed URLs are not gathered again');
  });
});
