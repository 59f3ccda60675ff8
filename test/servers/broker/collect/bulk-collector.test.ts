// The collecting side of a bulk transfer: requests, resumption, the changes of a stream. Rules:
// bulk-transfer.md (BT).
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import t from 'tap';
import type { CollectionPoint } from '../../../../protocols/config/index.js';
import { pointKey } from '../../../../servers/broker/index.js';
import { tcpServer } from '../../../helpers/tcp-server.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../../../helpers/tls.js';
import {
  applyChanges,
  Clock,
  deletion,
  GATHERER,
  listContents,
  type Peer,
  pointAt,
  refresh,
  startPeer,
  update,
  urlOf,
} from '../bulk/brokers.js';
import { document, exchange, NOW, soif, type Teardown } from '../helpers.js';

/** A minimal broker that sends a scripted reply and records the requests. */
class ScriptedBroker {
  reply: Uint8Array = Buffer.alloc(0);
  readonly messages: string[] = [];
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async listen(t: Teardown): Promise<ScriptedBroker> {
    const port = await tcpServer(t, (socket) => {
      socket.write('200 - HARVEST Broker 1.0\n');
      socket.once('data', (chunk) => {
        broker.messages.push(chunk.toString('latin1'));
        socket.end(broker.reply);
      });
    });
    const broker = new ScriptedBroker(port);
    return broker;
  }

  point(type: CollectionPoint['type'], filter?: CollectionPoint['filter']): CollectionPoint {
    const point = { host: '127.0.0.1', port: this.#port, type, line: 1 };
    return filter === undefined ? point : { ...point, filter };
  }
}

/** Starts a broker that collects from a scripted one. */
async function collecting(t: Teardown, type: CollectionPoint['type'], conf = '') {
  const remote = await ScriptedBroker.listen(t);
  const peer = await startPeer(t, new Clock(), { conf });
  peer.points.push(remote.point(type));
  return { remote, peer };
}

t.test('a point with a fingerprint is collected from the holder of that certificate alone', async (t) => {
  const sockets = createServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, (socket) => {
    socket.write('200 - HARVEST Broker 1.0\n');
    socket.once('data', () => socket.end(bulkStream({})));
  });
  await once(sockets.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => sockets.close());
  const { port } = sockets.address() as AddressInfo;
  const { fingerprint256 } = new X509Certificate(TLS_CERTIFICATE);
  for (const [fingerprint, complete] of [
    [fingerprint256, true],
    [fingerprint256.replace(/^../, (first) => (first === '00' ? '01' : '00')), false],
  ] as const) {
    const peer = await startPeer(t, new Clock());
    peer.points.push({ host: 'tls://127.0.0.1', fingerprint, port, type: 6, line: 1 });
    const { points } = await peer.broker.collections.run();
    t.equal(points[0]?.error === undefined, complete, points[0]?.error ?? 'collected');
  }
});

/** Returns the stream of a bulk transfer, after its status line. */
function bulkStream(
  groups: { deleted?: string; refreshed?: string; updated?: string },
  status = '000 - Ok',
): Buffer {
  const { deleted = '', refreshed = '', updated = '' } = groups;
  return Buffer.from(
    `${status}\n@DELETE {\n${deleted}}\n\n@REFRESH {\n${refreshed}}\n\n@UPDATE {\n${updated}}\n`,
  );
}

/** Returns `<last>` of BT-7 for a collection point. */
async function lastOf({ broker }: Peer, point: CollectionPoint): Promise<number | undefined> {
  return (await broker.store.points.get(pointKey(point)))?.last;
}

t.test('BT-3, BT-6: each type sends its own request; 5 and 7 go on from the last transfer', async (t) => {
  const remote = await ScriptedBroker.listen(t);
  remote.reply = bulkStream({}, '000 - Bulk transfer follows, time 1234567');
  const filter = { query: '(Type : HTML) and gopher', flags: '#index error 1' };
  const queryTail = `#index error 1 #END (Type : HTML) and gopher\r\n`;
  for (const [type, first, second] of [
    [4, '#BULK #SINCE 0 #END #ALLB\r\n', '#BULK #SINCE 0 #END #ALLB\r\n'],
    [5, '#BULK #SINCE 0 #END #ALLB\r\n', '#BULK #SINCE 1234567 #END #ALLB\r\n'],
    [6, `#BULK ${queryTail}`, `#BULK ${queryTail}`],
    [7, `#BULK #SINCE 0 ${queryTail}`, `#BULK #SINCE 1234567 ${queryTail}`],
  ] as const) {
    const peer = await startPeer(t);
    peer.points.push(remote.point(type, type > 5 ? filter : undefined));
    await peer.broker.collections.run();
    await peer.broker.collections.run();
    t.same(remote.messages.splice(0), [first, second], `type ${type}`);
  }
});

t.test('BT-16, SOIF-3.2: values of no bytes that a peer sends are not relayed', async (t) => {
  const { remote, peer } = await collecting(t, 4);
  const long = 'x'.repeat(1_100_000);
  const documents = [
    document(urlOf('a'), { Keywords: '', Title: 'small', Author: '' }, NOW - 9),
    document(urlOf('b'), { Title: 'large', Keywords: '', Body: long }, NOW - 8),
  ];
  remote.reply = bulkStream({ updated: documents.join('') });
  await peer.broker.collections.run();
  const reply = await exchange(peer.server.address.port, '#BULK #SINCE 0 #END #ALLB\r\n');
  t.equal(
    reply.slice(reply.indexOf('@UPDATE')),
    `@UPDATE {\n${documents.join('').replace(/(?:Keywords|Author)\{0\}:\t\n/g, '')}}\n`,
  );
});

t.test('BT-5: a broker that announces no time gets SINCE: the second before our last request', async (t) => {
  const remote = await ScriptedBroker.listen(t);
  remote.reply = bulkStream({ updated: document(urlOf('a'), { Title: 'x' }, NOW - 9) });
  const peer = await startPeer(t);
  peer.points.push(remote.point(5));
  await peer.broker.collections.run();
  t.equal(await lastOf(peer, remote.point(5)), NOW - 1);
});

t.test('BT-7: LAST-COLLECTION is written after a collection; a store without a state reads it', async (t) => {
  const remote = await ScriptedBroker.listen(t);
  const { port } = remote.point(5);
  remote.reply = bulkStream(
    { updated: document(urlOf('a'), { Title: 'x' }, NOW - 9) },
    '000 - Bulk transfer follows, time 77',
  );
  const peer = await startPeer(t);
  const file = join(peer.directory, 'admin', 'LAST-COLLECTION');
  await mkdir(join(peer.directory, 'admin'), { recursive: true });
  await writeFile(
    file,
    `127.0.0.1 ${port} 4 11\nnonsense\n127.0.0.1 ${port} 5 42\n127.0.0.1 ${port} 7 43 --QUERY gopher\n`,
  );
  await applyChanges(peer, update('b', NOW - 9));
  peer.points.push(
    remote.point(5),
    remote.point(7, { query: 'gopher', flags: '' }),
    remote.point(7, { query: 'wais', flags: '' }),
  );
  await peer.broker.collections.run();
  t.same(
    remote.messages.splice(0).map((message) => message.trim()),
    ['#BULK #SINCE 42 #END #ALLB', '#BULK #SINCE 43 #END gopher', '#BULK #SINCE 0 #END wais'],
  );
  t.equal(
    await readFile(file, 'utf8'),
    `127.0.0.1 ${port} 5 77\n127.0.0.1 ${port} 7 77 --QUERY gopher\n127.0.0.1 ${port} 7 77 --QUERY wais\n`,
  );
  await peer.broker.drop();
  t.equal(await readFile(file, 'utf8'), '', 'BT-7: after -new, <last> is 0');
  await peer.broker.collections.run();
  t.equal(remote.messages[0], '#BULK #SINCE 0 #END #ALLB\r\n');
});

t.test('BT-7: an empty store requests everything, whatever LAST-COLLECTION says', async (t) => {
  const remote = await ScriptedBroker.listen(t);
  const { port } = remote.point(5);
  const peer = await startPeer(t);
  const file = join(peer.directory, 'admin', 'LAST-COLLECTION');
  await mkdir(join(peer.directory, 'admin'), { recursive: true });
  await writeFile(file, `127.0.0.1 ${port} 5 42\n`);
  peer.points.push(remote.point(5));
  // The objects before a cut are stored; the next collection must ignore the file too.
  const updated =
    document(urlOf('a'), { Title: 'x' }, NOW - 9) + document(urlOf('b'), { Title: 'x' }, NOW - 9);
  remote.reply = bulkStream({ updated }).slice(0, -20);
  t.match(await peer.broker.collections.run(), { points: [{ complete: false, added: 1 }] });
  t.equal(await readFile(file, 'utf8'), '');
  await peer.broker.collections.run();
  const messages = remote.messages.map((message) => message.trim());
  t.same(messages, ['#BULK #SINCE 0 #END #ALLB', '#BULK #SINCE 0 #END #ALLB']);
});

t.test('BT-19 a transfer cut at any byte: objects are kept, <last> stays, the next is whole', async (t) => {
  const { remote, peer } = await collecting(t, 5);
  const point = remote.point(5);
  const titles = ['a', 'b', 'c'].map((n) => document(urlOf(n), { Title: n }, NOW - 9));
  const whole = bulkStream(
    {
      deleted: soif(urlOf('d'), { ...GATHERER, 'Update-Time': String(NOW - 20) }),
      updated: titles.join(''),
    },
    '000 - Bulk transfer follows, time 500',
  );
  const objectEnds = titles.map((_, i) => whole.length - 2 - titles.slice(i + 1).join('').length);
  for (let cut = 0; cut < whole.length; cut += 59) {
    await peer.broker.store.clear();
    remote.reply = whole.subarray(0, cut);
    const report = await peer.broker.collections.run();
    t.equal(report.points[0]?.complete, false, `cut at ${cut}`);
    // An object is complete at its closing brace or at the byte after it.
    const min = objectEnds.filter((end) => end < cut).length;
    const max = objectEnds.filter((end) => end <= cut + 1).length;
    t.ok(
      peer.broker.store.count >= min && peer.broker.store.count <= max,
      `cut at ${cut}: ${peer.broker.store.count} objects`,
    );
    t.equal(await lastOf(peer, point), undefined);
  }
  remote.reply = whole;
  t.equal((await peer.broker.collections.run()).points[0]?.complete, true);
  t.same(await listContents(peer), ['a -9', 'b -9', 'c -9']);
  t.equal(await lastOf(peer, point), 500);
  t.ok(peer.log.some((line) => /ERROR: Collection: .*incomplete/.test(line)));
});

t.test('BT-10, BT-19: a refusal is reported, and <last> stays', async (t) => {
  const { remote, peer } = await collecting(t, 5);
  remote.reply = Buffer.from('400 - ERROR: not today\n');
  const report = await peer.broker.collections.run();
  t.match(report.points[0], { complete: false, error: /not today/ });
  t.equal(await lastOf(peer, remote.point(5)), undefined);
});

t.test('BT-18, BT-20, BT-24 to BT-27: the groups of a stream are applied in their order', async (t) => {
  const { remote, peer } = await collecting(t, 5, 'Log-Types Update Refresh Delete\n');
  await applyChanges(
    peer,
    update('a', NOW - 50),
    update('b', NOW - 50),
    update('c', NOW - 50),
    update('d', NOW - 50),
  );
  const before = peer.broker.store.lastSequence;
  const attributesAt = (time: number) => ({ ...GATHERER, 'Update-Time': String(time) });
  remote.reply = Buffer.from(
    [
      '000 - x\n@update { ',
      document(urlOf('a'), { Title: 'older' }, NOW - 51),
      document(urlOf('b'), { Title: 'same' }, NOW - 50),
      soif(urlOf('lacking'), { Title: 'no Gatherer' }),
      '}@Refresh{',
      soif(urlOf('c'), attributesAt(NOW - 51)),
      soif(urlOf('unknown'), attributesAt(NOW)),
      '} @DELETE {',
      soif(urlOf('d'), attributesAt(NOW - 51)),
      soif(urlOf('never'), attributesAt(NOW - 51)),
      '}\n',
    ].join(''),
  );
  const unchanged = await peer.broker.collections.run();
  t.match(unchanged.totals, {
    added: 0,
    updated: 0,
    refreshed: 0,
    deleted: 0,
    duplicates: 4,
    absent: 1,
    rejected: 2,
  });
  t.equal(peer.broker.store.lastSequence, before, 'equal or older objects change nothing');
  t.same(
    unchanged.points[0]?.reasons.map((reason) => reason.replace(/ of .*: /, ': ')),
    [
      'update: no readable Gatherer-Name, Gatherer-Host, Gatherer-Version, Update-Time',
      'refresh: the object is not known',
    ],
  );
  remote.reply = bulkStream({
    deleted: soif(urlOf('d'), attributesAt(NOW - 50)),
    refreshed: soif(urlOf('c'), attributesAt(NOW - 40)),
    updated: document(urlOf('a'), { Title: 'newer' }, NOW - 40),
  });
  const changed = await peer.broker.collections.run();
  t.match(changed.totals, { added: 0, updated: 1, refreshed: 1, deleted: 1 });
  t.same(await listContents(peer), ['a -40', 'b -50', 'c -40']);
  await peer.broker.events.flush();
  const lines = await readFile(join(peer.directory, 'admin', 'LOG'), 'utf8');
  t.same(
    lines
      .trim()
      .split('\n')
      .map((line) => line.slice(18)),
    [`Delete: ${urlOf('d')}`, `Refresh: ${urlOf('c')}`, `Update: ${urlOf('a')}`],
    'BT-28: the log has one line per change',
  );
});

t.test('REG-48: an object that has expired on arrival is neither stored nor relayed', async (t) => {
  const { remote, peer } = await collecting(t, 4);
  remote.reply = bulkStream({ updated: document(urlOf('a'), { Title: 'x' }, NOW - 2_419_201) });
  t.match(await peer.broker.collections.run(), {
    received: 1,
    totals: { added: 0 },
    points: [{ expired: 1, complete: true }],
  });
  t.equal(peer.broker.store.removals, 0);
});

t.test('BT-6: collections of types 4 to 7 between two brokers', async (t) => {
  const clock = new Clock();
  const source = await startPeer(t, clock);
  await applyChanges(
    source,
    update(1, NOW - 100, 'gopher'),
    update(2, NOW - 100, 'wais'),
    update(3, NOW - 100, 'gopher'),
  );
  clock.advance();
  const filter = { query: 'Gopher', flags: '#index case insensitive' };
  const collectors = new Map<Peer, CollectionPoint>();
  for (const type of [4, 5, 6, 7] as const) {
    const peer = await startPeer(t, clock);
    peer.points.push(pointAt(source, type, type > 5 ? filter : undefined));
    collectors.set(peer, pointAt(source, type));
    await peer.broker.collections.run();
    t.same(
      await listContents(peer),
      type > 5 ? ['1 -100', '3 -100'] : ['1 -100', '2 -100', '3 -100'],
      `type ${type}`,
    );
  }
  clock.advance(10);
  await applyChanges(source, update(4, NOW, 'gopher'), deletion(1, NOW), refresh(3, NOW));
  clock.advance();
  for (const [peer, { type }] of collectors) {
    const report = await peer.broker.collections.run();
    const expected = type > 5 ? ['3 0', '4 0'] : ['2 -100', '3 0', '4 0'];
    // BT-6, BT-22: a request for everything receives no deletions; the copy expires.
    const keeps = type === 4 || type === 6;
    t.same(await listContents(peer), keeps ? ['1 -100', ...expected] : expected, `type ${type}`);
    if (type === 5 || type === 7) t.equal(report.received, 3, `type ${type} receives the changes only`);
    t.equal(peer.broker.keeper.lag, 0);
  }
});
