// Three processes share one crawl of many sites, while they are killed and the primary fails: every page is gathered,
// no site has two requests at once, and none comes before its time, as the log of the sites says.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { Generations } from '../../storage/index.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { type LoggedRequest, ManySites } from '../helpers/many-sites.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { Random } from '../helpers/random.js';
import { SEED } from '../helpers/seed.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const SITES = Number(process.env.HARVEST_TEST_SITES ?? 1000);
const PAGES_OF_SITE = 2;
const KILLS = 10;
const FAILURES = 3;
const DELAY_MS = 300;
/** Timers and the log may differ by this. */
const TOLERANCE_MS = 5;
const random = new Random(SEED);

t.test('1 000 sites, three crawlers, ten kills, three failures of the primary', async (t) => {
  const root = await temporaryDirectory(t);
  const cluster = await TestPostgres.start(root, { max_connections: '200' });
  t.teardown(() => cluster[Symbol.asyncDispose]());
  const sites = new ManySites(SITES, PAGES_OF_SITE);
  await sites.start();
  t.teardown(() => sites.close());
  const ports = [cluster.servers[0]!.port];
  for (let i = 0; i < FAILURES; i++) ports.push(await freePort());
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const file = join(root, 'crawl.cf');
  await mkdir(root, { recursive: true });
  await writeFile(
    file,
    `Gatherer-Name: Test\nGatherer-Host: localhost\nStore-URL: postgres://harvest@${hosts}/postgres\n` +
      `<RootNodes>\n${sites.urlOf(0)}/ URL=100000 Host=100000 Depth=0 Delay=${DELAY_MS / 1000}\n</RootNodes>\n`,
  );
  const start = (i: number, ...more: readonly string[]): CliProcess =>
    new CliProcess([
      'crawl',
      'join',
      file,
      '--data',
      join(root, `data${i}`),
      '--lease',
      '6',
      '--json',
      ...more,
    ]);
  const crawlers = [0, 1, 2].map((i) => start(i, '--begin', '--partitions', '128'));
  t.teardown(() => {
    for (const crawler of crawlers) crawler.kill('SIGKILL');
  });
  const total = SITES * PAGES_OF_SITE;
  let killed = 0;
  const kill = async (): Promise<void> => {
    for (; killed < KILLS; killed++) {
      await sites.served.reached(Math.floor(((killed + 1) * total) / (KILLS + 3)));
      const i = random.below(crawlers.length);
      t.comment(`crawler ${i} is killed at ${sites.served.count}`);
      crawlers[i]!.kill('SIGKILL');
      await crawlers[i]!.finished;
      crawlers[i] = start(i);
    }
  };
  let promoted = 0;
  const fail = async (): Promise<void> => {
    let primary = cluster.servers[0]!;
    for (; promoted < FAILURES; promoted++) {
      const standby = await cluster.addStandby(primary, ports[promoted + 1]);
      await sites.served.reached(Math.floor(((promoted + 0.5) * total) / (FAILURES + 0.5)));
      t.comment(`the primary is killed at ${sites.served.count}`);
      await primary.kill();
      standby.promote();
      primary = standby;
    }
  };
  await Promise.all([kill(), fail()]);
  const ends = await Promise.all(crawlers.map((crawler) => crawler.finished));
  t.same(
    ends.map(({ code, stderr }) => (code === 0 ? 0 : stderr)),
    [0, 0, 0],
  );
  t.same([killed, promoted], [KILLS, FAILURES]);

  const times = new Map<string, number>();
  const ofSite = new Map<string, LoggedRequest[]>();
  for (const entry of sites.log) {
    ofSite.set(entry.host, [...(ofSite.get(entry.host) ?? []), entry]);
    if (entry.path === '/robots.txt') continue;
    const url = entry.host + entry.path;
    times.set(url, (times.get(url) ?? 0) + 1);
  }
  t.equal(times.size, total, 'every page');
  const again = [...times.values()].reduce((sum, count) => sum + count - 1, 0);
  t.comment(`${again} requests of ${total} pages were repeated`);
  // Of a killed process those that its 16 workers had; of a failure those whose leases ended with it.
  t.ok(again <= 16 * (KILLS + 3 * FAILURES), `${again} requests again`);
  const overlaps: string[] = [];
  const early: string[] = [];
  for (const [host, entries] of ofSite) {
    entries.forEach((entry, i) => {
      const before = entries[i - 1];
      if (before === undefined) return;
      if (entry.begin < before.end) overlaps.push(`${host}${entry.path}`);
      if (entry.path === '/robots.txt' || before.path === '/robots.txt') return;
      if (entry.begin - before.end < DELAY_MS - TOLERANCE_MS) early.push(`${host}${entry.path}`);
    });
  }
  t.same(overlaps, [], 'no site has two requests at once');
  t.same(early, [], 'no request comes before its time');

  const exported = await cli('gatherer', '--export', '--no-daemon', '--data', join(root, 'export'), file);
  t.equal(exported.code, 0, exported.stderr);
  await using snapshot = await new Generations(join(root, 'export', 'generations')).open();
  t.equal(snapshot.count, total, 'every page has its object');
  t.match(await cli('crawl', 'join', file, '--data', join(root, 'late')), {
    code: 2,
    stderr: /no crawl of this configuration is in progress/,
  });
});
