// Whole crawls for the options of an order, which no sheet can set.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { parseGathererConf } from '../../../../protocols/config/index.js';
import type { CrawlControl, CrawlSnapshot } from '../../../../servers/crawler/index.js';
import { parseCrawlLogLine } from '../../../../servers/crawler/logs/crawl-log.js';
import type { CrawlOrderInput } from '../../../../servers/crawler/order/order.js';
import { readOrder } from '../../../../servers/crawler/order/read-order.js';
import { Gatherer, type GathererOptions, type GatherReport } from '../../../../servers/gatherer/index.js';
import { type Page, page, type Site } from '../../../helpers/site.js';

/** A crawl while it runs. */
export interface Running {
  readonly control: CrawlControl;
  readonly consoleUrl: string | undefined;
  readonly site: Site;
  /** The directory of the crawl's files. */
  readonly crawl: string;
}

export interface CrawlOptions {
  readonly order: CrawlOrderInput;
  readonly pages?: Readonly<Record<string, Page>>;
  /** Further hosts, as RootNodes. */
  readonly hosts?: readonly string[] | undefined;
  /** Acts on the running crawl; returns what it saw. */
  readonly drive?: ((running: Running) => Promise<unknown>) | undefined;
  readonly force?: boolean;
  readonly openBrowser?: GathererOptions['openBrowser'] | undefined;
}

type LogLine = NonNullable<ReturnType<typeof parseCrawlLogLine>>;

/** What happened in a crawl. */
export interface CrawlView {
  readonly site: Site;
  readonly report: GatherReport;
  /** When it ended. */
  readonly snapshot: CrawlSnapshot;
  /** Lines of crawl.log by path; empty without a log. */
  readonly lines: ReadonlyMap<string, LogLine>;
  /** The directory of the crawl's files. */
  readonly crawl: string;
  readonly control: CrawlControl;
  readonly consoleUrl: string | undefined;
  /** What the driver saw. */
  readonly seen: unknown;
}

export const PAGES: Readonly<Record<string, Page>> = {
  '/': page('Start', ['/a', '/b', '/c', '/d', '/e', '/members'], '<img src="/i.png">'),
  '/a': page('A', []),
  '/b': page('B', []),
  '/c': page('C', []),
  '/d': page('same', []),
  '/e': page('same', []),
  '/seed': page('Seed', []),
  '/members': ({ headers }, response) => {
    const isMember =
      headers.authorization === `Basic ${Buffer.from('member:open sesame').toString('base64')}`;
    response
      .writeHead(isMember ? 200 : 401, { 'www-authenticate': 'Basic realm="Members"' })
      .end(isMember ? 'welcome' : 'members only');
  },
};

const LOG = pino({ enabled: false });

const FAST = { delayFactor: 0, minDelayMs: 0, retryDelaySeconds: 0 };

/** Crawls a site by an order. The crawl's directory is `data/` in this one. */
export async function crawl(directory: string, site: Site, options: CrawlOptions): Promise<CrawlView> {
  const { order, hosts = [], drive = async () => undefined, force = false, openBrowser } = options;
  const roots = [`${site.url}/`, ...hosts].map((url) => `${url} Delay=0`).join('\n');
  const text = `Gatherer-Name: T\nGatherer-Host: g.example.org\nAccess-Delay: 0\n<RootNodes>\n${roots}\n</RootNodes>\n`;
  const data = join(directory, 'data');
  const crawlDirectory = join(data, 'crawl');
  let report: GatherReport | undefined;
  let seen: unknown;
  let control: CrawlControl | undefined;
  let consoleUrl: string | undefined;
  let driven: Promise<unknown> = Promise.resolve();
  const given = { ...order, settings: { ...FAST, ...order.settings } };
  // The profile of an order is applied when it is read.
  const read = readOrder(JSON.stringify(given), join(directory, 'order.json'));
  {
    await using gatherer = await Gatherer.open({
      directory: data,
      config: parseGathererConf(text, 'test.cf', {}).config,
      order: read,
      essenceWorkers: 0,
      force,
      log: LOG,
      openBrowser,
      onControl: (running, url) => {
        control = running;
        consoleUrl = url;
        driven = drive({ control: running, consoleUrl: url, site, crawl: crawlDirectory });
      },
    });
    report = await gatherer.run(new AbortController().signal);
    seen = await driven;
  }
  const lines = linesOf(crawlDirectory);
  return {
    site,
    report: report!,
    snapshot: control!.snapshot(),
    lines,
    crawl: crawlDirectory,
    control: control!,
    consoleUrl,
    seen,
  };
}

function linesOf(crawlDirectory: string): ReadonlyMap<string, LogLine> {
  const logs = join(crawlDirectory, 'logs');
  const names = existsSync(logs) ? readdirSync(logs).filter((name) => name.startsWith('crawl.log')) : [];
  const lines = names
    .flatMap((name) => readFileSync(join(logs, name), 'utf8').trimEnd().split('\n'))
    .map((line) => parseCrawlLogLine(line))
    .filter((line) => line !== undefined);
  return new Map(lines.map((line) => [new URL(line.url).pathname, line]));
}
