// Peers that a Broker collects from: updates without end, updates that trickle, times in the future.
import t from 'tap';
import { parseBrokerConf } from '../../protocols/config/index.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import { document, NOW, openBroker, soif } from '../servers/broker/helpers.js';
import { startPeer } from './endless-peers.js';

const HEAD = '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n';

/** An update that never ends: a new object each time. */
function* endlessObjects(): Generator<string> {
  yield HEAD;
  for (let n = 0; ; n++)
    yield document(`http://a.test/${n}`, { Title: `object ${n}`, Text: 'x'.repeat(8000) });
}

/** Bytes that are no object, without end. */
function* endlessGarbage(): Generator<string> {
  yield HEAD;
  for (;;) yield 'not an object, and no end of it\n'.repeat(256);
}

for (const [protocol, types] of [
  ['gatherd', [0, 2]],
  ['broker', [4]],
] as const) {
  for (const type of types) {
    t.test(`GATHERD-13.8, BT-19: an endless ${protocol} update of type ${type} is cut by size`, async (t) => {
      const peer = await startPeer(t, protocol, endlessObjects);
      const { broker, log } = await openBroker(t, {
        points: [peer.point(type)],
        conf: 'Collection-Max-Size 4\n',
        limits: { retryPauseMs: 1 },
      });
      const { points, received } = await broker.collections.run();
      t.match(points[0]?.error, /the peer sent more than 4194304 bytes in one collection/);
      t.ok(received > 100, 'the objects before the limit arrived');
      t.equal(broker.store.count, received, 'and are stored');
      t.equal(peer.requests.length, 1, 'the transfer is not resumed');
      t.match(log.join(''), /incomplete: the peer sent more than/);
      t.equal(await broker.store.points.get(`gatherer 127.0.0.1:${peer.port}`), undefined, '<last> stays');
    });
  }
}

t.test('GATHERD-13.8: an endless update without any object is cut, too', async (t) => {
  const peer = await startPeer(t, 'gatherd', endlessGarbage);
  const limits = { retryPauseMs: 1, maxReceivedBytes: 4 << 20 };
  const { broker } = await openBroker(t, { points: [peer.point(0)], limits });
  const { points } = await broker.collections.run();
  t.match(points[0], { complete: false, received: 0 });
  t.equal(peer.requests.length, 1);
});

/** Sends an object every few milliseconds, so that no single read waits for long. */
async function* trickle(): AsyncGenerator<string> {
  yield HEAD;
  for (let n = 0; ; n++) {
    yield document(`http://a.test/${n}`, {});
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const protocol of ['gatherd', 'broker'] as const) {
  const type = protocol === 'gatherd' ? 0 : 4;
  t.test(`GATHERD-12.3: a ${protocol} update that goes on for ever is cut by its duration`, async (t) => {
    const peer = await startPeer(t, protocol, trickle);
    const { broker } = await openBroker(t, { points: [peer.point(type)], conf: 'Collection-Max-Time 1\n' });
    const { points } = await broker.collections.run();
    t.match(points[0]?.error, /the collection took longer than 1 s/);
    t.ok(broker.store.count > 0, 'what arrived is kept');
  });

  t.test(`GATHERD-12.3: a ${protocol} that sends next to nothing is cut by the minimum rate`, async (t) => {
    const peer = await startPeer(t, protocol, trickle);
    const limits = { minBytesPerSecond: 1 << 20, minRateGraceMs: 500, retryPauseMs: 1 };
    const { broker } = await openBroker(t, { points: [peer.point(type)], limits });
    const { points } = await broker.collections.run();
    t.match(points[0]?.error, /the peer sent less than 1048576 bytes per second/);
  });
}

t.test('the limits of a collection are variables of broker.conf', (t) => {
  const conf = 'Collection-Max-Size: 12\nCollection-Max-Time: 34\n';
  t.match(parseBrokerConf(conf, 'broker.conf').config, { collectionMaxSize: 12, collectionMaxTime: 34 });
  t.match(parseBrokerConf('', 'broker.conf').config, {
    collectionMaxSize: 65_536,
    collectionMaxTime: 86_400,
  });
  t.throws(() => parseBrokerConf('Collection-Max-Size: 0\n', 'broker.conf'), /Collection-Max-Size: must be/);
  t.end();
});

t.test('GATHERD-13.8, 13.10: an Update-Time far ahead is replaced; later changes count', async (t) => {
  for (const protocol of ['gatherd', 'broker'] as const) {
    const url = 'http://a.test/future';
    let title = 'first';
    let time = 32_503_680_000;
    let now = NOW;
    const peer = await startPeer(t, protocol, () => [`${HEAD}${document(url, { Title: title }, time)}}\n`]);
    const { broker, log } = await openBroker(t, {
      points: [peer.point(protocol === 'gatherd' ? 0 : 4)],
      now: () => now,
      limits: { timeoutMs: 500, maxFailures: 1 },
    });
    const stored = async () => {
      const [entry] = await broker.store.byUrl(url);
      const [bytes] = await broker.store.objects([entry?.oid ?? 0]);
      return { entry, object: bytes === undefined ? undefined : decodeSoif(bytes) };
    };
    await broker.collections.run();
    const first = await stored();
    const arrived = first.entry?.updateTime ?? NOW;
    // GATHERD-13.10: the time at which this Broker got it from another one must not win over newer versions.
    if (protocol === 'gatherd') t.equal(arrived, NOW, 'the Registry holds the time of arrival');
    else t.ok(arrived > 0 && arrived < NOW, 'the Registry holds a time before that of each right clock');
    t.equal(first.object?.number('Update-Time'), arrived, `${protocol}: the object holds the same time`);
    t.match(log.join(''), /1 with a time far ahead/);
    t.match(log.join(''), /http:\/\/a\.test\/future: Update-Time 32503680000 is more than a day ahead/);

    now = NOW + 100;
    time = NOW + 50;
    title = 'second';
    await broker.collections.run();
    const second = await stored();
    t.equal(second.object?.text('Title'), 'second', `${protocol}: the honest change is newer`);
  }
});

t.test('GATHERD-13.8: a deletion from the future does not keep an object out', async (t) => {
  const url = 'http://a.test/back';
  const deletion = soif(url, {
    'Update-Time': '32503680000',
    'Gatherer-Name': 'Example Gatherer',
    'Gatherer-Host': 'gatherer.example.org',
    'Gatherer-Version': '1.8',
  });
  let text = `@DELETE {\n${deletion}}\n@REFRESH {\n}\n@UPDATE {\n}\n`;
  let now = NOW;
  const peer = await startPeer(t, 'broker', () => [text]);
  const limits = { timeoutMs: 500 };
  const { broker } = await openBroker(t, { points: [peer.point(4)], now: () => now, limits });
  await broker.collections.run();
  now = NOW + 100;
  text = `${HEAD}${document(url, {}, NOW + 50)}}\n`;
  await broker.collections.run();
  t.equal(broker.store.count, 1);
});
