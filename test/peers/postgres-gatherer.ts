// A Gatherer whose store is in PostgreSQL: every page once, while the primary fails and the Gatherer is killed; its
// statements are few, and what cannot be opened is a sentence.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { Checkpoints, restoreCheckpoint } from '../../servers/crawler/checkpoint.js';
import { GathererStore, Generations } from '../../storage/index.js';
import { ANY_PORTS, CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const PAGES = 200;
const pathOf = (number: number): string => (number === 0 ? '/' : `/${number}`);
const pages = Array.from({ length: PAGES }, (_, i) => {
  const links = [2 * i + 1, 2 * i + 2, (i * 7) % PAGES, (i * 13) % PAGES].filter((n) => n < PAGES);
  return [pathOf(i), page(`page ${i}`, links.map(pathOf), 'word '.repeat(200))] as const;
});

const root = await temporaryDirectory(t);
const cluster = await TestPostgres.start(root, { shared_preload_libraries: 'pg_stat_statements' });
t.teardown(() => cluster[Symbol.asyncDispose]());
const [primary] = cluster.servers;
if (primary === undefined) throw new Error('no server');
let main = primary;

/** Runs statements on the primary. */
async function query<T extends pg.QueryResultRow>(text: string): Promise<T[]> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: main.port,
    user: 'harvest',
    database: 'postgres',
  });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

const startSite = (): Promise<Site> => Site.start(Object.fromEntries(pages));

/** A Gatherer with a configuration and a schema of its own. */
async function gathererOf(site: Site, name: string): Promise<{ file: string; data: string; args: string[] }> {
  const directory = join(root, name);
  const file = join(directory, 'gatherer.cf');
  const data = join(directory, 'data');
  await mkdir(directory, { recursive: true });
  await writeFile(
    file,
    `Gatherer-Name: Test\nGatherer-Host: localhost\nAccess-Delay: 0\nData-Directory: ${data}\n` +
      `Store-URL: ${cluster.url(`schema=${name}`)}\n` +
      `<RootNodes>\n${site.url}/ URL=5000 Depth=0 Delay=0\n</RootNodes>\n`,
  );
  return { file, data, args: ['gatherer', '--no-daemon', '--json', file] };
}

/** The number of times that each page was requested, by that number. */
function timesOf(site: Site): Record<number, number> {
  const counts = new Map<string, number>();
  for (const path of site.paths) counts.set(path, (counts.get(path) ?? 0) + 1);
  const times: Record<number, number> = {};
  for (const count of counts.values()) times[count] = (times[count] ?? 0) + 1;
  return times;
}

async function exportedFrom(data: string): Promise<number> {
  await using snapshot = await new Generations(join(data, 'generations')).open();
  return snapshot.count;
}

t.test('a crawl costs few statements, alone and with several connections', async (t) => {
  await query('create extension pg_stat_statements');
  for (const connections of ['1', '8']) {
    await using site = await startSite();
    await query(
      'drop schema if exists harvest_gatherer cascade; drop schema if exists harvest_broker cascade',
    );
    await query('select pg_stat_statements_reset()');
    const data = join(root, `run${connections}`);
    const args = ['--once', '--urls', '5000', '--connections', connections, '--store', cluster.url()];
    const { code, stdout } = await cli('run', '--data', data, ...ANY_PORTS, ...args, `${site.url}/`);
    t.equal(code, 0);
    t.match(JSON.parse(stdout), { exported: PAGES, objects: PAGES, references: { documents: PAGES } });
    t.same(timesOf(site), { 1: PAGES });
    const [row] = await query<{ sum: string }>(
      `select sum(calls) from pg_stat_statements where query like '%harvest_gatherer%' or query in ('begin', 'commit')`,
    );
    const each = Number(row?.sum) / PAGES;
    t.comment(`${each.toFixed(2)} statements a page with ${connections} connections`);
    // A page has at most six; opening, publication and collection have some of their own.
    t.ok(Number(row?.sum) <= 6 * PAGES + 250, `${row?.sum} statements for ${PAGES} pages`);
    t.same(await readdir(join(data, 'gatherer', 'working')), ['STORE-URL'], 'no LevelDB');
  }
});

t.test('the primary is killed and the standby promoted in the middle: each page once', async (t) => {
  const standby = await cluster.addStandby(primary);
  await using site = await startSite();
  const { args, data } = await gathererOf(site, 'failover');
  const running = new CliProcess(args);
  await site.served.reached(PAGES / 3);
  await primary.kill();
  const late = cli(
    'gatherer',
    '--no-daemon',
    '--data',
    join(root, 'late'),
    (await gathererOf(site, 'late')).file,
  );
  standby.promote();
  main = standby;
  const { code, stdout, stderr } = await running.finished;
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { objects: PAGES, gathered: { counts: { summarized: PAGES } } });
  t.equal((await late).code, 0, 'one that begins while there is no primary waits for it');
  t.same(timesOf(site), { 2: PAGES });
  t.equal(await exportedFrom(data), PAGES);
});

t.test('a Gatherer that is killed continues: only the page in flight is requested again', async (t) => {
  await using site = await startSite();
  const { args, data } = await gathererOf(site, 'kills');
  const kills = 5;
  for (let i = 1; i <= kills; i++) {
    const running = new CliProcess(args);
    await site.served.reached(Math.floor((i * PAGES) / (kills + 1)));
    running.kill('SIGKILL');
    await running.finished;
  }
  const { code, stdout } = await cli(...args);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { objects: PAGES, gathered: { resumed: true } });
  const { 1: once = 0, 2: twice = 0, ...more } = timesOf(site);
  t.same(more, {});
  t.equal(once + twice, PAGES);
  t.ok(twice <= kills, `${twice} pages twice`);
  t.equal(await exportedFrom(data), PAGES);
  const again = await cli(...args);
  t.match(JSON.parse(again.stdout), { objects: PAGES, gathered: { counts: { summarized: 0 } } });
});

t.test('a second Gatherer takes the store over, and the first one ends with a sentence', async (t) => {
  await using site = await startSite();
  const first = await gathererOf(site, 'owners');
  const running = new CliProcess(first.args);
  await site.served.reached(PAGES / 4);
  const { code } = await cli(...first.args.slice(0, -1), '--data', join(root, 'other'), first.file);
  t.equal(code, 0);
  t.match(await running.finished, {
    code: 1,
    stderr:
      /another process has opened the store in postgres:\/\/\S+, and this one may not write it any more/,
  });
  t.equal(await exportedFrom(join(root, 'other')), PAGES);
});

t.test('CRAWL-17.3 a checkpoint is restored into the database', async (t) => {
  const directory = join(root, 'restored');
  const working = join(directory, 'working');
  await mkdir(working, { recursive: true });
  await writeFile(join(working, 'STORE-URL'), `${cluster.url('schema=restored')}\n`);
  const store = await GathererStore.open(working);
  const checkpoints = await Checkpoints.open(join(directory, 'crawl', 'checkpoints'), {
    store,
    kept: 3,
    atRest: (work) => work(),
    components: () => ({ frontier: { queued: 0, succeeded: 0, bytes: 0 } }),
    rotate: () => Promise.resolve(),
  });
  const url = 'http://user:secret@site.test/';
  await store.batch().putMeta('value', url).commit();
  const { name } = await checkpoints.take();
  await store.batch().putMeta('value', 'another').commit();
  await store.close();
  await restoreCheckpoint(directory, checkpoints.directory, name);
  await using restored = await GathererStore.open(working);
  t.equal(await restored.meta.get('value'), url);
  t.same(await readdir(working), ['STORE-URL']);
  const rows = await query<{ value: Buffer }>('select value from restored.rows');
  t.notOk(
    rows.some(({ value }) => value.includes('secret')),
    'G-81',
  );
});

t.test('G-187 what cannot be opened is a sentence', async (t) => {
  await using site = await startSite();
  const { file } = await gathererOf(site, 'wrong');
  let count = 0;
  const open = (url: string) =>
    cli('gatherer', '--no-daemon', '--data', join(root, `wrong${++count}`), '--store', url, file);
  const closed = await freePort();
  t.match(await open(`postgres://harvest@127.0.0.1:${closed}/postgres`), {
    code: 1,
    stderr: /the database postgres:\/\/\S+\/postgres cannot be reached: .*ECONNREFUSED/,
  });
  t.match(await open(`postgres://harvest@127.0.0.1:${main.port}/nowhere`), {
    code: 1,
    stderr: /refuses: database "nowhere" does not exist; create it with `createdb`/,
  });
  const secret = await open('postgres://harvest:secret@127.0.0.1/postgres');
  t.match(secret, { code: 2, stderr: /--store: must have no password/ });
  t.notMatch(secret.stderr, /harvest:secret/);
  t.match(await open('mysql://127.0.0.1/x'), { code: 2, stderr: /--store: must be postgres:/ });
  t.match(await cli('run', '--once', '--store', cluster.url('schema=one'), `${site.url}/`), {
    code: 2,
    stderr: /--store: the gatherer and the broker have a schema each/,
  });
  await query("update owners.store set version = 99 where kind = 'gatherer'");
  t.match(await open(cluster.url('schema=owners')), {
    code: 1,
    stderr: /has version 99 .*; this program reads/,
  });
  t.match(await open(cluster.url('schema=harvest_broker')), {
    code: 1,
    stderr: /is a broker store, not a gatherer store/,
  });
  const files = await cli('gatherer', '--no-daemon', '--data', join(root, 'files'), file);
  t.equal(files.code, 0, 'the store of the configuration');
});
