// kill -9 of a Broker during a collection: after a restart the store and its index are whole.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { DEFAULT_FLAGS, parseQuery, type Query } from '../../protocols/broker/index.js';
import type { Broker } from '../../servers/broker/index.js';
import { Random } from '../helpers/random.js';
import { byTier, SEED } from '../helpers/seed.js';
import { document, openBroker, ScriptedGatherd } from '../servers/broker/helpers.js';

const CHILD = fileURLToPath(new URL('broker-crash-child.js', import.meta.url));
const ROUNDS = byTier(2, 4);
/** Objects per round; half of them are new. */
const OBJECTS = 600;
/** Objects of one batch of the process. */
const BATCH = 20;

/** Returns the URLs that a query finds, sorted. */
async function findUrls(broker: Broker, query: Query): Promise<string[]> {
  const found: string[] = [];
  for await (const page of broker.queries.search(query, { ...DEFAULT_FLAGS, opaque: true })) {
    for (const item of page) if (item.kind === 'match') found.push(item.url);
  }
  return found.sort();
}

/** Returns the updates of a round: half of the URLs are known, half are new. */
function documentsOf(round: number): { updateTime: number; text: string }[] {
  const now = Math.floor(Date.now() / 1000);
  return Array.from({ length: OBJECTS }, (_, i) => {
    const url = `http://www.example.org/${(round * OBJECTS) / 2 + i}`;
    const updateTime = now - 10_000 + round * 100;
    return {
      updateTime,
      text: document(url, { Title: `common round${round}`, 'Full-Text': 'lorem '.repeat(50) }, updateTime),
    };
  });
}

t.test(`DESIGN 4: after kill -9 of a collection store and index are whole (seed ${SEED})`, async (t) => {
  const random = new Random(SEED);
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  const directory = await mkdtemp(join(tmpdir(), 'broker-crash-'));
  const conf = 'Max-Results 1000000\n';
  for (let round = 0; round < ROUNDS; round++) {
    gatherd.documents = documentsOf(round);
    const child = spawn(process.execPath, [CHILD, directory, String(gatherd.port)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // The kill comes at a random batch, or before the first one.
    const batches = random.below(OBJECTS / BATCH);
    let reported = 0;
    child.stdout.on('data', (bytes: Buffer) => {
      reported += bytes.length;
      if (reported > batches) child.kill('SIGKILL');
    });
    await once(child, 'exit');

    await t.test(`round ${round}`, async (t) => {
      const { broker, log } = await openBroker(t, {
        directory,
        keep: true,
        conf,
        points: [gatherd.point(3)],
        now: () => Math.floor(Date.now() / 1000),
      });
      const before = broker.store.count;
      t.equal(broker.keeper.lag, 0);
      const all = await findUrls(broker, { kind: 'all' });
      t.equal(all.length, before, 'the count is the number of objects');
      t.equal(new Set(all).size, before, 'no object is found twice');
      t.same(await findUrls(broker, parseQuery('common')), all, 'the index finds exactly the stored objects');
      await broker.collections.run();
      const expected = gatherd.documents.map(({ text }) => /\{ (\S+)/.exec(text)?.[1]).sort();
      t.same(
        await findUrls(broker, parseQuery(`round${round}`)),
        expected,
        `the next collection completes the objects (${before} before)`,
      );
      t.equal(broker.store.count, OBJECTS + (round * OBJECTS) / 2);
      t.same(
        log.filter((line) => line.includes('ERROR')),
        [],
      );
    });
  }
  await openBroker(t, { directory });
});
