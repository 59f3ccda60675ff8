// What is ordered at one of the processes that share a crawl holds for all of them, and limits count what all have done.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CrawlSnapshot } from '../../servers/crawler/index.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { ManySites } from '../helpers/many-sites.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

interface Setting {
  readonly sites: ManySites;
  readonly data: (name: string) => string;
  readonly join: (name: string, ...more: readonly string[]) => CliProcess;
  readonly file: string;
}

async function setUp(t: Test, root: string, name: string, node: string, order = {}): Promise<Setting> {
  const directory = join(root, name);
  await mkdir(directory, { recursive: true });
  // So many that no crawl is over before it is stopped.
  const sites = new ManySites(5000, 3);
  await sites.start();
  t.teardown(() => sites.close());
  const file = join(directory, 'crawl.cf');
  await writeFile(join(directory, 'order.json'), JSON.stringify(order));
  await writeFile(
    file,
    `Gatherer-Name: ${name}\nGatherer-Host: localhost\nStore-URL: ${urlOf(name)}\n` +
      (Object.keys(order).length === 0 ? '' : `Crawl-Order: ${join(directory, 'order.json')}\n`) +
      `<RootNodes>\n${sites.urlOf(0)}/ Depth=0 ${node}\n</RootNodes>\n`,
  );
  const started: CliProcess[] = [];
  t.teardown(async () => {
    for (const crawler of started) crawler.kill('SIGKILL');
    await Promise.all(started.map(({ finished }) => finished));
  });
  const data = (name: string): string => join(directory, name);
  return {
    ...{ sites, data, file },
    join: (name, ...more) => {
      const args = ['crawl', 'join', file, '--data', data(name), '--lease', '10', '--json', ...more];
      const crawler = new CliProcess(args);
      started.push(crawler);
      return crawler;
    },
  };
}

let postgres = '';
/** A database of its own for each test. */
const urlOf = (name: string): string => `postgres://harvest@${postgres}/${name}`;

/** Waits for a state of a process, as its console shows it. */
async function reaches(
  data: string,
  state: string,
  also: (snapshot: CrawlSnapshot) => boolean = () => true,
): Promise<CrawlSnapshot> {
  for (;;) {
    const { code, stdout } = await cli('crawl', 'watch', '--once', '--json', '--data', data);
    if (code !== 0) continue;
    const snapshot = JSON.parse(stdout) as CrawlSnapshot;
    if (snapshot.state === state && also(snapshot)) return snapshot;
  }
}

t.test('the processes of a shared crawl', async (t) => {
  const root = await temporaryDirectory(t);
  const cluster = await TestPostgres.start(root, { max_connections: '200' });
  t.teardown(() => cluster[Symbol.asyncDispose]());
  postgres = `127.0.0.1:${cluster.servers[0]!.port}`;
  for (const name of ['orders', 'documents', 'urls']) cluster.createDatabase(name);

  await t.test('pause, resume and stop at one are for all', async (t) => {
    const { sites, data, join } = await setUp(t, root, 'orders', 'URL=100000 Host=100000 Delay=0.3');
    const one = join('one', '--begin', '--partitions', '32');
    await sites.served.reached(1);
    const two = join('two');
    await reaches(data('two'), 'running');
    t.equal((await cli('crawl', 'pause', '--data', data('one'))).code, 0);
    await Promise.all([reaches(data('one'), 'paused'), reaches(data('two'), 'paused')]);
    const late = join('late');
    await reaches(data('late'), 'paused');
    const served = sites.served.count;
    t.equal((await cli('crawl', 'resume', '--data', data('two'))).code, 0);
    t.equal(sites.served.count >= served, true);
    await Promise.all(['one', 'two', 'late'].map((name) => reaches(data(name), 'running')));
    const hasAll = ({ processes = [] }: CrawlSnapshot): boolean =>
      processes.length === 3 && processes.reduce((sum, { partitions }) => sum + partitions, 0) === 32;
    const { workers, processes = [] } = await reaches(data('one'), 'running', hasAll);
    t.equal(workers, 48, 'its console shows all processes');
    t.ok(
      processes.every(({ partitions }) => partitions <= 11),
      'each has its share',
    );
    t.equal((await cli('crawl', 'stop', '--data', data('late'))).code, 0);
    const ends = await Promise.all([one, two, late].map(({ finished }) => finished));
    for (const { code, stdout } of ends)
      t.match([code, JSON.parse(stdout)], [0, { end: 'ended by operator' }]);
    const again = join('one');
    await reaches(data('one'), 'running');
    t.equal((await cli('crawl', 'stop', '--data', data('one'))).code, 0);
    t.equal((await again.finished).code, 0);
  });

  await t.test('a number of documents is that of all', async (t) => {
    const { sites, join } = await setUp(t, root, 'documents', 'URL=100000 Host=100000 Delay=0.3', {
      maxDocuments: 60,
    });
    const crawlers = ['one', 'two', 'three'].map((name) => join(name, '--begin', '--partitions', '32'));
    const ends = await Promise.all(crawlers.map(({ finished }) => finished));
    for (const { code, stdout } of ends) t.match([code, JSON.parse(stdout)], [0, { end: 'document limit' }]);
    t.ok(sites.served.count >= 60, `${sites.served.count}`);
    t.comment(`${sites.served.count} pages for a limit of 60`);
  });

  await t.test('URL-Max and Host-Max are those of all', async (t) => {
    const { sites, join } = await setUp(t, root, 'urls', 'URL=100 Host=50 Delay=0.05');
    const crawlers = ['one', 'two', 'three'].map((name) => join(name, '--begin', '--partitions', '32'));
    const ends = await Promise.all(crawlers.map(({ finished }) => finished));
    for (const { code, stdout } of ends) t.match([code, JSON.parse(stdout)], [0, { end: 'finished' }]);
    const pages = sites.log.filter(({ path }) => path !== '/robots.txt');
    t.equal(new Set(pages.map(({ host, path }) => host + path)).size, 100);
    t.ok(new Set(pages.map(({ host }) => host)).size <= 50);
  });
});
