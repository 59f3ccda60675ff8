// The URL of an object keeps its bytes from a Gatherer over two Brokers to every reply, over real sockets.
// Rules: GATHERD-5.1, BRK-1.10, SOIF-2.9. URLs here have one character a byte. Times are in Unix seconds.
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { BrokerClient } from '../../../clients/broker/index.js';
import { BulkClient } from '../../../clients/bulk/index.js';
import { GatherdClient } from '../../../clients/gatherd/index.js';
import { urlOfBytes, urlProblem } from '../../../protocols/soif/index.js';
import { GatherdServer } from '../../../servers/gatherd/index.js';
import { createLoggerOn } from '../../../servers/host/index.js';
import { GathererStore } from '../../../storage/index.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { Clock, type Peer, pointAt, startPeer } from './bulk/brokers.js';
import { document, exchangeBytes, NOW, startScripted } from './helpers.js';

/** URLs that a decoding, an encoding or a comparison of text makes equal. */
const LOOK_ALIKE = [
  ...(
    '\xe9 \xc3\xa9 %E9 %C3%A9 %c3%a9 e\xcc\x81 \xe8 \xef\xbf\xbd \x80 \xff \xa0 ' +
    '{} %7B%7D %7b%7d } { \x01 \x7f'
  )
    .split(' ')
    .map((path) => `http://a.test/${path}`),
  '@a.test',
  '-',
];

const BYTES = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 40 }),
  fc.array(fc.constantFrom(0x7b, 0x7d, 0x80, 0xc3, 0xa9, 0xe9, 0xff, 0x25, 0x40, 0x22, 0x5c), {
    minLength: 1,
    maxLength: 6,
  }),
);
const URLS = fc
  .array(
    BYTES.map((bytes) => Uint8Array.from(bytes))
      .filter((bytes) => urlProblem(bytes) === undefined)
      .map(urlOfBytes),
    { minLength: 20, maxLength: 40 },
  )
  .map((urls) => [...new Set([...LOOK_ALIKE, ...urls])]);

const bytesOf = (text: string) => Buffer.from(text, 'latin1');

/** Sends bytes and returns the reply, one character a byte. */
async function exchange({ server }: Peer, message: string): Promise<string> {
  return (await exchangeBytes(server.address.port, bytesOf(message))).toString('latin1');
}

const matchesOf = (reply: string) => [...reply.matchAll(/^120 - ([^\n]*)\n/gm)].map(([, url = '']) => url);
/** The URLs of the objects in a group of a bulk transfer. */
const groupOf = (reply: string, name: string) =>
  [...(reply.split(`@${name} {\n`)[1]?.split('\n}\n}\n')[0] ?? '').matchAll(/^@FILE \{ ([^\n]*)\n/gm)]
    .map(([, url = '']) => url)
    .sort();

/** A Gatherer's store and its gatherd. */
class Gatherer {
  constructor(
    readonly directory: string,
    readonly server: GatherdServer,
  ) {}

  static async start(t: Test): Promise<Gatherer> {
    const directory = await temporaryDirectory(t);
    const server = await GatherdServer.listen({
      generationsDirectory: join(directory, 'generations'),
      host: '127.0.0.1',
      port: 0,
      hostname: 'gatherer.example.org',
      log: createLoggerOn({ write() {} }, { program: 'gatherd' }),
      lingerMs: 200,
    });
    t.teardown(() => server.close({ graceMs: 0 }));
    return new Gatherer(directory, server);
  }

  async publish(put: readonly string[], updateTime: number, gone: readonly string[] = []): Promise<void> {
    await using store = await GathererStore.open(join(this.directory, 'working'));
    const batch = store.batch();
    for (const url of put) {
      const soif = bytesOf(document(url, { Title: `word t${updateTime}` }, updateTime));
      batch.putSummary({ url, updateTime, timeToLive: 2_419_200, soif });
    }
    for (const url of gone) batch.deleteSummary(url, undefined, { deletedAt: updateTime });
    await batch.commit();
    await store.publish(join(this.directory, 'generations'));
  }
}

t.test('GATHERD-5.1, BRK-1.10, BT-16: any bytes of a URL pass gatherd, Brokers and queries', async (t) => {
  await assertProperty(
    fc.asyncProperty(URLS, fc.constantFrom(1, 3), async (urls, type) => {
      const sorted = [...urls].sort();
      const clock = new Clock();
      const gatherer = await Gatherer.start(t);
      await gatherer.publish(urls, NOW - 1000);
      const [first, second] = [await startPeer(t, clock), await startPeer(t, clock)];
      first.points.push({ host: '127.0.0.1', port: gatherer.server.address.port, type, line: 1 });
      second.points.push(pointAt(first, 5));

      await first.broker.collections.run();
      clock.advance(10);
      await second.broker.collections.run();
      for (const peer of [first, second]) {
        t.same(matchesOf(await exchange(peer, '#USER #END #ALLB\r\n')).sort(), sorted, 'all');
        t.same(matchesOf(await exchange(peer, '#USER #END "word"\r\n')).sort(), sorted, 'found by the index');
        t.same(groupOf(await exchange(peer, '#BULK #SINCE 0 #END #ALLB\r\n'), 'UPDATE'), sorted, 'bulk');
        const listed = await exchange(peer, '#USER #interface 2 #END #ALLB\r\n');
        for (const url of urls) t.ok(listed.includes(`120 - ${url}\n125 - `), `BP-17 ${JSON.stringify(url)}`);
        const { port } = peer.server.address;
        const hits: string[] = [];
        for await (const hit of new BrokerClient({ host: '127.0.0.1', port }).query('#allb'))
          hits.push(hit.url);
        t.same(hits.sort(), sorted, 'clients/broker');
        const received: string[] = [];
        for await (const { object } of new BulkClient({ host: '127.0.0.1', port }).changes({
          interface: 2,
        }))
          received.push(object.url);
        t.same(received.sort(), sorted, 'clients/bulk');
        const attribute = await exchange(peer, '#USER #attribute url #END #ALLB\r\n');
        for (const url of urls) t.ok(attribute.includes(`127 - url ${url.length}\n${url}\n`), 'BRK-2.18');
      }
      await using client = new GatherdClient({
        host: '127.0.0.1',
        port: gatherer.server.address.port,
      });
      for (const url of urls) t.equal((await client.object(url))?.url, url, 'SEND-OBJECT');
      await client.quit();

      // Every other object is deleted, the rest is updated: each change reaches exactly its own object.
      const gone = urls.filter((_, i) => i % 2 === 0);
      const kept = urls.filter((_, i) => i % 2 === 1).sort();
      await gatherer.publish(kept, NOW - 500, gone);
      clock.advance(10);
      await first.broker.collections.run();
      const changes = await exchange(first, `#BULK #SINCE ${NOW + 15} #END #ALLB\r\n`);
      t.same(groupOf(changes, 'DELETE'), [...gone].sort(), 'DELETE');
      clock.advance(10);
      await second.broker.collections.run();
      for (const peer of [first, second]) {
        t.same(matchesOf(await exchange(peer, '#USER #END #ALLB\r\n')).sort(), kept, 'after the changes');
        t.same(matchesOf(await exchange(peer, `#USER #END t${NOW - 500}\r\n`)).sort(), kept, 'updated');
      }
    }),
    { numRuns: 3, endOnFailure: true },
  );
});

t.test('SOIF-8.4: refreshes reach the object of exactly their URL', async (t) => {
  const gatherd = await startScripted(t);
  const peer = await startPeer(t);
  peer.points.push(gatherd.point(1));
  const pair = ['http://a.test/\xe9', 'http://a.test/\xc3\xa9'] as const;
  const stream = (section: string, time: number, ...urls: string[]) =>
    bytesOf(`@${section} {\n${urls.map((url) => document(url, { Title: 'x' }, time)).join('')}}\n`);
  gatherd.sections = stream('UPDATE', NOW - 100, ...pair);
  await peer.broker.collections.run();
  gatherd.sections = stream('REFRESH', NOW - 50, pair[0]);
  await peer.broker.collections.run();
  t.same(
    (await peer.broker.store.byUrl(pair[0])).map((entry) => entry.updateTime),
    [NOW - 50],
  );
  t.same(
    (await peer.broker.store.byUrl(pair[1])).map((entry) => entry.updateTime),
    [NOW - 100],
  );
});

t.test('SOIF-2.9, 4.4: a URL that readers read otherwise is named, not stored; others stay', async (t) => {
  const gatherd = await startScripted(t);
  const peer = await startPeer(t);
  peer.points.push(gatherd.point(0));
  const wrong = ['http://a.test/b c', 'http://a.test/b\tc', '{http://a.test/', 'http://a.test/\0'];
  const right = [
    'http://a.test/b',
    'http://a.test/b%20c',
    'http://a.test/b%09c',
    'http://a.test/',
    'http://a.test/%00',
  ];
  const updates = [...right, ...wrong].map((url) => document(url, { Title: 'x' }, NOW - 100)).join('');
  gatherd.sections = bytesOf(`@UPDATE {\n${updates}}\n`);
  const { points } = await peer.broker.collections.run();
  t.match(points, [{ added: right.length, rejected: wrong.length, complete: true }]);
  const log = peer.log.join('\n');
  for (const url of wrong) t.ok(log.includes(JSON.stringify(url)), `the log names ${JSON.stringify(url)}`);
  const deletions = wrong.map((url) => document(url, {}, NOW - 50)).join('');
  gatherd.sections = bytesOf(`@DELETE {\n${deletions}}\n`);
  await peer.broker.collections.run();
  t.same(matchesOf(await exchange(peer, '#USER #END #ALLB\r\n')).sort(), right.sort());
});
