// What an operator chooses, or does not choose, has a visible effect: delays, queues, redirected seeds, paths
// that repeat themselves.
import t, { type Test } from 'tap';
import { parseGathererConf } from '../../../protocols/config/index.js';
import { type CrawlEvent, crawlChannel } from '../../../servers/crawler/events.js';
import { type CrawlOrderInput, crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { crawlSettingsSchema } from '../../../servers/crawler/order/settings.js';
import { FrontierPreparer } from '../../../servers/crawler/preparer.js';
import { type DocumentEvent, documentChannel, Gatherer } from '../../../servers/gatherer/index.js';
import { page, Site } from '../../helpers/site.js';

interface Result {
  readonly events: DocumentEvent[];
  readonly alerts: string[];
}

/** Crawls RootNodes by an order; returns the events of its URIs and the alerts of the crawl. */
async function crawl(
  t: Test,
  roots: string,
  { settings, ...order }: CrawlOrderInput = {},
  lines = '',
): Promise<Result> {
  const events: DocumentEvent[] = [];
  const alerts: string[] = [];
  const onDocument = (message: unknown): void => void events.push(message as DocumentEvent);
  const onEvent = (message: unknown): void => {
    const { text, alert } = message as CrawlEvent;
    if (alert) alerts.push(text);
  };
  documentChannel.subscribe(onDocument);
  crawlChannel.subscribe(onEvent);
  try {
    const text = `Gatherer-Name: Test\nGatherer-Host: g.example.org\n${lines}<RootNodes>\n${roots}\n</RootNodes>\n`;
    await using gatherer = await Gatherer.open({
      directory: t.testdir(),
      config: parseGathererConf(text, 'test.cf', {}).config,
      essenceWorkers: 0,
      order: crawlOrderSchema.parse({
        logs: false,
        ...order,
        settings: { delayFactor: 0, minDelayMs: 0, retryDelaySeconds: 0.01, maxRetries: 2, ...settings },
      }),
    });
    await gatherer.run(new AbortController().signal);
  } finally {
    documentChannel.unsubscribe(onDocument);
    crawlChannel.unsubscribe(onEvent);
  }
  return { events: events.filter(({ disposition }) => disposition !== 'retry'), alerts };
}

t.test('G-38 with an order, only a Delay or Access-Delay that is given lengthens minDelayMs', async (t) => {
  await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', []) });
  const gapOf = async (root: string, lines = ''): Promise<number> => {
    site.requests.length = 0;
    await crawl(t, root, { settings: { minDelayMs: 10 } }, lines);
    const [first, second] = site.requests.filter(({ path }) => path !== '/robots.txt');
    return second!.at - first!.at;
  };
  const given = await gapOf(`${site.url}/ Delay=1`);
  t.ok(given >= 990, `Delay=1: ${given} ms`);
  t.ok((await gapOf(`${site.url}/`, 'Access-Delay: 2\n')) >= 1990, 'Access-Delay: 2');
  // A pause of the default Delay is at least a second, whatever the load; the shortest of some attempts is that
  // of the order.
  while ((await gapOf(`${site.url}/`)) >= 990);
  t.pass('the default Delay has no effect');
});

t.test('G-33 a RootNode that redirects to another host: why it gave nothing, what to change', async (t) => {
  const elsewhere = 'http://127.0.0.2:1/';
  await using moved = await Site.start({
    '/': (_, response) => response.writeHead(301, { location: elsewhere }).end(),
  });
  const { events, alerts } = await crawl(t, `${moved.url}/ Delay=0`);
  t.equal(events.length, 1);
  t.match(events[0]?.reason, /redirects to .*127\.0\.0\.2.*Host=2/);
  t.match(alerts.join('\n'), /redirects to .*127\.0\.0\.2.*name that URL as RootNode/);
});

t.test('G-173 without scope rules, a path that repeats itself is not followed', async (t) => {
  const paths = ['/a/a/page', '/a/a/a/page', '/x/y/x/y/x/y/page', '/1/2/3/4/page'];
  await using site = await Site.start({
    '/': page('Start', paths),
    ...Object.fromEntries(paths.map((path) => [path, page(path, [])])),
  });
  const root = `${site.url}/ Delay=0`;
  await crawl(t, root);
  t.same(site.paths.sort(), ['/', '/1/2/3/4/page', '/a/a/page']);
  site.requests.length = 0;
  await crawl(t, root, { settings: { maxPathRepetitions: 0 } });
  t.same(site.paths.sort(), ['/', ...paths].sort());
});

t.test('CRAWL-8.1 a URI whose host has no address ends with -6', async (t) => {
  const { events } = await crawl(t, 'http://no-such-host.invalid/ Delay=0');
  t.match(events, [{ status: -6, disposition: 'failed' }]);
});

t.test('G-57 a Location with letters beyond ASCII, unescaped, is followed', async (t) => {
  await using site = await Site.start({
    '/': (_, response) => {
      response.socket?.end(
        Buffer.from(
          'HTTP/1.1 301 Moved\r\nLocation: /stra\u00dfe/\u4f8b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
        ),
      );
    },
    '/stra%C3%9Fe/%E4%BE%8B': page('Here', []),
  });
  await crawl(t, `${site.url}/ Delay=0`);
  t.same(site.paths, ['/', '/stra%C3%9Fe/%E4%BE%8B']);
});

t.test('CRAWL-9.9 elf says that hosts share a queue, once', async (t) => {
  const urls = Array.from({ length: 300 }, (_, i) => `http://127.0.0.1:${1 + (i % 9)}/${i}`);
  const shared: string[] = [];
  const settings = crawlSettingsSchema.parse({ queueAssignment: 'elf' });
  const onSharedQueue = (queue: string, hosts: readonly string[]) => shared.push([queue, ...hosts].join(' '));
  const preparer = new FrontierPreparer({ settingsFor: () => settings, onSharedQueue });
  for (const url of urls) preparer.prepare({ url, via: '', pathFromSeed: '' });
  t.same(shared, [], 'one host');
  for (const url of urls) preparer.prepare({ url: url.replace('0.0.1', '0.0.2'), via: '', pathFromSeed: '' });
  t.match(shared, [/^\d+ 127\.0\.0\.1 127\.0\.0\.2$/]);
  await using site = await Site.start({ '/': page('Start', ['/a']), '/a': page('A', []) });
  const roots = Array.from(
    { length: 120 },
    (_, i) => `http://127.0.0.${(i % 2) + 1}:${site.port}/?${i >> 1} Delay=0`,
  );
  const { alerts } = await crawl(t, roots.join('\n'), { settings: { queueAssignment: 'elf' } });
  t.equal(alerts.filter((text) => /elf: .* share queue/.test(text)).length, 1);
});

t.test('CRAWL-9.4, 9.7 settings choose the labels of a queue, and by what a queue is split', async (t) => {
  const keyOf = (url: string, settings: Parameters<typeof crawlSettingsSchema.parse>[0]): string =>
    new FrontierPreparer({ settingsFor: () => crawlSettingsSchema.parse(settings) }).prepare({
      url,
      via: '',
      pathFromSeed: '',
    }).classKey;
  const url = 'http://www.sub.example.com:8080/wiki/x';
  t.equal(keyOf(url, { queueAssignment: 'limits' }), 'com,example,#8080');
  t.equal(keyOf(url, { queueAssignment: 'limits', queueLabels: 3 }), 'com,example,sub,#8080');
  t.equal(keyOf(url, { queueAssignment: 'host-limits' }), 'example.com#8080');
  const pages = Array.from({ length: 40 }, (_, i) => `http://a.b/wiki/${i}`);
  const queues = (settings: object) =>
    new Set(pages.map((page) => keyOf(page, { parallelQueues: 8, ...settings }))).size;
  t.equal(queues({}), 1, 'the pages of one segment stay together');
  t.ok(queues({ parallelQueuesBy: 'uri' }) > 4);
});
