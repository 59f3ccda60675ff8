// The fetcher `browser` without a browser: which requests of a page are sent, and what becomes of its document.
import { setMaxListeners } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createFetcher } from '../../../clients/fetch/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { findChromium } from '../../../servers/crawler/browser/find-chromium.js';
import { PageParts, type PagePartsOptions } from '../../../servers/crawler/browser/page-parts.js';
import { PartCache } from '../../../servers/crawler/browser/part-cache.js';
import { processTree } from '../../../servers/crawler/browser/process-tree.js';
import { PageError } from '../../../servers/crawler/browser/types.js';
import { CrawlUri } from '../../../servers/crawler/crawl-uri.js';
import type { CrawlOrderInput } from '../../../servers/crawler/order/order.js';
import { crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import { PreconditionEnforcer } from '../../../servers/crawler/processors/precondition-enforcer.js';
import { ServerCache } from '../../../servers/crawler/servers/server-cache.js';
import { GathererStore, NETWORK } from '../../../storage/index.js';
import { fakeBrowser, requestOf } from '../../helpers/fake-browser.js';
import { page, Site } from '../../helpers/site.js';
import { crawl } from './order-keys/crawls.js';

const BROWSER = { fetcher: 'browser', browserDelayMs: 0 } as const satisfies CrawlOrderInput['settings'];

t.test('CRAWL-11.2 summary and links come from the document that the scripts made', async (t) => {
  await using site = await Site.start({ '/': page('Shell', []), '/made': page('Made', []), '/moved': 'x' });
  const openBrowser = fakeBrowser(async ({ url, response }) => {
    t.match(Buffer.from(response.body).toString(), new URL(url).pathname === '/' ? 'Shell' : /Made|x/);
    t.equal(response.status, 200);
    return new URL(url).pathname === '/'
      ? { html: page('Räder', ['/made']), navigations: [`${site.url}/moved`], timedOut: true }
      : page('Other', []);
  });
  const view = await crawl(t.testdir(), site, { order: { settings: BROWSER }, openBrowser });
  t.strictSame(site.paths.toSorted(), ['/', '/made', '/moved']);
  t.strictSame(view.lines.get('/')?.annotations, ['2t', 'browser:timeTrunc']);
  t.equal(view.report.counts.summarized, 3);
});

t.test('CRAWL-11.2 a page that cannot be loaded is read as it was fetched', async (t) => {
  await using site = await Site.start({ '/': page('Shell', ['/a']), '/a': 'a' });
  const openBrowser = fakeBrowser(async () => {
    throw new PageError('crashed', 'the page crashed');
  });
  const view = await crawl(t.testdir(), site, { order: { settings: BROWSER }, openBrowser });
  t.strictSame(site.paths, ['/', '/a']);
  t.equal(view.lines.get('/')?.annotations.includes('browser:crashed'), true);
  t.equal(view.report.counts.summarized, 2);
});

t.test('CRAWL-11.2 only pages with status 200 are loaded, and only where a sheet says so', async (t) => {
  await using site = await Site.start({
    '/': page('Start', ['/none', '/text.txt', '/plain/a', '/b']),
    '/text.txt': 'text',
    '/plain/a': page('A', []),
    '/b': page('B', []),
  });
  const loaded: string[] = [];
  const openBrowser = fakeBrowser(async ({ url, response }) => {
    loaded.push(new URL(url).pathname);
    return Buffer.from(response.body).toString();
  });
  const sheets = [{ name: 'plain', surts: [`${site.url}/plain/`], settings: { fetcher: 'http' as const } }];
  await crawl(t.testdir(), site, { order: { settings: BROWSER, sheets }, openBrowser });
  t.strictSame(loaded.toSorted(), ['/', '/b']);
  t.equal(site.paths.length, 5);
});

t.test('CRAWL-11.2, 13.4 requests of a page pass scope and robots.txt, and are sent once', async (t) => {
  await using other = await Site.start({ '/x': 'x' }, '127.0.0.2');
  await using site = await Site.start({
    '/robots.txt': 'User-agent: *\nDisallow: /secret\n',
    '/': page('Start', []),
    '/data': 'data',
    '/moved': (_, response) => response.writeHead(302, { location: '/target' }).end(),
    '/target': 'target',
    '/away': (_, response) => response.writeHead(302, { location: `${other.url}/x` }).end(),
    '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
    '/none': (_, response) => response.writeHead(404, { 'x-a': 'b' }).end('none'),
  });
  const openBrowser = fakeBrowser(async (loaded) => {
    if (!loaded.url.endsWith('/')) return 'other';
    const bodyOf = async (path: string, more = {}): Promise<string | undefined> => {
      const answer = await requestOf(loaded, path, more);
      return answer && `${answer.status} ${Buffer.from(answer.body)}`;
    };
    t.equal(await bodyOf('/data', { origin: 'null' }), '200 data');
    t.equal(await bodyOf('/data'), '200 data');
    t.equal(await bodyOf('/data', { method: 'HEAD' }), '200 ');
    t.equal(await bodyOf('/moved'), '200 target');
    t.equal(await bodyOf('/none'), '404 none', 'the page sees failures as they are');
    for (const path of [
      '/secret',
      '/away',
      '/loop',
      `${other.url}/x`,
      'data:text/plain,x',
      'file:///etc/passwd',
    ])
      t.equal(await bodyOf(path), undefined, path);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      t.equal(await bodyOf('/data', { method }), undefined, method);
    for (const type of ['image', 'font', 'media', 'eventsource', 'websocket', 'ping'])
      t.equal(await bodyOf('/data', { type }), undefined, type);
    return page('Made', ['/data', '/target']);
  });
  const view = await crawl(t.testdir(), site, { order: { settings: BROWSER }, openBrowser });
  t.strictSame(other.requests, [], 'not even robots.txt');
  t.strictSame(
    site.paths.filter((path) => path !== '/loop'),
    ['/', '/data', '/moved', '/target', '/none', '/away'],
    'CRAWL-4.2: links to what was fetched are not followed',
  );
  t.equal(site.paths.filter((path) => path === '/loop').length, 6, 'maxRedirects');
  t.equal(site.requests.find(({ path }) => path === '/data')?.headers.origin, 'null');
  t.equal(site.maxConcurrent, 1);
  const { lines } = view;
  t.match(lines.get('/data'), {
    status: 200,
    size: 4,
    pathFromSeed: 'E',
    via: `${site.url}/`,
    annotations: ['browser'],
  });
  t.match(lines.get('/target'), { status: 200, pathFromSeed: 'ER', via: `${site.url}/moved` });
  t.match(lines.get('/secret'), { status: -9998, pathFromSeed: 'E' });
  t.equal(lines.get('/none')?.status, 404);
  t.equal(lines.has('/x'), false);
});

t.test(
  'CRAWL-22.12 a page gets no more bytes than its limit, however many parts arrive at once',
  async (t) => {
    const part = Buffer.alloc(600_000, 'x');
    let [open, most] = [0, 0];
    const held: (() => void)[] = [];
    const names = Array.from({ length: 20 }, (_, i) => `127.0.0.${i + 2}`);
    const sites = await Promise.all(
      names.map((name) =>
        Site.start(
          {
            '/x': (_, response) => {
              most = Math.max(most, ++open);
              held.push(() => {
                open--;
                response.end(part);
              });
              // They are answered when no other one can come; later ones at once.
              if (most === 8) for (const answer of held.splice(0)) answer();
            },
          },
          name,
        ),
      ),
    );
    t.teardown(() => Promise.all(sites.map((each) => each[Symbol.asyncDispose]())));
    await using site = await Site.start({ '/': page('Start', []) });
    const openBrowser = fakeBrowser(async (loaded) => {
      if (loaded.url !== `${site.url}/`) return 'other';
      setMaxListeners(0, loaded.signal);
      const answers = await Promise.all(sites.map(({ url }) => requestOf(loaded, `${url}/x`)));
      t.equal(answers.filter((answer) => answer !== undefined).length, 3, '1.8 of 2 MiB');
      return page('Made', []);
    });
    const settings = { ...BROWSER, embeds: 'any', browserMaxMegabytes: 2 } as const;
    const { lines } = await crawl(t.testdir(), site, { order: { settings }, openBrowser });
    t.equal(most, 8);
    t.strictSame(lines.get('/')?.annotations, ['2t', 'browser', 'browser:refused:17']);
  },
);

t.test('CRAWL-22.12 a part that an archive has whole is not cut, whatever the page gets of it', async (t) => {
  await using site = await Site.start({
    '/': page('Start', []),
    '/long': 'x'.repeat(3_000_000),
    '/cut': (_, response) => {
      response.writeHead(200, { 'content-length': 9 });
      response.write('part', () => response.destroy());
    },
  });
  const openBrowser = fakeBrowser(async (loaded) => {
    if (loaded.url !== `${site.url}/`) return 'other';
    t.equal(await requestOf(loaded, '/cut'), undefined);
    t.equal(await requestOf(loaded, '/long'), undefined);
    return page('Made', ['/cut']);
  });
  const directory = t.testdir();
  const warc = { directory: join(directory, 'warc'), compress: false };
  const settings = { ...BROWSER, browserMaxMegabytes: 2, lostMaxRetries: 1 };
  const { lines } = await crawl(directory, site, { order: { settings, warc }, openBrowser });
  t.match(lines.get('/long'), { size: 3_000_000, annotations: ['browser'] });
  t.equal(site.paths.filter((path) => path === '/cut').length, 2, 'what was cut is fetched for a link to it');
  const archive = readdirSync(warc.directory).map((name) =>
    readFileSync(join(warc.directory, name), 'latin1'),
  );
  const records = archive.join('').split('WARC/1.1\r\n');
  const record = (path: string) =>
    records.find((text) => /^WARC-Type: response/.test(text) && text.includes(`${site.url}${path}\r\n`)) ??
    '';
  t.ok(record('/long').length > 3_000_000);
  t.notMatch(record('/long').slice(0, 2000), /WARC-Truncated/);
  t.match(record('/cut'), /WARC-Truncated: disconnect/);
});

t.test('G-174 what a public page requests does not reach private addresses', async (t) => {
  await using site = await Site.start({ '/x': 'x' });
  await using fetcher = createFetcher({ userAgent: 'test' });
  await using store = await GathererStore.open(join(t.testdir(), 'store'));
  const settings = crawlSettingsSchema.parse({ browserDelayMs: 0 });
  const servers = new ServerCache({
    fetcher,
    settingsFor: () => settings,
    robotsAgent: 'test',
    timeoutMs: 10_000,
  });
  const mustBePublic = ({ network }: { readonly network: number }): boolean => network === NETWORK.publicOnly;
  const fetchPart = (network: number) => {
    const common = { root: 0, depth: 0, isLeaf: false, forceFetch: false, sourceTag: '', network };
    const queued = {
      ...common,
      url: 'http://public.example/',
      via: '',
      pathFromSeed: '',
      attempts: 0,
      cost: 1,
    };
    const entry = { classKey: 'k', directive: 3, precedence: 1, ordinal: 1, uri: queued };
    const signal = new AbortController().signal;
    const options: PagePartsOptions = {
      fetcher,
      servers,
      settingsFor: () => settings,
      limits: { maxBytes: 1000, timeoutMs: 10_000, mustBePublic },
      prepare: () => ({
        classKey: 'k',
        seenKey: '',
        directive: 3,
        cost: 1,
        precedence: 1,
        budgets: { replenish: 1, totalBudget: -1 },
      }),
      scope: {
        prepare: async () => undefined,
        candidate: (_, { url }) => ({ ...common, url, via: queued.url, pathFromSeed: 'E' }),
      },
      cache: new PartCache(0),
      before: [new PreconditionEnforcer(servers, mustBePublic)],
      after: [],
    };
    const parts = new PageParts(new CrawlUri(entry, store.batch(), signal, settings), options);
    const request = { url: `${site.url}/x`, method: 'GET', type: 'script', origin: '' };
    return parts.fetch(request, signal);
  };
  t.equal(await fetchPart(NETWORK.publicOnly), undefined);
  t.strictSame(site.requests, []);
  t.equal((await fetchPart(NETWORK.any))?.status, 200);
});

t.test('a missing Chromium is a wrong use, and is named', async (t) => {
  await t.rejects(
    findChromium('/none/chromium'),
    new UsageError('browser.executable: /none/chromium is not a program that can be run'),
  );
  t.equal(await findChromium(process.execPath), process.execPath);
  await using site = await Site.start({ '/': page('Start', []) });
  const order = { settings: BROWSER, browser: { executable: '/none/chromium' } };
  await t.rejects(crawl(t.testdir(), site, { order }), UsageError);
  t.strictSame(site.requests, []);
});

t.test('a tree of processes and its memory', { skip: process.platform !== 'linux' }, async (t) => {
  const { pids, residentBytes } = await processTree(process.pid);
  t.equal(pids[0], process.pid);
  t.ok(residentBytes > 5 * 2 ** 20, `${residentBytes}`);
  t.strictSame(await processTree(2 ** 30), { pids: [], residentBytes: 0 });
});
