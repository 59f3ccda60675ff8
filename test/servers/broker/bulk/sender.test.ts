// The sending side of a bulk transfer, byte for byte. Rules: bulk-transfer.md (BT) and the interface of 1995
// (BP).
import { once } from 'node:events';
import { open, readdir, readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { ObjectList } from '../../../../servers/broker/bulk/object-list.js';
import { ManualClock, steady, timerOf } from '../../../helpers/manual-clock.js';
import { document, exchange, exchangeBytes, NOW, serveBroker, soif } from '../helpers.js';
import {
  applyChanges,
  Clock,
  change,
  deletion,
  GATHERER,
  type Peer,
  refresh,
  startPeer,
  update,
  urlOf,
} from './brokers.js';

const GREETING = '200 - HARVEST Broker 1.0\n';
const TTL = { 'Time-to-Live': '2419200' };

/** Sends a bulk request and returns the whole reply. */
async function sendBulk({ server }: Pick<Peer, 'server'>, flags: string, query = '#ALLB'): Promise<string> {
  return exchange(server.address.port, `#BULK ${flags}#END ${query}\r\n`);
}

/** Sends a message and returns the reply, one character a byte. */
async function sendLatin1({ server }: Pick<Peer, 'server'>, message: string): Promise<string> {
  return (await exchangeBytes(server.address.port, message)).toString('latin1');
}

/** Returns the expected reply: the announced time and the three groups. */
function bulkReply(time: number, groups: { deleted?: string; refreshed?: string; updated?: string }): string {
  const { deleted = '', refreshed = '', updated = '' } = groups;
  const head = `${GREETING}000 - Bulk transfer follows, time ${time}\n`;
  return `${head}@DELETE {\n${deleted}}\n\n@REFRESH {\n${refreshed}}\n\n@UPDATE {\n${updated}}\n`;
}

/** Returns an object without content, as the sender writes deletions and refreshes. */
function headOnly(n: number | string, updateTime: number): string {
  return soif(urlOf(n), { ...GATHERER, 'Update-Time': String(updateTime), ...TTL });
}

t.test('BT-3, BT-9, BT-10, BT-12, BT-15, BT-17: a complete dump, byte for byte, and the close', async (t) => {
  const peer = await startPeer(t);
  t.equal(await sendBulk(peer, '#SINCE 0 '), bulkReply(NOW - 1, {}), 'an empty broker: empty groups');
  await applyChanges(peer, update('a', NOW - 5), update('b', NOW - 4, 'caf\u00e9 }\n@FILE { x'));
  const updated =
    document(urlOf('a'), { Title: 'title a' }, NOW - 5) +
    document(urlOf('b'), { Title: 'caf\u00e9 }\n@FILE { x' }, NOW - 4);
  t.equal(await sendBulk(peer, '#SINCE 0 '), bulkReply(NOW - 1, { updated }));
  t.equal(await sendBulk(peer, '#desc #opaque '), bulkReply(NOW - 1, { updated }), 'BT-8: without effect');
});

t.test('a complete dump comes from a file until an object changes or expires', async (t) => {
  const peer = await startPeer(t);
  /** Reads of the store's objects. */
  let walks = 0;
  const { store } = peer.broker;
  const { validParts } = store;
  store.validParts = (...args) => {
    walks++;
    return validParts.apply(store, args);
  };
  const dump = async (...names: readonly string[]) => {
    const reply = await sendBulk(peer, '#SINCE 0 ');
    const updated = names.map((n) => document(urlOf(n), { Title: `title ${n}` }, NOW - 5)).join('');
    t.equal(reply, bulkReply(peer.clock.now - 1, { updated }));
    return walks;
  };
  await applyChanges(peer, update('a', NOW - 5), update('b', NOW - 5));
  t.equal(await dump('a', 'b'), 1);
  peer.clock.advance(1);
  t.equal(await dump('a', 'b'), 1, 'the file');
  t.equal(await sendBulk(peer, '#SINCE 0 '), await sendBulk(peer, ''), 'also without a time');
  await applyChanges(peer, update('c', NOW - 5));
  t.equal(await dump('a', 'b', 'c'), 2, 'an object was added');
  const [first, second] = await Promise.all([sendBulk(peer, '#SINCE 0 '), sendBulk(peer, '#SINCE 0 ')]);
  t.equal(first, second, 'two readers at a time');
  t.equal(walks, 2);
  // Time-to-Live is four weeks.
  peer.clock.advance(2_419_200 - 6);
  t.equal(await dump('a', 'b', 'c'), 2, 'the last second of the objects');
  peer.clock.advance(1);
  t.equal(await dump(), 3, 'they have expired');
  t.equal(await dump(), 3);
  peer.broker.settings.set('Bulk-Cache-Size', '0');
  await applyChanges(peer, update('d', peer.clock.now, 'new'));
  await sendBulk(peer, '#SINCE 0 ');
  await sendBulk(peer, '#SINCE 0 ');
  t.equal(walks, 5, 'Bulk-Cache-Size 0 keeps none');
});

t.test('a damaged file of a complete dump: the dump ends as incomplete, the next one is whole', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(
    peer,
    ...Array.from({ length: 9 }, (_, i) => update(`n${i}`, NOW - 5, 'x'.repeat(50_000))),
  );
  const whole = await sendBulk(peer, '#SINCE 0 ');
  t.match(whole.slice(-4), /\}\n$/);
  // It has no name: the descriptor leads to it.
  const descriptors = await readdir('/proc/self/fd').catch(() => []);
  const targets = await Promise.all(
    descriptors.map(async (fd) => [fd, await readlink(`/proc/self/fd/${fd}`).catch(() => '')] as const),
  );
  const [spool] = targets.find(([, target]) => target.startsWith(`${peer.directory}/.spool-`)) ?? [];
  if (spool === undefined) {
    t.comment('this system does not list descriptors');
    return;
  }
  const file = await open(`/proc/self/fd/${spool}`, 'r+');
  await file.write(Buffer.from('y'), 0, 1, 200_000);
  await file.close();
  const damaged = await sendBulk(peer, '#SINCE 0 ');
  t.ok(damaged.length < 200_000, `${damaged.length} bytes`);
  t.notMatch(damaged, /y/);
  t.equal(await sendBulk(peer, '#SINCE 0 '), whole, 'from the store again');
});

t.test('a dump that its client leaves is not kept, and does not keep others from being kept', async (t) => {
  const peer = await startPeer(t);
  const large = Array.from({ length: 40 }, (_, i) => update(`n${i}`, NOW - 5, 'x'.repeat(500_000)));
  await applyChanges(peer, ...large);
  const socket = connect(peer.server.address.port, '127.0.0.1');
  socket.write('#BULK #SINCE 0 #END #ALLB\r\n');
  await once(socket, 'data');
  socket.destroy();
  const whole = await sendBulk(peer, '#SINCE 0 ');
  t.equal(whole.split('@FILE { ').length, 41);
  t.equal(await sendBulk(peer, '#SINCE 0 '), whole);
});

t.test('BT-4, BT-5, BT-21: a request since T receives the changes after T, in their groups', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, ...['a', 'b', 'c', 'd'].map((n) => update(n, NOW - 100)));
  peer.clock.advance(10);
  await applyChanges(peer, update('a', NOW - 50, 'new'), refresh('b', NOW - 50), deletion('c', NOW - 50));
  const a = document(urlOf('a'), { Title: 'new' }, NOW - 50);
  const groups = { deleted: headOnly('c', NOW - 50), refreshed: headOnly('b', NOW - 50), updated: a };
  t.equal(
    await sendBulk(peer, `#SINCE ${NOW} `),
    bulkReply(NOW + 9, groups),
    'the changes are sent although all their Update-Times are before T',
  );
  t.equal(await sendBulk(peer, `#SINCE ${NOW + 10} `), bulkReply(NOW + 9, {}), 'a change at T is not sent');
  peer.clock.advance();
  await applyChanges(peer, update('e', NOW - 9999));
  const late = document(urlOf('e'), { Title: 'title e' }, NOW - 9999);
  t.equal(await sendBulk(peer, `#SINCE ${NOW + 10} `), bulkReply(NOW + 10, { updated: late }));
  const first = await sendBulk(peer, `#SINCE ${NOW - 1} `);
  t.notMatch(first, /@REFRESH \{\n@FILE/, 'a peer without the content receives the whole object');
  t.match(first, /Update-Time\{10\}:\t1767225550\n[^@]*Title|Title[^@]*Update-Time\{10\}:\t1767225550/);
});

t.test('BT-5: an object whose Update-Time is after T is sent, whenever it arrived', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, update('a', NOW + 500));
  peer.clock.advance(1000);
  const updated = document(urlOf('a'), { Title: 'title a' }, NOW + 500);
  t.equal(await sendBulk(peer, `#SINCE ${NOW + 400} `), bulkReply(NOW + 999, { updated }));
  t.equal(await sendBulk(peer, `#SINCE ${NOW + 500} `), bulkReply(NOW + 999, {}));
});

t.test('BT-4: the announced time is no later than any later change, even if clocks go back', async (t) => {
  const peer = await startPeer(t);
  t.match(await sendBulk(peer, '#SINCE 0 '), `time ${NOW - 1}\n`);
  peer.clock.advance(-3600);
  await applyChanges(peer, update('a', NOW - 9000));
  t.match(await sendBulk(peer, `#SINCE ${NOW - 1} `), urlOf('a'));
});

t.test('REG-48: expired objects are not sent, whether they are deleted yet or not', async (t) => {
  const peer = await startPeer(t);
  const brief = document(urlOf('a'), { Title: 'brief' }, NOW).replace('{7}:\t2419200', '{2}:\t50');
  await applyChanges(peer, change('update', brief));
  peer.clock.advance(50);
  t.match(await sendBulk(peer, '#SINCE 0 '), urlOf('a'));
  peer.clock.advance();
  t.notMatch(await sendBulk(peer, '#SINCE 0 '), urlOf('a'));
  t.notMatch(await sendBulk(peer, '#SINCE 1 '), urlOf('a'));
  await peer.broker.maintenance.clean();
  t.equal(peer.broker.store.removals, 0, 'an expired object leaves no deletion record');
});

t.test('BT-21: a refreshed object is sent whole to a peer whose copy has expired', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, update('a', NOW));
  peer.clock.advance(2_419_200);
  await applyChanges(peer, refresh('a', NOW + 2_419_200));
  t.match(await sendBulk(peer, `#SINCE ${NOW + 1} `), /@REFRESH \{\n@FILE/);
  peer.clock.advance();
  t.match(await sendBulk(peer, `#SINCE ${NOW + 1} `), /@REFRESH \{\n\}\n\n@UPDATE \{\n@FILE/);
});

t.test('BT-5: deletions of every kind are sent until no peer can have the object', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, ...['a', 'b', 'c'].map((n) => update(n, NOW - 100)));
  peer.clock.advance();
  const [a] = await peer.broker.store.byUrl(urlOf('a'));
  await peer.broker.maintenance.remove([a?.oid ?? 0]);
  await applyChanges(peer, deletion('b', NOW - 60), deletion('unknown', NOW));
  t.equal(
    await sendBulk(peer, `#SINCE ${NOW} `),
    bulkReply(NOW, {
      deleted: inOrder(await sentUrls(peer), headOnly('a', NOW - 100), headOnly('b', NOW - 60)),
    }),
  );
  t.notMatch(await sendBulk(peer, ''), /@DELETE \{\n@/, 'BT-6: without a time there are no deletions');
  peer.clock.advance();
  await applyChanges(peer, update('b', NOW - 60));
  t.notMatch(
    await sendBulk(peer, `#SINCE ${NOW} `),
    /@DELETE \{\n[^}]*\/b\n/,
    'an object that its Gatherer sends again is not deleted',
  );
  peer.clock.advance(2_419_200);
  await peer.broker.maintenance.clean();
  t.equal(peer.broker.store.removals, 0);
});

/** Returns the URLs of a reply; deletions of the same second have no defined order. */
async function sentUrls(peer: Peer): Promise<string[]> {
  return [...(await sendBulk(peer, `#SINCE ${NOW} `)).matchAll(/@FILE \{ (\S+)/g)].map(
    (match) => match[1] ?? '',
  );
}

/** Concatenates the objects of URLs `a` and `b` in the order in which they were sent. */
function inOrder(urls: readonly string[], a: string, b: string): string {
  return urls[0] === urlOf('a') ? a + b : b + a;
}

t.test('BT-6, BT-8: a query selects updates and refreshes, and Max-Results does not apply', async (t) => {
  const peer = await startPeer(t, new Clock(), { conf: 'Max-Results 2\n' });
  await applyChanges(
    peer,
    ...[1, 2, 3, 4, 5].map((n) => update(n, NOW - 100, n % 2 === 1 ? 'Gopher' : 'wais')),
  );
  const namesIn = (text: string) =>
    [...text.matchAll(/@FILE \{ \S+\/(\S+)/g)].map((match) => match[1]).join('');
  t.equal(namesIn(await sendBulk(peer, '', 'Gopher')), '135');
  t.equal(namesIn(await sendBulk(peer, '', 'gopher')), '135', 'BRK-3.7');
  t.equal(namesIn(await sendBulk(peer, '#index case sensitive ', 'gopher')), '');
  t.equal(namesIn(await sendBulk(peer, '#index case insensitive ', 'gopher')), '135');
  peer.clock.advance();
  await applyChanges(
    peer,
    update(1, NOW - 90, 'wais'),
    refresh(3, NOW - 90),
    update(6, NOW - 90, 'Gopher'),
    deletion(2, NOW),
  );
  const since = await sendBulk(peer, `#SINCE ${NOW} `, 'Gopher');
  t.match(
    since,
    /@DELETE \{\n@FILE \{ \S+\/2\n[^@]*@REFRESH \{\n@FILE \{ \S+\/3\n[^@]*@UPDATE \{\n@FILE \{ \S+\/6\n/,
  );
  t.equal(namesIn(since), '236');
});

t.test('BT-10: an unsupported request receives a 400 line and nothing else', async (t) => {
  const peer = await startPeer(t, new Clock(), { conf: 'Max-Queries 1\n' });
  await applyChanges(peer, update('a', NOW - 5));
  using _slot = await peer.broker.queries.slots.acquire({ waitMs: 0 });
  const server = await serveBroker(t, peer, { queueWaitMs: 0 });
  const lines = await sendBulk({ server }, '', 'wais');
  t.match(lines, /^200 - .*\n400 - ERROR: .*busy.*\n$/);
  t.match(await sendBulk(peer, '#SINCE 0 '), /^200 - .*\n000 - /, 'a transfer without a query needs no slot');
  t.match(await sendBulk(peer, '#nonsense '), /^200 - .*\n400 - ERROR: Malformed message: .*\n$/);
  t.match(await sendBulk(peer, '#digest - '), /^200 - .*\n400 - ERROR: .*#interface 2\n$/);
});

t.test('BT-8: the #index limits of the request apply to a query, Max-Results does not', async (t) => {
  const peer = await startPeer(t, new Clock(), { conf: 'Max-Results 1\n' });
  await applyChanges(peer, ...['a', 'b', 'c', 'd'].map((n) => update(n, NOW - 100)));
  const objectsSent = async (flags: string): Promise<number> =>
    (await sendBulk(peer, flags, 'title')).split('@FILE').length - 1;
  t.equal(await objectsSent('#SINCE 0 '), 4);
  t.equal(await objectsSent('#SINCE 0 #index maxresult 3 '), 3);
  t.equal(await objectsSent('#SINCE 0 #index maxresult 3 #index maxfiles 2 '), 2);
  t.equal(await objectsSent('#SINCE 0 #index maxfiles 0 '), 4, 'BRK-8.11: 0 is no limit');
  t.equal(await objectsSent('#SINCE 0 #index maxfiles 9 '), 4);
  t.equal(await objectsSent(`#SINCE ${NOW - 1} #index maxfiles 2 `), 2);
});

t.test('BT-28: the sender logs the request and its outcome', async (t) => {
  const peer = await startPeer(t, new Clock(), { conf: 'Log-Types Bulk-Transfer Bulk-Return\n' });
  await applyChanges(peer, update('a', NOW - 5));
  await sendBulk(peer, '#SINCE 0 ');
  await peer.broker.events.flush();
  const lines = (await readFile(join(peer.directory, 'admin', 'LOG'), 'utf8')).split('\n');
  t.match(lines[0], /^20260101 00:00:00 Bulk-Transfer: 127\.0\.0\.1: #BULK #SINCE 0 #END #ALLB$/);
  t.match(
    lines[1],
    /^20260101 00:00:00 Bulk-Return: 127\.0\.0\.1: sent: 0 deleted, 0 refreshed, 1 updated, \d+ ms$/,
  );
});

t.test('BT-17: a slow client holds the sender back, and receives the complete stream', async (t) => {
  const clock = new Clock();
  const peer = await startPeer(t, clock);
  const text = 'x'.repeat(20_000);
  for (let i = 0; i < 2000; i += 100) {
    await peer.broker.store.apply(Array.from({ length: 100 }, (_, n) => update(i + n, NOW - 5, text)));
  }
  const limits = new ManualClock();
  const server = await serveBroker(t, peer, { drainTimeoutMs: 70_000, clock: limits });
  const socket = connect(server.address.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write('#BULK #SINCE 0 #END #ALLB\r\n');
  const { store } = peer.broker;
  let read = 0;
  const stored = store.stored.bind(store);
  store.stored = (options) =>
    countItems(stored(options), (objects) => {
      read += objects;
    });
  let bytes = 0;
  let objects = 0;
  let tail = '';
  for await (const chunk of socket) {
    if (bytes === 0) {
      // The client reads nothing until the sender waits for it.
      await timerOf(limits, 70_000);
      await steady(() => read);
      t.ok(read < 2000, `${read} of 2000 objects were read for a client that reads nothing`);
      clock.advance();
      await applyChanges(peer, update(1, NOW + 1, 'changed'), deletion(1999, NOW + 1));
    }
    bytes += chunk.length;
    const piece = tail + String(chunk);
    objects += piece.split('@FILE {').length - 1;
    tail = piece.slice(-6);
  }
  t.ok(tail.endsWith('}\n}\n'), 'the stream is complete');
  t.equal(objects, 1999, 'an object deleted during the transfer is not sent');
  const next = await sendBulk(peer, `#SINCE ${NOW - 1} `);
  t.match(next, urlOf(1999), 'the next transfer deletes it');
});

/** Passes pages through and counts their items. */
async function* countItems<T>(pages: AsyncGenerator<T[], void, undefined>, count: (items: number) => void) {
  for await (const page of pages) {
    count(page.length);
    yield page;
  }
}

t.test('BP-11, BP-12, BP-14, BP-16, BP-22: the interface of 1995, raw and compressed', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, update('a', NOW - 5));
  const groups = `@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n${document(urlOf('a'), { Title: 'title a' }, NOW - 5)}}\n`;
  const head = Buffer.concat([
    Buffer.from(`${GREETING}200 - `),
    Buffer.from('0000000100000000', 'hex'),
    Buffer.from('HARVEST Broker 1.0\n126 - http://www.example.org:8080/Harvest/brokers/example/\n'),
    Buffer.from(`140 - ${peer.config.indexerType}\n101 - Bulk transfer follows, time ${NOW - 1}\n`),
  ]).toString('latin1');
  const count = '144 - \0\0\0\u0001';
  const raw = await sendLatin1(peer, '#BULK #interface 2 #END #ALLB\r\n');
  t.equal(raw, `${head}${groups}${count}`);
  const packed = await sendLatin1(peer, '#BULK #interface 2 #compress #END #ALLB\r\n');
  const start = `${head}150 - gzip begin\n`;
  const end = `151 - gzip end\n${count}`;
  t.ok(packed.startsWith(start) && packed.endsWith(end));
  const member = Buffer.from(packed.slice(start.length, -end.length), 'latin1');
  t.equal(gunzipSync(member).toString(), groups);
});

t.test('BP-17 to BP-22: the reply to a user query is an ObjectList', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(
    peer,
    change('update', document(urlOf('a'), { Title: 'Gopher', Description: 'Test' }, NOW - 5)),
  );
  const text = await sendLatin1(peer, '#USER #desc #opaque #attribute Title #interface 2 #END Gopher\r\n');
  const data = (text: string) => `\u0032\u009f\u00a1\u00d2\0\0\0${String.fromCharCode(text.length)}${text}`;
  const object =
    `120 - ${urlOf('a')}\n125 - http://www.example.org:8080/Harvest/brokers/example/objects/1/OBJ1\n` +
    `124 - ${data('Test')}`;
  t.ok(text.includes(object), text);
  t.ok(text.includes(`127 - Title\n - ${data('Gopher')}130 - object end\n`));
  t.ok(text.endsWith('144 - \0\0\0\u0001'));
  const none = await sendLatin1(peer, '#USER #interface 2 #END wais\r\n');
  t.ok(none.endsWith('144 - \0\0\0\0'), 'BP-22: a query without results ends with the count 0');
});

t.test('BT-3, BT-22: a request for everything receives no deletions, in both interfaces', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, update('a', NOW - 100), update('b', NOW - 100));
  peer.clock.advance(10);
  await applyChanges(peer, deletion('a', NOW - 50));
  peer.clock.advance(10);
  for (const flags of ['#SINCE 0 ', '#since 00 ', '#SINCE 0 #interface 2 ', '']) {
    for (const query of ['#ALLB', '"title"']) {
      const reply = await sendBulk(peer, flags, query);
      t.match(reply, /@DELETE \{\n\}\n\n@REFRESH \{\n\}\n\n@UPDATE \{\n@FILE/, `${flags}${query}`);
      t.notMatch(reply, urlOf('a'), 'a deployed client would take it for a new object');
    }
  }
  t.match(await sendBulk(peer, '#SINCE 1 '), `@DELETE {\n@FILE { ${urlOf('a')}\n`);
});

const NUMBER = (value: number) => String.fromCharCode(0, 0, 0, value);

t.test('BP-12, BP-21, BRK-3.5: notices of a query are messages in the Header, then the count', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, update('a', NOW - 5, 'gopher'), update('b', NOW - 5, 'gopher'));
  const send = (message: string) => sendLatin1(peer, `${message}\r\n`);

  const unknown = await send('#USER #index colour red #interface 2 #END gopher');
  t.match(unknown, /140 - [^\n]*\n101 - Unknown flag #index colour red ignored\.\n120 - /);
  t.ok(unknown.endsWith(`130 - object end\n144 - ${NUMBER(2)}`));

  const none = await send('#USER #index colour red #interface 2 #END nothing');
  const notices = '101 - Unknown flag #index colour red ignored.\n101 - No objects matched your query.\n';
  t.ok(none.endsWith(`${notices}144 - ${NUMBER(0)}`), none);

  const bulk = await send('#BULK #index colour red #interface 2 #END #ALLB');
  t.match(
    bulk,
    /101 - Bulk transfer follows, time \d+\n101 - Unknown flag #index colour red ignored\.\n@DELETE/,
  );
  t.ok(bulk.endsWith(`144 - ${NUMBER(2)}`));

  const long = await send(`#USER #index "${'x'.repeat(65_000)}" #interface 2 #END gopher`);
  t.ok(long.endsWith(`144 - ${NUMBER(2)}`), 'BP-27: a long notice is cut');
});

t.test('BP-23, BP-29: a malformed message is answered in the interface that it requests', async (t) => {
  const peer = await startPeer(t);
  const send = (message: string) => sendLatin1(peer, `${message}\r\n`);
  const version = `${GREETING}200 - ${NUMBER(1)}${NUMBER(0)}HARVEST Broker 1.0\n`;
  for (const message of [
    '#USER #interface 2 #END (gopher',
    '#USER #interface 2 #END gopher and',
    '#USER #interface 2 #END',
    '#USER #interface 2 gopher',
    '#USER #bogus #INTERFACE 2 #END gopher',
    '#USER #interface 1 #interface 2 #bogus #END gopher',
    '#USER #interface 2 #index error many #END gopher',
    '#BULK #interface 2 #SINCE yesterday #END #ALLB',
    '#BULK #interface 2 #digest xyz #END #ALLB',
    '#BULK #interface "2" #END (',
    '#QUERY #interface 2 #END gopher',
  ]) {
    const reply = await send(message);
    const head = `${version}111 - ${NUMBER(1)}Malformed message: `;
    t.ok(reply.startsWith(head) && reply.endsWith('\n'), `${message}: ${JSON.stringify(reply)}`);
    t.equal(reply.indexOf('\n', head.length), reply.length - 1, 'BP-25: nothing follows the Trailer');
  }
  const unfinished = await startPeer(t);
  const server = await serveBroker(t, unfinished, { messageTimeoutMs: 200 });
  const late = await sendLatin1({ server }, '#USER #interface 2 #END "gopher\r\n');
  const why = 'No message within the time limit: a double quote is never closed\n';
  t.equal(late, `${version}111 - ${NUMBER(1)}${why}`, 'BRK-1.8');
  const tooLong = await send(`#USER #interface 2 #END "${'x'.repeat(70_000)}`);
  t.ok(tooLong.startsWith(`${version}111 - ${NUMBER(1)}Malformed message: longer than`), 'BRK-1.8');
  for (const [message, code] of [
    ['#USER #interface 2 #interface 1 #END (gopher', '111 - ERROR'],
    ['#USER #END (#interface 2', '111 - ERROR'],
    ['#USER #interface 3 #END gopher', '111 - ERROR'],
    ['#USER #attribute "#interface 2" #END (', '111 - ERROR'],
    ['#BULK #END (', '400 - ERROR'],
    ['#ADMIN #interface 2 #bogus', '111 - ERROR'],
  ] as const) {
    t.ok((await send(message)).startsWith(`${GREETING}${code}: `), message);
  }
});

t.test('BP-18, BP-21: notices after a long list are the warning of its last object', (t) => {
  const list = new ObjectList();
  list.head('Broker', { homePage: 'http://a.test/', indexer: 'Embedded', points: [] });
  const match = (n: number) =>
    [
      { kind: 'match', url: `http://a.test/${n}` },
      { kind: 'object-url', url: 'http://b.test/' },
      { kind: 'description', value: Buffer.alloc(1000, 'x') },
      { kind: 'object-end' },
    ] as const;
  const push = (items: Parameters<ObjectList['push']>[0]) =>
    Buffer.concat(list.push(items).filter((segment) => segment instanceof Uint8Array));
  const sent: Uint8Array[] = [push([{ kind: 'message', text: 'before' }])];
  for (let n = 0; n < 100; n++) sent.push(push(match(n)));
  t.ok(Buffer.concat(sent).length > 90_000, 'a long list is sent while it grows');
  sent.push(
    push([
      { kind: 'error', text: 'ERROR: too expensive' },
      { kind: 'message', text: 'stopped' },
    ]),
  );
  sent.push(list.end());
  const text = Buffer.concat(sent).toString('latin1');
  t.ok(text.startsWith('101 - before\n120 - http://a.test/0\n'));
  t.ok(text.includes(`103 - ${NUMBER(2)}ERROR: too expensive; stopped\n120 - http://a.test/99\n`));
  t.ok(text.endsWith(`144 - ${NUMBER(100)}`));
  const failed = new ObjectList();
  failed.push(match(1));
  failed.push([{ kind: 'fatal', text: 'the index failed', failure: 'internal' }]);
  const end = Buffer.from(failed.end()).toString('latin1');
  t.ok(end.startsWith('120 - http://a.test/1\n'), 'the objects before the error are sent');
  t.ok(end.endsWith(`111 - ${NUMBER(6)}the index failed\n`));
  t.end();
});

t.test('BP-31: digests follow the store, and a leaf names its objects', async (t) => {
  const peer = await startPeer(t);
  const requestDigest = (prefix: string) =>
    sendLatin1(peer, `#BULK #interface 2 #digest ${prefix} #END #ALLB\r\n`);
  await applyChanges(peer, update('a', NOW - 5), update('b', NOW - 5));
  const small = await requestDigest('-');
  t.match(
    small,
    /145 - [\s\S]*@DIGEST \{ -\nCount\{1\}:\t2\nDigest\{32\}:\t[\da-f]{32}\nIdentities\{\d+\}:\t[\da-f]{32} \d+ http/,
  );
  const leaves = [...small.matchAll(/([\da-f]{32}) \d+ (http\S+)/g)].map(([, hex = '', url]) => ({
    hex,
    url,
  }));
  t.same(leaves.map(({ url }) => url).sort(), [urlOf('a'), urlOf('b')]);
  for (const { hex, url = '' } of leaves) {
    const leaf = await requestDigest(hex.slice(0, 16));
    t.match(leaf, /Count\{1\}:\t1\n/);
    t.ok(leaf.includes(`Digest{32}:\t${hex}`) && leaf.includes(url), 'one object: its identity');
  }
  await peer.broker.store.apply(Array.from({ length: 600 }, (_, n) => update(n, NOW - 5)));
  const large = await requestDigest('-');
  t.match(large, /Count\{3\}:\t602\n/);
  const rows = [...large.matchAll(/^(?:Buckets\{\d+\}:\t)?([\da-f]) (\d+) ([\da-f]{32})$/gm)];
  t.equal(rows.length, 16);
  const sum = rows.reduce((all, [, , count]) => all + Number(count), 0);
  t.equal(sum, 602);
  const xor = rows.reduce((all, [, , , hex = '']) => all ^ BigInt(`0x${hex}`), 0n);
  t.ok(large.includes(`Digest{32}:\t${xor.toString(16).padStart(32, '0')}`), 'the XOR of the buckets');
  for (const [, prefix = '', count] of rows) t.ok((await requestDigest(prefix)).includes(`:\t${count}\n`));
});
