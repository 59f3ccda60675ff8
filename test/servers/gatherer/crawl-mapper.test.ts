// Two crawlers that divide a web by their diversion files (CRAWL-9.8).
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CrawlMap, Diversions } from '../../../servers/crawler/mapper/diversions.js';
import { orderProblems } from '../../../servers/crawler/order/check-order.js';
import { crawlOrderSchema } from '../../../servers/crawler/order/order.js';
import { openOrdered } from '../../helpers/ordered-crawl.js';
import { Site } from '../../helpers/site.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';

const never = new AbortController().signal;

t.test('CRAWL-9.8: each URI belongs to one crawler, by its registered domain or its queue', async (t) => {
  const map = (own: number, by: 'domain' | 'queue' = 'domain') => new CrawlMap({ crawlers: 3, own, by });
  for (const host of [
    'www.example.org',
    'example.org',
    'a.b.example.org:8080',
    '10.0.0.1',
    'a.co.uk',
    'b.co.uk',
  ]) {
    const uri = `http://${host}/x`;
    const owners = [0, 1, 2].filter((own) => map(own).foreignCrawler(uri, 'key') === undefined);
    t.equal(owners.length, 1, host);
    for (const own of [0, 1, 2])
      if (own !== owners[0])
        t.equal(map(own).foreignCrawler(uri, 'key'), owners[0], `${host} for crawler ${own}`);
  }
  const ofDomain = map(0).foreignCrawler('http://www.example.org/', 'a');
  t.equal(map(0).foreignCrawler('https://mail.example.org:8443/', 'b'), ofDomain, 'one domain, one crawler');
  const byQueue = Array.from({ length: 20 }, (_, i) =>
    map(0, 'queue').foreignCrawler('http://a/', `queue ${i}`),
  );
  t.equal(new Set(byQueue).size, 3, 'queues are spread over all crawlers');
  t.equal(map(0).foreignCrawler('file:///x', 'key'), undefined, 'a file belongs to the crawler that has it');
});

t.test('CRAWL-9.8: one file for each crawler and hour; a killed process loses no line', async (t) => {
  const directory = await temporaryDirectory(t);
  let now = Date.UTC(2026, 0, 2, 3, 4);
  const uri = (n: number) => ({ url: `http://a.test/${n}`, pathFromSeed: 'L', via: 'http://b.test/' });
  const killed = await Diversions.open(directory, 0, () => now);
  await killed.divert(1, [uri(1), uri(2)]);
  await killed.divert(1, [uri(2)]);
  await killed.divert(2, [uri(3)]);
  t.same(readdirSync(directory).sort(), [
    '2026010203-0-to-1.schedule.open',
    '2026010203-0-to-2.schedule.open',
  ]);
  // The process is killed here, and starts again in the same hour.
  {
    await using again = await Diversions.open(directory, 0, () => now);
    await again.divert(1, [uri(4)]);
    now += 3_600_000;
    await again.divert(1, [uri(5)]);
  }
  t.same(readdirSync(directory).sort(), [
    '2026010203-0-to-1-2.schedule',
    '2026010203-0-to-1.schedule',
    '2026010203-0-to-2.schedule',
    '2026010204-0-to-1.schedule',
  ]);
  t.equal(
    readFileSync(join(directory, '2026010203-0-to-1.schedule'), 'latin1'),
    'F+ http://a.test/1 L http://b.test/\nF+ http://a.test/2 L http://b.test/\n',
  );
});

t.test('CRAWL-9.8: crawlers pass URIs on by their action directories', async (t) => {
  const directory = await temporaryDirectory(t);
  // Two hosts of different crawlers.
  const map = new CrawlMap({ crawlers: 2, own: 0, by: 'domain' });
  const hosts = Array.from({ length: 50 }, (_, i) => `127.0.4.${i + 1}`);
  const hostOf = (crawler: number): string =>
    hosts.find((host) => (map.foreignCrawler(`http://${host}/`, '') ?? 0) === crawler) ?? '';
  await using other = await Site.start({ '/': 'other', '/linked': 'linked', '/back': 'back' }, hostOf(1));
  await using site = await Site.start(
    {
      '/': `<a href="${other.url}/linked">l</a> <a href=/own>o</a>`,
      '/own': `<a href="${other.url}/back">b</a>`,
    },
    hostOf(0),
  );
  const order = (own: number) => ({
    logs: true,
    mapper: { crawlers: 2, own },
    actions: { directory: join(directory, 'actions'), firstLookSeconds: 0 },
    scope: [{ rule: 'all' as const, answer: 'ACCEPT' as const }],
    seeds: [`${site.url}/`, `${other.url}/`],
    settings: { urlForm: 'clean' as const },
  });
  const first = join(directory, 'first');
  {
    await using crawler = await openOrdered(first, `${site.url} Host=10`, order(0));
    await crawler.run(never);
  }
  t.same(
    site.requests.map(({ path }) => path).filter((path) => path !== '/robots.txt'),
    ['/', '/own'],
  );
  t.same(other.requests, [], 'nothing is requested from the host of the other crawler');
  const log = readFileSync(join(first, 'crawl/logs/crawl.log'), 'latin1');
  t.match(log, new RegExp(` -5002 +- ${other.url}/ .* to:1`), 'its seed');
  const diversions = readdirSync(join(first, 'crawl/diversions'));
  t.match(diversions, [/^\d{10}-0-to-1\.schedule$/]);
  const [name = ''] = diversions;
  const text = readFileSync(join(first, 'crawl/diversions', name), 'latin1');
  t.same(text.split('\n').sort(), [
    '',
    `F+ ${other.url}/  `,
    `F+ ${other.url}/back LL ${site.url}/own`,
    `F+ ${other.url}/linked L ${site.url}/`,
  ]);

  mkdirSync(join(directory, 'actions'));
  copyFileSync(join(first, 'crawl/diversions', name), join(directory, 'actions', name));
  await using second = await openOrdered(join(directory, 'second'), `${other.url} Host=10`, {
    ...order(1),
    pauseAtFinish: true,
  });
  const stop = new AbortController();
  const running = second.run(stop.signal);
  await waitUntil(() => other.requests.some(({ path }) => path === '/back'));
  stop.abort();
  await t.rejects(running);
  t.ok(other.requests.some(({ path }) => path === '/linked'));
  t.equal(site.requests.filter(({ path }) => path === '/').length, 1, 'the first host is not fetched again');
});

t.test('CRAWL-19: the number of a crawler is below the number of crawlers', async (t) => {
  t.match(orderProblems(crawlOrderSchema.parse({ mapper: { crawlers: 2, own: 2 } })), [
    { path: ['mapper', 'own'] },
  ]);
  t.same(orderProblems(crawlOrderSchema.parse({ mapper: { crawlers: 2, own: 1 } })), []);
});
