// Brokers that share a store in PostgreSQL: what one collects all find, while brokers and the primary are killed.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import t from 'tap';
import { CliProcess, cli, startServer } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { TestPostgres } from '../helpers/postgres/cluster.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { document, exchange, NOW, startScripted } from '../servers/broker/helpers.js';

const READY = /^ready broker=127\.0\.0\.1:(\d+)(?: .*)?\n/m;
const PASSWORD = 'open sesame';

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

/** A Broker with a directory of its own and the common store. */
class SharingBroker {
  port = 0;
  process: Awaited<ReturnType<typeof startServer>>['server'] | undefined;

  constructor(
    readonly directory: string,
    readonly byOption: boolean,
  ) {}

  get file(): string {
    return join(this.directory, 'admin', 'broker.conf');
  }

  async create(): Promise<void> {
    await mkdir(join(this.directory, 'admin'), { recursive: true });
    const store = this.byOption ? '' : `Store-URL ${cluster.url()}\n`;
    await writeFile(
      this.file,
      `Broker-Port 0\nMax-Results 100000\nLog-Types Collection\nAdmin-Password ${PASSWORD}\n${store}`,
    );
    await writeFile(join(this.directory, 'admin', 'Collection.conf'), `127.0.0.1 ${gatherd.port} 1 --\n`);
  }

  async start(): Promise<void> {
    const option = this.byOption ? ['--store', cluster.url()] : [];
    const { server, found } = await startServer(t, READY, ['broker', '-nocol', ...option, this.file]);
    this.process = server;
    this.port = Number(found[0]);
  }

  async kill(): Promise<void> {
    this.process?.kill('SIGKILL');
    await this.process?.finished;
  }

  /** Requests a collection, which runs in the background. */
  async startCollection(): Promise<void> {
    const address = `127.0.0.1:${this.port}`;
    const { code } = await cli('broker', 'admin', '--password', PASSWORD, address, 'collection');
    t.equal(code, 0);
  }

  /** The collections that have ended, as the log says: the number of objects that each received. */
  async collections(): Promise<string[]> {
    const log = await readFile(join(this.directory, 'admin', 'LOG'), 'utf8').catch(() => '');
    return log.split('\n').filter((line) => / Collection: /.test(line));
  }

  async collect(): Promise<void> {
    const before = (await this.collections()).length;
    await this.startCollection();
    await waitUntil(async () => (await this.collections()).length > before);
  }

  /** The number of objects that a word finds; undefined if the Broker has no answer now. */
  async count(word: string): Promise<number | undefined> {
    const reply = await exchange(this.port, `#USER #opaque #END ${word}\r\n`);
    return /^111 /m.test(reply) ? undefined : [...reply.matchAll(/^120 - /gm)].length;
  }

  async finds(word: string, count: number): Promise<void> {
    await waitUntil(async () => (await this.count(word)) === count);
  }
}

const one = new SharingBroker(join(root, 'one'), false);
const other = new SharingBroker(join(root, 'other'), true);

t.test('what one broker collects, the other one finds', async (t) => {
  for (const broker of [one, other]) {
    await broker.create();
    await broker.start();
  }
  await one.collect();
  await one.finds('common', 300);
  await other.finds('common', 300);
  t.equal(await other.count('word299'), 1);
});

t.test('both collect the same at once: each object is there once', async (t) => {
  gatherd.documents = documentsOf(0, 700);
  await Promise.all([one.collect(), other.collect()]);
  await one.finds('common', 700);
  await other.finds('common', 700);
  t.equal(await one.count('word650'), 1);
});

t.test('a broker that was killed in a collection has what it had, and continues', async (t) => {
  gatherd.documents = documentsOf(0, 3000);
  await one.startCollection();
  await waitUntil(async () => Number(await other.count('common')) > 700);
  await one.kill();
  await other.collect();
  await other.finds('common', 3000);
  await one.start();
  await one.finds('common', 3000);
  t.equal(await one.count('word2999'), 1);
});

t.test('the primary is killed and the standby promoted: nothing acknowledged is lost', async (t) => {
  gatherd.documents = documentsOf(0, 6000);
  await one.startCollection();
  await waitUntil(async () => Number(await other.count('common')) > 3000);
  const acknowledged = Number(await other.count('common'));
  await first.kill();
  standby.promote();
  await waitUntil(async () => Number(await other.count('common')) >= acknowledged);
  const before = (await one.collections()).length;
  for (let i = 0; Number(await one.count('common')) < 6000; i++) {
    await one.startCollection();
    const wanted = before + i + 1;
    await waitUntil(async () => (await one.collections()).length >= wanted);
  }
  await other.finds('common', 6000);
  t.equal(await other.count('word5999'), 1);
});

t.test('what cannot be opened is a sentence', async (t) => {
  const open = async (url: string) => {
    const broker = new SharingBroker(join(root, `wrong${await freePort()}`), true);
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
