// Brokers that share a store in PostgreSQL: what one collects all find, while brokers and the primary are killed.
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { CliProcess } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { SharingBroker } from '../helpers/postgres/sharing-broker.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { document, NOW, type ScriptedGatherd, startScripted } from '../servers/broker/helpers.js';

const root = await temporaryDirectory(t);
const cluster = await TestPostgres.start(root);
t.teardown(() => cluster[Symbol.asyncDispose]());
const [first] = cluster.servers;
if (first === undefined) throw new Error('no server');
const standby = await cluster.addStandby(first);

const documentsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => {
    const n = from + i;
    const updateTime = NOW - 100_000 + n;
    const text = document(
      `http://www.example.org/${n}`,
      { Title: `common word${n}`, Body: 'text '.repeat(200) },
      updateTime,
    ).replace(/Time-to-Live\{7\}:\t2419200/, 'Time-to-Live{1}:\t0');
    return { updateTime, text };
  });
const gatherd = await startScripted(t, documentsOf(0, 300));
/** Two more points, whose objects have other numbers. */
const second = await startScripted(t, documentsOf(10_000, 10_050));
const last = await startScripted(t, documentsOf(20_000, 20_050));
const gatherds = [gatherd, second, last];

const sharing = (name: string, byOption: boolean) =>
  new SharingBroker(join(root, name), { t, url: cluster.url(), byOption, gatherds });
const one = sharing('one', false);
const other = sharing('other', true);
const third = sharing('third', true);
const brokers = [one, other, third];

t.test('what one broker collects, the other one finds', async (t) => {
  for (const broker of [one, other]) {
    await broker.create();
    await broker.start();
  }
  await one.collect();
  await one.finds('common', 400);
  await other.finds('common', 400);
  t.equal(await other.count('word299'), 1);
});

t.test('both collect the same at once: each object is there once', async (t) => {
  gatherd.documents = documentsOf(0, 700);
  await Promise.all([one.collect(), other.collect()]);
  await one.finds('common', 800);
  await other.finds('common', 800);
  t.equal(await one.count('word650'), 1);
});

t.test('a request to one is divided between all: each point is collected from once', async (t) => {
  await third.create();
  await third.start();
  gatherds.forEach((one, i) => {
    one.documents = documentsOf(10_000 * i, 10_000 * i + 1000);
    one.commands.length = 0;
  });
  await one.collect();
  await waitUntil(async () =>
    (await Promise.all(gatherds.map((point) => one.holderOf(point)))).every((holder) => holder === undefined),
  );
  for (const broker of brokers) await broker.finds('common', 3000);
  t.same(
    gatherds.map(({ commands }) => commands.filter((command) => command === 'QUIT').length),
    [1, 1, 1],
  );
});

/** Begins a collection whose point waits for its Gatherer, and returns the Broker that has it. */
async function holderOfWaiting(
  point: ScriptedGatherd,
  documents: number,
): Promise<{ holder: SharingBroker; open: () => void }> {
  let open = (): void => undefined;
  point.gate = new Promise((resolve) => {
    open = resolve;
  });
  const from = 10_000 * gatherds.indexOf(point);
  point.documents = documentsOf(from, from + documents);
  await one.startCollection();
  let holder: SharingBroker | undefined;
  await waitUntil(async () => {
    const pid = await third.holderOf(point);
    holder = brokers.find(({ process }) => process?.child.pid === pid);
    return holder !== undefined;
  });
  return { holder: holder!, open };
}

t.test('the point of a broker that is killed is taken over by another one', async (t) => {
  const { holder, open } = await holderOfWaiting(second, 1500);
  const rest = brokers.filter((broker) => broker !== holder);
  await holder.kill();
  open();
  for (const broker of rest) await broker.finds('common', 3500);
  await holder.start();
  await holder.finds('common', 3500);
  t.equal(await holder.count('word11499'), 1);
});

t.test('a broker that stands still loses its point, and writes nothing when it wakes up', async (t) => {
  const { holder, open } = await holderOfWaiting(last, 1500);
  const rest = brokers.filter((broker) => broker !== holder);
  const pid = holder.process?.child.pid;
  holder.process?.child.kill('SIGSTOP');
  await waitUntil(async () => {
    const next = await rest[0]?.holderOf(last);
    return next !== undefined && next !== pid;
  });
  open();
  for (const broker of rest) await broker.finds('common', 4000);
  holder.process?.child.kill('SIGCONT');
  await holder.finds('common', 4000);
  await holder.process?.output(/another broker continues, because this one stood still/, 'stderr');
  t.equal(await holder.count('word21499'), 1);
});

t.test('a broker that was killed in a collection has what it had, and the others continue', async (t) => {
  gatherd.documents = documentsOf(0, 5000);
  await one.startCollection();
  await waitUntil(async () => Number(await other.count('common')) > 4000);
  await one.kill();
  await other.finds('common', 8000);
  await third.finds('common', 8000);
  await one.start();
  await one.finds('common', 8000);
  t.equal(await one.count('word4999'), 1);
});

t.test('the primary is killed and the standby promoted: nothing acknowledged is lost', async (t) => {
  gatherd.documents = documentsOf(0, 8000);
  await one.startCollection();
  await waitUntil(async () => Number(await other.count('common')) > 8000);
  const acknowledged = Number(await other.count('common'));
  await first.kill();
  standby.promote();
  await waitUntil(async () => Number(await other.count('common')) >= acknowledged);
  // The collection may have failed in between.
  while (Number(await one.count('common')) < 11_000) await one.collect();
  for (const broker of brokers) await broker.finds('common', 11_000);
  t.equal(await other.count('word7999'), 1);
});

t.test('what cannot be opened is a sentence', async (t) => {
  const open = async (url: string) => {
    const broker = sharing(`wrong${await freePort()}`, true);
    await broker.create();
    return new CliProcess(['broker', '-nocol', '--store', url, broker.file]).finished;
  };
  const closed = await freePort();
  t.match(await open(`postgres://harvest@127.0.0.1:${closed}/postgres`), {
    code: 1,
    stderr: /the database postgres:\/\/\S+\/postgres cannot be reached: .*ECONNREFUSED/,
  });
  t.match(await open(`postgres://harvest@127.0.0.1:${standby.port}/nowhere`), {
    code: 1,
    stderr: /refuses: database "nowhere" does not exist; create it with `createdb`/,
  });
  t.match(await open('postgres://harvest:secret@127.0.0.1/postgres'), {
    code: 2,
    stderr: /Store-URL: must have no password/,
  });
  const client = new pg.Client({
    host: '127.0.0.1',
    port: standby.port,
    user: 'harvest',
    database: 'postgres',
  });
  await client.connect();
  await client.query("update harvest_broker.store set version = 99 where kind = 'broker'");
  t.match(await open(cluster.url()), { code: 1, stderr: /has version 99 .*; this program reads/ });
  await client.query('create schema other; create table other.rows (a int)');
  await client.end();
  t.match(await open(`postgres://harvest@127.0.0.1:${standby.port}/postgres?schema=other`), {
    code: 1,
    stderr: /the schema other of .* has tables, but no store/,
  });
});
