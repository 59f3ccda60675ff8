import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { CollectionPoint } from '../../../protocols/config/index.js';
import { pointKey } from '../../../servers/broker/index.js';
import {
  Clock,
  contents,
  deletion,
  gather,
  type Peer,
  peer,
  pointAt,
  refresh,
  update,
  url,
  WHO,
} from './bulk-brokers.js';
import { document, NOW, soif, type Teardown } from './scene.js';

/** A minimal broker: it sends a scripted reply and records the requests. */
class ScriptedBroker {
  reply: Uint8Array = Buffer.alloc(0);
  readonly messages: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(t: Teardown): Promise<ScriptedBroker> {
    const server = createServer();
    const broker = new ScriptedBroker(server);
    server.on('connection', (socket) => {
      socket.on('error', () => undefined);
      socket.write('200 - HARVEST Broker 1.0\n');
      socket.once('data', (chunk) => {
        broker.messages.push(chunk.toString('latin1'));
        socket.end(broker.reply);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    return broker;
  }

  point(type: CollectionPoint['type'], filter?: CollectionPoint['filter']): CollectionPoint {
    const address = this.#server.address();
    const port = address === null || typeof address === 'string' ? 0 : address.port;
    const point = { host: '127.0.0.1', port, type, line: 1 };
    return filter === undefined ? point : { ...point, filter };
  }
}

function stream(
  groups: { deleted?: string; refreshed?: string; updated?: string },
  status = '000 - Ok',
): Buffer {
  const { deleted = '', refreshed = '', updated = '' } = groups;
  return Buffer.from(
    `${status}\n@DELETE {\n${deleted}}\n\n@REFRESH {\n${refreshed}}\n\n@UPDATE {\n${updated}}\n`,
  );
}

async function lastOf({ broker }: Peer, point: CollectionPoint): Promise<number | undefined> {
  return (await broker.store.collectionState(pointKey(point)))?.last;
}

t.test(
  'BT-3, BT-6 each type asks as it should, and types 5 and 7 from where the last one ended',
  async (t) => {
    const clock = new Clock();
    const remote = await ScriptedBroker.listen(t);
    remote.reply = stream({}, '000 - Bulk transfer follows, time 1234567');
    const filter = { query: '(Type : HTML) and gopher', flags: '#index error 1' };
    const tail = `#index error 1 #END (Type : HTML) and gopher\r\n`;
    for (const [type, first, second] of [
      [4, '#BULK #SINCE 0 #END #ALLB\r\n', '#BULK #SINCE 0 #END #ALLB\r\n'],
      [5, '#BULK #SINCE 0 #END #ALLB\r\n', '#BULK #SINCE 1234567 #END #ALLB\r\n'],
      [6, `#BULK ${tail}`, `#BULK ${tail}`],
      [7, `#BULK #SINCE 0 ${tail}`, `#BULK #SINCE 1234567 ${tail}`],
    ] as const) {
      const one = await peer(t, clock);
      one.points.push(remote.point(type, type > 5 ? filter : undefined));
      await one.broker.collect();
      await one.broker.collect();
      t.same(remote.messages.splice(0), [first, second], `type ${type}`);
    }
  },
);

t.test('BT-5 a broker that announces no time receives the second before our last request', async (t) => {
  const clock = new Clock();
  const remote = await ScriptedBroker.listen(t);
  remote.reply = stream({ updated: document(url('a'), { Title: 'x' }, NOW - 9) });
  const one = await peer(t, clock);
  one.points.push(remote.point(5));
  await one.broker.collect();
  t.equal(await lastOf(one, remote.point(5)), NOW - 1);
});

t.test(
  'BT-7 LAST-COLLECTION: written after each collection, read by a store that was taken over',
  async (t) => {
    const clock = new Clock();
    const remote = await ScriptedBroker.listen(t);
    const { port } = remote.point(5);
    remote.reply = stream(
      { updated: document(url('a'), { Title: 'x' }, NOW - 9) },
      '000 - Bulk transfer follows, time 77',
    );
    const one = await peer(t, clock);
    const file = join(one.directory, 'admin', 'LAST-COLLECTION');
    await mkdir(join(one.directory, 'admin'), { recursive: true });
    await writeFile(
      file,
      `127.0.0.1 ${port} 4 11\nnonsense\n127.0.0.1 ${port} 5 42\n127.0.0.1 ${port} 7 43 --QUERY gopher\n`,
    );
    await gather(one, update('b', NOW - 9));
    one.points.push(
      remote.point(5),
      remote.point(7, { query: 'gopher', flags: '' }),
      remote.point(7, { query: 'wais', flags: '' }),
    );
    await one.broker.collect();
    t.same(
      remote.messages.splice(0).map((message) => message.trim()),
      ['#BULK #SINCE 42 #END #ALLB', '#BULK #SINCE 43 #END gopher', '#BULK #SINCE 0 #END wais'],
    );
    t.equal(
      await readFile(file, 'utf8'),
      `127.0.0.1 ${port} 5 77\n127.0.0.1 ${port} 7 77 --QUERY gopher\n127.0.0.1 ${port} 7 77 --QUERY wais\n`,
    );
    await one.broker.drop();
    t.equal(await readFile(file, 'utf8'), '', 'BT-7 after -new <last> is 0');
    await one.broker.collect();
    t.equal(remote.messages[0], '#BULK #SINCE 0 #END #ALLB\r\n');
  },
);

t.test('BT-7 an empty store requests everything, whatever the file of a lost one says', async (t) => {
  const clock = new Clock();
  const remote = await ScriptedBroker.listen(t);
  const { port } = remote.point(5);
  const one = await peer(t, clock);
  const file = join(one.directory, 'admin', 'LAST-COLLECTION');
  await mkdir(join(one.directory, 'admin'), { recursive: true });
  await writeFile(file, `127.0.0.1 ${port} 5 42\n`);
  one.points.push(remote.point(5));
  // Objects before a cut are stored; the next collection must not use the file either.
  const updated = document(url('a'), { Title: 'x' }, NOW - 9) + document(url('b'), { Title: 'x' }, NOW - 9);
  remote.reply = stream({ updated }).slice(0, -20);
  t.match(await one.broker.collect(), { points: [{ complete: false, added: 1 }] });
  t.equal(await readFile(file, 'utf8'), '');
  await one.broker.collect();
  const messages = remote.messages.map((message) => message.trim());
  t.same(messages, ['#BULK #SINCE 0 #END #ALLB', '#BULK #SINCE 0 #END #ALLB']);
});

t.test(
  'BT-19 a transfer cut at any byte: its objects are kept, <last> stays, the next transfer delivers the rest',
  async (t) => {
    const clock = new Clock();
    const remote = await ScriptedBroker.listen(t);
    const one = await peer(t, clock);
    const point = remote.point(5);
    one.points.push(point);
    const titles = ['a', 'b', 'c'].map((n) => document(url(n), { Title: n }, NOW - 9));
    const whole = stream(
      { deleted: soif(url('d'), { ...WHO, 'Update-Time': String(NOW - 20) }), updated: titles.join('') },
      '000 - Bulk transfer follows, time 500',
    );
    const ends = titles.map((_, i) => whole.length - 2 - titles.slice(i + 1).join('').length);
    for (let cut = 0; cut < whole.length; cut += 59) {
      await one.broker.store.clear();
      remote.reply = whole.subarray(0, cut);
      const report = await one.broker.collect();
      t.equal(report.points[0]?.complete, false, `cut at ${cut}`);
      // An object is whole with its closing brace, or with what follows it.
      const least = ends.filter((end) => end < cut).length;
      const most = ends.filter((end) => end <= cut + 1).length;
      t.ok(one.broker.count >= least && one.broker.count <= most, `${one.broker.count} objects at ${cut}`);
      t.equal(await lastOf(one, point), undefined);
    }
    remote.reply = whole;
    t.equal((await one.broker.collect()).points[0]?.complete, true);
    t.same(await contents(one), ['a -9', 'b -9', 'c -9']);
    t.equal(await lastOf(one, point), 500);
    t.ok(one.log.some((line) => /ERROR: Collection: .*incomplete/.test(line)));
  },
);

t.test('BT-10, BT-19 a refusal is logged, and <last> stays', async (t) => {
  const clock = new Clock();
  const remote = await ScriptedBroker.listen(t);
  const one = await peer(t, clock);
  one.points.push(remote.point(5));
  remote.reply = Buffer.from('400 - ERROR: not today\n');
  const report = await one.broker.collect();
  t.match(report.points[0], { complete: false, error: /not today/ });
  t.equal(await lastOf(one, remote.point(5)), undefined);
});

t.test('BT-18, BT-20, BT-24 to BT-27 the groups of a stream in the order of arrival', async (t) => {
  const clock = new Clock();
  const remote = await ScriptedBroker.listen(t);
  const one = await peer(t, clock, { conf: 'Log-Types Update Refresh Delete\n' });
  one.points.push(remote.point(5));
  await gather(
    one,
    update('a', NOW - 50),
    update('b', NOW - 50),
    update('c', NOW - 50),
    update('d', NOW - 50),
  );
  const before = one.broker.store.lastSequence;
  const book = (time: number) => ({ ...WHO, 'Update-Time': String(time) });
  remote.reply = Buffer.from(
    [
      '000 - x\n@update { ',
      document(url('a'), { Title: 'older' }, NOW - 51),
      document(url('b'), { Title: 'same' }, NOW - 50),
      soif(url('lacking'), { Title: 'no Gatherer' }),
      '}@Refresh{',
      soif(url('c'), book(NOW - 51)),
      soif(url('unknown'), book(NOW)),
      '} @DELETE {',
      soif(url('d'), book(NOW - 51)),
      soif(url('never'), book(NOW - 51)),
      '}\n',
    ].join(''),
  );
  const quiet = await one.broker.collect();
  t.match(quiet.totals, { added: 0, updated: 0, refreshed: 0, deleted: 0, duplicates: 5, rejected: 2 });
  t.equal(one.broker.store.lastSequence, before, 'equal or older objects change nothing');
  t.same(
    quiet.points[0]?.reasons.map((reason) => reason.replace(/ of .*: /, ': ')),
    [
      'update: no readable Gatherer-Name, Gatherer-Host, Gatherer-Version, Update-Time',
      'refresh: the object is not known',
    ],
  );
  remote.reply = stream({
    deleted: soif(url('d'), book(NOW - 50)),
    refreshed: soif(url('c'), book(NOW - 40)),
    updated: document(url('a'), { Title: 'newer' }, NOW - 40),
  });
  const loud = await one.broker.collect();
  t.match(loud.totals, { added: 0, updated: 1, refreshed: 1, deleted: 1 });
  t.same(await contents(one), ['a -40', 'b -50', 'c -40']);
  one.broker.events.flush();
  const lines = await readFile(join(one.directory, 'admin', 'LOG'), 'utf8');
  t.same(
    lines
      .trim()
      .split('\n')
      .map((line) => line.slice(18)),
    [`Delete: ${url('d')}`, `Refresh: ${url('c')}`, `Update: ${url('a')}`],
    'BT-28',
  );
});

t.test('REG-48 an object that has expired on arrival is neither stored nor relayed', async (t) => {
  const clock = new Clock();
  const remote = await ScriptedBroker.listen(t);
  const one = await peer(t, clock);
  one.points.push(remote.point(4));
  remote.reply = stream({ updated: document(url('a'), { Title: 'x' }, NOW - 2_419_201) });
  t.match(await one.broker.collect(), {
    received: 1,
    totals: { added: 0 },
    points: [{ expired: 1, complete: true }],
  });
  t.equal(one.broker.store.removals, 0);
});

t.test('BT-6 types 4 to 7 between two brokers', async (t) => {
  const clock = new Clock();
  const source = await peer(t, clock);
  await gather(
    source,
    update(1, NOW - 100, 'gopher'),
    update(2, NOW - 100, 'wais'),
    update(3, NOW - 100, 'gopher'),
  );
  clock.tick();
  const filter = { query: 'Gopher', flags: '#index case insensitive' };
  const wants = new Map<Peer, CollectionPoint>();
  for (const type of [4, 5, 6, 7] as const) {
    const one = await peer(t, clock);
    one.points.push(pointAt(source, type, type > 5 ? filter : undefined));
    wants.set(one, pointAt(source, type));
    await one.broker.collect();
    t.same(
      await contents(one),
      type > 5 ? ['1 -100', '3 -100'] : ['1 -100', '2 -100', '3 -100'],
      `type ${type}`,
    );
  }
  clock.tick(10);
  await gather(source, update(4, NOW, 'gopher'), deletion(1, NOW), refresh(3, NOW));
  clock.tick();
  for (const [one, { type }] of wants) {
    const report = await one.broker.collect();
    const expected = type > 5 ? ['3 0', '4 0'] : ['2 -100', '3 0', '4 0'];
    // BT-6: a request without a time gets no deletions.
    t.same(await contents(one), type === 6 ? ['1 -100', ...expected] : expected, `type ${type}`);
    if (type === 5 || type === 7) t.equal(report.received, 3, `type ${type} gets what changed`);
    t.equal(one.broker.indexLag, 0);
  }
});
