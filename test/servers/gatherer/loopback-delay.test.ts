// A site on one's own machine is gathered without a pause between its pages.
import t, { type Test } from 'tap';
import { createFetcher } from '../../../clients/fetch/index.js';
import type { GathererConfig } from '../../../protocols/config/index.js';
import { configFromRoots, type RootLimitOptions } from '../../../servers/all-in-one/index.js';
import { plainOrder } from '../../../servers/gatherer/configuration/gather-settings.js';
import { Gatherer } from '../../../servers/gatherer/index.js';
import { RunNetwork } from '../../../servers/gatherer/run/network.js';
import { page, Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** Milliseconds between two requests for a URL of a run of `root`. */
async function delayOf(
  t: Test,
  url: string,
  limits: RootLimitOptions = {},
  variables: Partial<GathererConfig> = {},
  { ordered = false } = {},
): Promise<number> {
  const fetcher = createFetcher({ userAgent: 'test' });
  t.teardown(() => fetcher.close());
  const { config } = configFromRoots([url], limits);
  const order = plainOrder({
    accessDelay: 1,
    queuesPerHost: 1,
    maxRetries: 1,
    retryDelayMs: 1,
    unansweredRetryDelayMs: 1,
    workers: 1,
  });
  const nodes = { roots: config.rootNodes, leaves: [] };
  const network = new RunNetwork(
    { config: { ...config, ...variables }, order, ordered, fetcher, readTimeoutMs: 1000 },
    nodes,
  );
  await network.addresses.resolve([new URL(url).hostname]);
  const { minDelayMs, maxDelayMs } = network.settings.forUri({ url, via: '', pathFromSeed: '', root: 0 });
  t.equal(minDelayMs, maxDelayMs, url);
  return minDelayMs;
}

t.test('G-38 a host that has loopback addresses only is contacted without a delay', async (t) => {
  for (const url of ['http://127.0.0.1/', 'http://127.8.9.1:8000/a', 'http://[::1]/', 'http://localhost/'])
    t.equal(await delayOf(t, url), 0, url);
  for (const url of ['http://192.0.2.1/', 'http://10.0.0.1/', 'http://0.0.0.0/', 'http://unknown.invalid/'])
    t.equal(await delayOf(t, url), 1000, url);
});

t.test('G-38 not if --delay is given, or the requests go through a proxy, or an order decides', async (t) => {
  const url = 'http://127.0.0.1/';
  t.equal(await delayOf(t, url, { delay: 2 }), 2000);
  t.equal(await delayOf(t, url, { delay: 1 }), 1000, 'the default, but given');
  t.equal(await delayOf(t, url, {}, { httpProxy: 'proxy.example.org:3128' }), 1000);
  t.equal(await delayOf(t, url, {}, {}, { ordered: true }), 1000);
});

t.test('G-38 a RootNode of a configuration file keeps its delay', async (t) => {
  const file = `${t.testdir({ 'a.cf': 'Gatherer-Name: Test\n<RootNodes>\nhttp://127.0.0.1/\n</RootNodes>\n' })}/a.cf`;
  const [root] = configFromRoots([file], {}).config.rootNodes;
  t.match(root, { delay: 1, noLoopbackDelay: undefined, urlMax: 250 });
});

t.test('G-63 a Crawl-delay of robots.txt counts on this machine, too', async (t) => {
  await using site = await Site.start({
    '/': page('A', ['b.html', 'no.html']),
    '/b.html': page('B', []),
    '/robots.txt': 'User-agent: *\nCrawl-delay: 0.2\nDisallow: /no\n',
  });
  const { config } = configFromRoots([`${site.url}/`], {});
  const directory = await temporaryDirectory(t);
  await using gatherer = await Gatherer.open({ directory, config, essenceWorkers: 0 });
  await gatherer.run(new AbortController().signal);
  t.same(site.paths, ['/', '/b.html'], 'G-62: robots.txt is obeyed');
  const [first = 0, second = 0] = site.requests.slice(1).map(({ at }) => at);
  t.ok(second - first >= 200, 'the pause is never shorter');
});

t.test('G-32 all pages of a site on this machine are gathered, unless it has no end', async (t) => {
  const urlMax = (url: string, limits: RootLimitOptions = {}) =>
    configFromRoots([url], limits).config.rootNodes[0]?.urlMax;
  for (const url of ['http://localhost:8000/', 'https://127.0.0.1/a/', 'http://[::1]:8000/b?c'])
    t.equal(urlMax(url), 10_000, url);
  for (const url of ['http://localhost.example.org/', 'http://127.example.org/', 'http://a.test/localhost:/'])
    t.equal(urlMax(url), 250, url);
  t.equal(urlMax('http://localhost/', { urls: 10 }), 10);
});
