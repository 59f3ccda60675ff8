// A Broker whose disk is full: it says so, answers queries, goes on when there is space, and loses no object.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { GatherdServer } from '../../servers/gatherd/index.js';
import { createLogger } from '../../servers/host/index.js';
import { BrokerStore } from '../../storage/index.js';
import { CliProcess, cli } from '../helpers/cli.js';
import { type SmallDisk, smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 700;

/** Gathers some documents and serves their summaries. @returns the port */
async function gatherSummaries(t: Test): Promise<number> {
  const root = await temporaryDirectory(t);
  const documents = await writeDocuments(join(root, 'documents'), DOCUMENTS);
  const data = join(root, 'data');
  const ports = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];
  const gathered = await cli('run', '--once', '--data', data, ...ports, documents);
  if (gathered.code !== 0) throw new Error(gathered.stderr);
  const server = await GatherdServer.listen({
    generationsDirectory: join(data, 'gatherer', 'generations'),
    host: '127.0.0.1',
    port: 0,
    log: createLogger({ program: 'gatherd', level: 'silent' }),
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server.address.port;
}

/** Writes the configuration of a broker on the disk, and starts it. */
async function startBroker(disk: SmallDisk, gatherd: number, ...options: readonly string[]) {
  const directory = join(disk.directory, 'broker');
  await mkdir(join(directory, 'admin'), { recursive: true });
  const file = join(directory, 'admin', 'broker.conf');
  await writeFile(file, 'Broker-Name small\nBroker-Port 0\nLog-Types All\n');
  await writeFile(join(directory, 'admin', 'Collection.conf'), `127.0.0.1 ${gatherd} 3 --\n`);
  return { directory, file, start: () => new CliProcess(['broker', file, ...options]) };
}

/** Waits until a process has written a text to standard error. */
async function untilLogged(program: CliProcess, pattern: RegExp): Promise<void> {
  const end = Date.now() + 120_000;
  while (!pattern.test(program.stderr)) {
    if (Date.now() > end || program.child.exitCode !== null)
      throw new Error(`${pattern} is not in ${program.stderr}`);
    await pause(50);
  }
}

const gatherd = await gatherSummaries(t);

t.test(
  'collecting onto a full disk ends with a sentence, and is completed when there is space',
  async (t) => {
    // Most of the time is waiting for the next try.
    t.jobs = 3;
    // The space ends in the log of the store, in its tables, or in the index.
    for (const leave of [200_000, 3_500_000, 6_000_000]) {
      t.test(`${leave} bytes are free`, { buffered: true }, async (t) => {
        const disk = await smallDisk(t, 64);
        if (disk === undefined) return;
        const { directory, start } = await startBroker(disk, gatherd);
        await disk.fill(leave);
        const program = start();
        t.teardown(() => program.kill('SIGKILL'));
        const [, address = ''] = await program.output(/ready broker=(\S+)/);
        await untilLogged(program, /Collection failed.*no space left|Collection failed.*disk is full/);
        t.match(program.stderr, /the collection is tried again when there is space/);
        const answer = await cli('query', address, 'document');
        t.ok([0, 1].includes(answer.code ?? -1), 'queries are answered');
        // An index that found no space for the last objects is said to lack them.
        const others = answer.stderr.replace(/^.*The index lacks the last \d+ changes: .*$/gm, '');
        t.notMatch(others, /ERR|cannot|refused/);
        await disk.free();
        await untilLogged(program, new RegExp(`Collection: \\d+ objects received, ${DOCUMENTS} in all`));
        t.equal((await cli('query', address, 'document')).code, 0);
        // What the broker said to be stored is there after a crash.
        program.kill('SIGKILL');
        await program.finished;
        await using store = await BrokerStore.open(join(directory, 'store'), { create: false });
        t.equal(store.count, DOCUMENTS);
        let objects = 0;
        for await (const page of store.all()) {
          const bytes = await store.objects(page.map(({ oid }) => oid));
          objects += bytes.filter((object) => object !== undefined).length;
        }
        t.equal(objects, DOCUMENTS, 'each entry has its object');
        const urls = new Set<string>();
        for await (const page of store.all()) for (const { url } of page) urls.add(url);
        t.equal(urls.size, DOCUMENTS);
      });
    }
  },
);

t.test('SIGTERM ends a broker whose disk is full; it can be started again', async (t) => {
  const disk = await smallDisk(t, 32);
  if (disk === undefined) return;
  const { start } = await startBroker(disk, gatherd);
  await disk.fill(300_000);
  const program = start();
  t.teardown(() => program.kill('SIGKILL'));
  await program.output(/ready/);
  await untilLogged(program, /Collection failed/);
  await disk.fill();
  const begin = performance.now();
  program.kill('SIGTERM');
  const { signal } = await program.finished;
  t.ok(performance.now() - begin < 10_000);
  t.not(signal, 'SIGKILL');
  await disk.free();
  const again = start();
  t.teardown(() => again.kill('SIGKILL'));
  await again.output(/ready/);
  await untilLogged(again, new RegExp(`${DOCUMENTS} in all`));
  again.kill('SIGTERM');
  t.equal((await again.finished).code, 0);
});

t.test(
  'a broker whose logs are on a full device keeps answering, and counts what its log lacks',
  async (t) => {
    const disk = await smallDisk(t, 2);
    if (disk === undefined) return;
    const big = await temporaryDirectory(t);
    const { directory, start } = await startBroker({ ...disk, directory: big }, gatherd);
    const events = join(disk.directory, 'LOG');
    await writeFile(
      join(directory, 'admin', 'broker.conf'),
      `Broker-Name small\nBroker-Port 0\nLog-Types All\nLog-File ${events}\n`,
    );
    await disk.fill();
    const program = start();
    t.teardown(() => program.kill('SIGKILL'));
    const [, address = ''] = await program.output(/ready broker=(\S+)/);
    await untilLogged(program, new RegExp(`${DOCUMENTS} in all`));
    for (let i = 0; i < 3; i++) t.equal((await cli('query', address, 'document')).code, 0);
    t.equal(await readFile(events, 'utf8'), '');
    await disk.free();
    while (!(await readFile(events, 'utf8')).includes(' Query: ')) await pause(100);
    program.kill('SIGTERM');
    t.equal((await program.finished).code, 0);
  },
);
