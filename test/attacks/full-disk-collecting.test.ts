// A Broker whose disk is full: it says so, answers queries, goes on when there is space, and loses no object.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { GatherdServer } from '../../servers/gatherd/index.js';
import { createLogger } from '../../servers/host/index.js';
import { BrokerStore } from '../../storage/index.js';
import { cli } from '../helpers/cli.js';
import { byTier } from '../helpers/seed.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { gatherDocuments, start, terminate } from './disk-scene.js';

const DOCUMENTS = 700;

const gatherd = await serveSummaries(t);

/** Serves the summaries of some documents. @returns the port */
async function serveSummaries(t: Test): Promise<number> {
  const { data } = await gatherDocuments(t, DOCUMENTS);
  const server = await GatherdServer.listen({
    generationsDirectory: join(data, 'gatherer', 'generations'),
    host: '127.0.0.1',
    port: 0,
    log: createLogger({ program: 'gatherd', level: 'silent' }),
  });
  t.teardown(() => server.close({ graceMs: 0 }));
  return server.address.port;
}

/** Writes the configuration of a broker. */
async function configureBroker(t: Test, parent: string) {
  const directory = join(parent, 'broker');
  await mkdir(join(directory, 'admin'), { recursive: true });
  const file = join(directory, 'admin', 'broker.conf');
  await writeFile(file, 'Broker-Name small\nBroker-Port 0\nLog-Types All\n');
  await writeFile(join(directory, 'admin', 'Collection.conf'), `127.0.0.1 ${gatherd} 3 --\n`);
  return { directory, begin: () => start(t, 'broker', file, '--stop-limit', '60') };
}

t.test('collecting onto a full disk ends with a sentence, and goes on when there is space', async (t) => {
  // Most of the time is waiting for the next try.
  t.jobs = 2;
  // The space ends in the log of the store, in its tables, or in the index.
  for (const leave of byTier([200_000, 3_500_000], [200_000, 3_500_000, 6_000_000])) {
    t.test(`${leave} bytes are free`, { buffered: true }, async (t) => {
      const disk = await smallDisk(t, 64);
      if (disk === undefined) return;
      const { directory, begin } = await configureBroker(t, disk.directory);
      await disk.fill(leave);
      const program = begin();
      const [, address = ''] = await program.output(/ready broker=(\S+)/);
      await program.output(/Collection failed.*no space left|Collection failed.*disk is full/, 'stderr');
      t.match(program.stderr, /the collection is tried again when there is space/);
      const answer = await cli('query', address, 'document');
      t.ok([0, 1].includes(answer.code ?? -1), 'queries are answered');
      // An index that found no space for the last objects is said to lack them.
      const others = answer.stderr.replace(/^.*The index lacks the last \d+ changes: .*$/gm, '');
      t.notMatch(others, /ERR|cannot|refused/);
      await disk.free();
      await program.output(new RegExp(`Collection: \\d+ objects received, ${DOCUMENTS} in all`), 'stderr');
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
});

t.test('SIGTERM ends a broker whose disk is full; it can be started again', async (t) => {
  const disk = await smallDisk(t, 32);
  if (disk === undefined) return;
  const { begin } = await configureBroker(t, disk.directory);
  await disk.fill(300_000);
  const program = begin();
  await program.output(/ready/);
  await program.output(/Collection failed/, 'stderr');
  await disk.fill();
  program.kill('SIGTERM');
  const { signal, stderr } = await program.finished;
  t.not(signal, 'SIGKILL');
  t.notMatch(stderr, /while waiting for/, 'it stops by itself');
  await disk.free();
  const again = begin();
  await again.output(/ready/);
  await again.output(new RegExp(`${DOCUMENTS} in all`), 'stderr');
  t.equal(await terminate(t, again), 0);
});

t.test('a broker whose logs are on a full device keeps answering, and goes on with its log', async (t) => {
  const disk = await smallDisk(t, 2);
  if (disk === undefined) return;
  const big = await temporaryDirectory(t);
  const { directory, begin } = await configureBroker(t, big);
  const events = join(disk.directory, 'LOG');
  await writeFile(
    join(directory, 'admin', 'broker.conf'),
    `Broker-Name small\nBroker-Port 0\nLog-Types All\nLog-File ${events}\n`,
  );
  await disk.fill();
  const program = begin();
  const [, address = ''] = await program.output(/ready broker=(\S+)/);
  await program.output(new RegExp(`${DOCUMENTS} in all`), 'stderr');
  for (let i = 0; i < 3; i++) t.equal((await cli('query', address, 'document')).code, 0);
  t.equal(await readFile(events, 'utf8'), '');
  await disk.free();
  await waitUntil(async () => (await readFile(events, 'utf8')).includes(' Query: '));
  t.equal(await terminate(t, program), 0);
});
