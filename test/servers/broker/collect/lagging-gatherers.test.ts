// GATHERD-13.11: several databases of one Gatherer, of which one lags behind: a mirror, or one that was brought back
// from an old copy.
import t, { type Test } from 'tap';
import { decodeSoif } from '../../../../protocols/soif/index.js';
import type { SnapshotSource } from '../../../../servers/gatherd/current-snapshot.js';
import { GatherdServer, MemoryDatabase } from '../../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../../servers/host/index.js';
import { findUrls, NOW, openBroker, soif } from '../helpers.js';

const HOUR = 3600;
const URL = 'http://h.test/page';
const log = createLoggerOn({ write() {} }, { program: 'gatherd' });

/** A database of the Gatherer G. */
function database(): MemoryDatabase {
  return new MemoryDatabase({ name: 'G', host: 'g.test', version: '1', now: () => NOW });
}

function put(to: MemoryDatabase, title: string, updateTime: number, url = URL): void {
  const attributes = { Title: title, 'Update-Time': String(updateTime), 'Time-to-Live': '2419200' };
  to.put(decodeSoif(Buffer.from(soif(url, attributes))));
}

/** A gatherd whose database can be exchanged. */
class Gatherd {
  constructor(
    public serves: MemoryDatabase,
    private readonly server: () => GatherdServer,
  ) {}

  static async start(t: Test, first = database()): Promise<Gatherd> {
    let server: GatherdServer;
    const gatherd = new Gatherd(first, () => server);
    const source: SnapshotSource = {
      published: async () => {
        const { generation, identity } = await gatherd.serves.published();
        return { generation, identity: `${databases.indexOf(gatherd.serves)} ${identity}` };
      },
      open: () => gatherd.serves.open(),
      follow: () => gatherd.serves.follow(),
    };
    const options = { host: '127.0.0.1', port: 0, hostname: 'g.test', log, lingerMs: 200 };
    server = await GatherdServer.listen({ ...options, source });
    t.teardown(() => server.close({ graceMs: 0 }));
    return gatherd;
  }

  /** Exchanges the database, as when another one is brought back at the same address. */
  replace(by: MemoryDatabase): void {
    this.serves = by;
    databases.push(by);
  }

  get point() {
    return { host: '127.0.0.1', port: this.server().address.port, type: 3, line: 1 } as const;
  }
}
const databases: MemoryDatabase[] = [];

t.test('a mirror that lags does not replace what came from another address', async (t) => {
  const [leading, mirror] = [await Gatherd.start(t), await Gatherd.start(t)];
  const { broker } = await openBroker(t, { now: () => NOW, points: [leading.point, mirror.point] });
  for (const { serves } of [leading, mirror]) put(serves, 'first', NOW - 9 * HOUR);
  await broker.collections.run();
  put(leading.serves, 'third', NOW - 2 * HOUR);
  put(mirror.serves, 'second', NOW - 5 * HOUR);
  await broker.collections.run();
  t.same(await findUrls(broker, 'third'), [URL], 'the newer version stays');
  t.same(await findUrls(broker, 'second'), []);
  mirror.serves.delete(URL);
  put(mirror.serves, 'second', NOW - 4 * HOUR);
  await broker.collections.run();
  t.same(await findUrls(broker, 'third'), [URL], 'also when the mirror had deleted its own');

  put(mirror.serves, 'fourth', NOW - HOUR);
  await broker.collections.run();
  t.same(await findUrls(broker, 'fourth'), [URL], 'the mirror may be the first with a newer one');
  put(mirror.serves, 'fifth', NOW - 8 * HOUR);
  await broker.collections.run();
  t.same(
    await findUrls(broker, 'fifth'),
    [URL],
    'whose clock may be set back, for the objects that came from it',
  );
});

t.test('a Gatherer that moved to another address decides by its numbers', async (t) => {
  const shared = database();
  const [former, later] = [await Gatherd.start(t, shared), await Gatherd.start(t, shared)];
  let points = [former.point];
  const options = { now: () => NOW };
  const { broker, open } = await openBroker(t, { ...options, points });
  put(shared, 'first', NOW - HOUR);
  await broker.collections.run();
  await broker.close();
  points = [later.point];
  const moved = await open({ ...options, points });
  await moved.collections.run();
  put(shared, 'second', NOW - 2 * HOUR);
  await moved.collections.run();
  t.same(await findUrls(moved, 'second'), [URL]);
});

t.test('a database that was brought back from an old copy does not replace what is newer', async (t) => {
  const gatherd = await Gatherd.start(t);
  const { broker } = await openBroker(t, { now: () => NOW, points: [gatherd.point] });
  put(gatherd.serves, 'first', NOW - 9 * HOUR);
  await broker.collections.run();
  put(gatherd.serves, 'second', NOW - 5 * HOUR);
  await broker.collections.run();
  const old = database();
  put(old, 'first', NOW - 9 * HOUR);
  put(old, 'other', NOW - 9 * HOUR, `${URL}/other`);
  gatherd.replace(old);
  await broker.collections.run();
  t.same(await findUrls(broker, 'second'), [URL], 'the Broker keeps the newer version');
  t.same(await findUrls(broker, 'other'), [`${URL}/other`], 'and gets what it lacks');
  put(old, 'third', NOW - 2 * HOUR);
  await broker.collections.run();
  t.same(await findUrls(broker, 'third'), [URL], 'the next version is newer');
  put(old, 'fourth', NOW - 7 * HOUR);
  await broker.collections.run();
  t.same(await findUrls(broker, 'fourth'), [URL], 'also one of a clock that was set back');
});
