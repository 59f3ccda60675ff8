// CRAWL-19: every key of a crawl order has an effect, and a row that shows it: with the key, and not without
// it.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { CrawlMap } from '../../servers/crawler/mapper/diversions.js';
import { orderProblems } from '../../servers/crawler/order/check-order.js';
import { describeSettings } from '../../servers/crawler/order/describe.js';
import { crawlOrderSchema } from '../../servers/crawler/order/order.js';
import { FrontierPreparer } from '../../servers/crawler/preparer.js';
import { HostAddresses } from '../../servers/crawler/servers/host-addresses.js';
import { zstdProblem } from '../../servers/crawler/warc/zstd-frames.js';
import { GatherSettings } from '../../servers/gatherer/configuration/gather-settings.js';
import { Site } from '../helpers/site.js';
import { BROWSER_ROWS } from '../servers/crawler/order-keys/browser-rows.js';
import { type CrawlView, crawl, PAGES } from '../servers/crawler/order-keys/crawls.js';
import { HOST_ROWS, PROXY_LOGIN } from '../servers/crawler/order-keys/host-rows.js';
import { crawlRows } from '../servers/crawler/order-keys/hosts.js';
import { ORDER_ROWS, type OrderRow } from '../servers/crawler/order-keys/order-rows.js';
import {
  driveShared,
  fullOrder,
  PASSWORD,
  plainOrder,
  sharedRows,
} from '../servers/crawler/order-keys/shared-rows.js';

process.env[PROXY_LOGIN] = 'user:password';
process.env[PASSWORD] = 'open sesame';

/** Settings without a crawl: one host name, and hours of a clock, show them. */
const PURE_ROWS: Readonly<Record<string, () => Promise<readonly [boolean, boolean]>>> = {
  'warc.compression': async () => {
    const isZstd = async (compression: 'gzip' | 'zstd'): Promise<boolean> => {
      const order = crawlOrderSchema.parse({ warc: { directory: 'warc', compression } });
      // Node.js before 22.15 refuses it.
      if (zstdProblem() !== undefined) return orderProblems(order).length > 0;
      const directory = mkdtempSync(join(tmpdir(), 'order-key-'));
      try {
        await using site = await Site.start(PAGES);
        await crawl(directory, site, {
          order: { warc: { directory: join(directory, 'warc'), compression } },
        });
        return readdirSync(join(directory, 'warc')).some((name) => name.endsWith('.warc.zst'));
      } finally {
        rmSync(directory, { recursive: true });
      }
    };
    return [await isZstd('zstd'), await isZstd('gzip')];
  },
  'mapper.by': async () => {
    const isByDomain = (by: 'domain' | 'queue'): boolean => {
      const map = new CrawlMap({ crawlers: 10_000, own: 0, by });
      const [a, b] = ['a', 'b'].map((name) => map.foreignCrawler(`http://${name}.example.org/`, name));
      return a === b;
    };
    return [isByDomain('domain'), isByDomain('queue')];
  },
  'settings.queueLabels': async () => {
    const isShort = (queueLabels: number): boolean => {
      const order = crawlOrderSchema.parse({ settings: { queueAssignment: 'limits', queueLabels } });
      const settings = new GatherSettings(order, true, []);
      const preparer = new FrontierPreparer({ settingsFor: (uri) => settings.forUri(uri) });
      const uri = { url: 'http://a.b.example.org/', via: '', pathFromSeed: '', sourceTag: '' };
      return !preparer.prepare(uri).classKey.includes('example');
    };
    return [isShort(1), isShort(2)];
  },
  'settings.ipValiditySeconds': async () => {
    const isResolvedAgain = async (ipValiditySeconds: number): Promise<boolean> => {
      const settings = new GatherSettings(
        crawlOrderSchema.parse({ settings: { ipValiditySeconds } }),
        true,
        [],
      );
      let lookups = 0;
      let now = 0;
      const addresses = new HostAddresses({
        validitySeconds: (host) => settings.forUrl(`http://${host}/`).ipValiditySeconds,
        lookup: async () => {
          lookups++;
          return { addresses: ['192.0.2.1'], ttlSeconds: 1 };
        },
        now: () => now,
      });
      await addresses.resolve(['host.example']);
      now = 3_600_000;
      await addresses.resolve(['host.example']);
      return lookups === 2;
    };
    return [await isResolvedAgain(60), await isResolvedAgain(21_600)];
  },
};

t.test('CRAWL-19.5 each setting of a URI has its effect, on the host whose sheet sets it', async (t) => {
  const views = await crawlRows(t.testdir(), HOST_ROWS);
  for (const [index, { key, shows }] of HOST_ROWS.entries()) {
    const [withKey, without] = views[index]!;
    t.equal(shows(withKey), true, `${key}: with it`);
    t.equal(shows(without), false, `${key}: without it`);
  }
});

/** Runs the crawl of a row, with its option or without it. */
async function runRow(directory: string, row: OrderRow, isSet: boolean): Promise<boolean> {
  const { pages = () => PAGES, both = () => ({}), set, drive, hosts, openBrowser, shows } = row;
  mkdirSync(directory, { recursive: true });
  await using site = await Site.start(pages());
  const order = { ...both(directory), ...(isSet ? set(directory) : {}) };
  const options = {
    order,
    drive,
    hosts: hosts === undefined ? undefined : typeof hosts === 'function' ? hosts(directory) : hosts,
    openBrowser,
  };
  if (row.twice === true) await crawl(directory, site, options);
  const view = await crawl(directory, site, { ...options, force: row.twice === true });
  return shows(view);
}

t.test('CRAWL-19.2 each option of the order that needs a crawl of its own has its effect', async (t) => {
  const directory = t.testdir();
  await Promise.all(
    [...ORDER_ROWS, ...BROWSER_ROWS].map(async (row) => {
      const directoryOf = (isSet: boolean): string => join(directory, row.key, String(isSet));
      const [withKey, without] = await Promise.all([
        runRow(directoryOf(true), row, true),
        runRow(directoryOf(false), row, false),
      ]);
      t.equal(withKey, true, `${row.key}: with it`);
      t.equal(without, false, `${row.key}: without it`);
    }),
  );
});

t.test('CRAWL-19.2 the other options have their effect in one crawl', async (t) => {
  const directory = t.testdir({ full: {}, plain: {} });
  const port = await freePort();
  const run = async (name: 'full' | 'plain'): Promise<CrawlView> => {
    const own = join(directory, name);
    const site = await Site.start(PAGES);
    t.teardown(() => site.close());
    const order = name === 'full' ? fullOrder(own, site.url, port) : plainOrder(own);
    return crawl(own, site, { order, drive: driveShared });
  };
  const [full, plain] = await Promise.all([run('full'), run('plain')]);
  for (const [key, shows] of Object.entries(sharedRows(port))) {
    t.equal(shows(full), true, `${key}: with it`);
    t.equal(shows(plain), false, `${key}: without it`);
  }
});

t.test('CRAWL-9.4, 12.3, 18.6 some settings have their effect without a crawl of these sites', async (t) => {
  for (const [key, run] of Object.entries(PURE_ROWS)) t.same(await run(), [true, false], key);
});

t.test('every key of the schema has one row', (t) => {
  const keys = [...describeSettings().map(({ path }) => path), 'chains', 'sheets'];
  const rows = [
    ...HOST_ROWS.map(({ key }) => key),
    ...ORDER_ROWS.map(({ key }) => key),
    ...BROWSER_ROWS.map(({ key }) => key),
    ...Object.keys(sharedRows(0)),
    ...Object.keys(PURE_ROWS),
  ];
  t.same(rows.toSorted(), keys.toSorted());
  const sections = Object.keys(crawlOrderSchema.shape).filter((name) => !keys.includes(name));
  t.same(
    sections.toSorted(),
    ['actions', 'browser', 'console', 'mapper', 'settings', 'warc'],
    'sections whose keys have rows',
  );
  t.end();
});

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.3');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
