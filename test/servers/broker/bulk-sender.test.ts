import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { DEFAULT_FLAGS } from '../../../protocols/broker/index.js';
import {
  Clock,
  change,
  deletion,
  gather,
  type Peer,
  peer,
  refresh,
  update,
  url,
  WHO,
} from './bulk-brokers.js';
import { ask, document, NOW, soif } from './scene.js';

const GREETING = '200 - HARVEST Broker 1.0\n';
const TTL = { 'Time-to-Live': '2419200' };

async function bulk({ server }: Peer, flags: string, query = '#ALLB'): Promise<string> {
  return ask(server.address.port, `#BULK ${flags}#END ${query}\r\n`);
}

function reply(time: number, groups: { deleted?: string; refreshed?: string; updated?: string }): string {
  const { deleted = '', refreshed = '', updated = '' } = groups;
  const head = `${GREETING}000 - Bulk transfer follows, time ${time}\n`;
  return `${head}@DELETE {\n${deleted}}\n\n@REFRESH {\n${refreshed}}\n\n@UPDATE {\n${updated}}\n`;
}

/** As the sender writes a removal. */
function removed(n: number | string, updateTime: number): string {
  return soif(url(n), { ...WHO, 'Update-Time': String(updateTime), ...TTL });
}

function refreshed(n: number | string, updateTime: number): string {
  return soif(url(n), { ...WHO, 'Update-Time': String(updateTime), ...TTL });
}

t.test(
  'BT-3, BT-9, BT-10, BT-15, BT-17 a complete dump, byte for byte, and then the end (BT-12)',
  async (t) => {
    const clock = new Clock();
    const one = await peer(t, clock);
    t.equal(await bulk(one, '#SINCE 0 '), reply(NOW - 1, {}), 'an empty broker sends three empty groups');
    await gather(one, update('a', NOW - 5), update('b', NOW - 4, 'caf\u00e9 }\n@FILE { x'));
    const updated =
      document(url('a'), { Title: 'title a' }, NOW - 5) +
      document(url('b'), { Title: 'caf\u00e9 }\n@FILE { x' }, NOW - 4);
    t.equal(await bulk(one, '#SINCE 0 '), reply(NOW - 1, { updated }));
    t.equal(await bulk(one, '#desc #opaque '), reply(NOW - 1, { updated }), 'BT-8 flags without effect');
  },
);

t.test('BT-4, BT-5, BT-21 since T: the changes after T, in their groups', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  await gather(one, ...['a', 'b', 'c', 'd'].map((n) => update(n, NOW - 100)));
  clock.tick(10);
  await gather(one, update('a', NOW - 50, 'new'), refresh('b', NOW - 50), deletion('c', NOW - 50));
  const a = document(url('a'), { Title: 'new' }, NOW - 50);
  const groups = { deleted: removed('c', NOW - 50), refreshed: refreshed('b', NOW - 50), updated: a };
  t.equal(
    await bulk(one, `#SINCE ${NOW} `),
    reply(NOW + 9, groups),
    'although all Update-Times are before T',
  );
  t.equal(await bulk(one, `#SINCE ${NOW + 10} `), reply(NOW + 9, {}), 'greater than, not equal');
  clock.tick();
  await gather(one, update('e', NOW - 9999));
  const late = document(url('e'), { Title: 'title e' }, NOW - 9999);
  t.equal(await bulk(one, `#SINCE ${NOW + 10} `), reply(NOW + 10, { updated: late }));
  const first = await bulk(one, `#SINCE ${NOW - 1} `);
  t.notMatch(first, /@REFRESH \{\n@FILE/, 'a peer without the content gets the whole object');
  t.match(first, /Update-Time\{10\}:\t1767225550\n[^@]*Title|Title[^@]*Update-Time\{10\}:\t1767225550/);
});

t.test('BT-5 an object whose Update-Time is after T is sent, whenever it arrived', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  await gather(one, update('a', NOW + 500));
  clock.tick(1000);
  const updated = document(url('a'), { Title: 'title a' }, NOW + 500);
  t.equal(await bulk(one, `#SINCE ${NOW + 400} `), reply(NOW + 999, { updated }));
  t.equal(await bulk(one, `#SINCE ${NOW + 500} `), reply(NOW + 999, {}));
});

t.test(
  'BT-4 the announced time is never later than a future change, although the clock runs backwards',
  async (t) => {
    const clock = new Clock();
    const one = await peer(t, clock);
    t.match(await bulk(one, '#SINCE 0 '), `time ${NOW - 1}\n`);
    clock.tick(-3600);
    await gather(one, update('a', NOW - 9000));
    t.match(await bulk(one, `#SINCE ${NOW - 1} `), url('a'));
  },
);

t.test('REG-48 expired objects are not sent, cleaned or not', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  const brief = document(url('a'), { Title: 'brief' }, NOW).replace('{7}:\t2419200', '{2}:\t50');
  await gather(one, change('update', brief));
  clock.tick(50);
  t.match(await bulk(one, '#SINCE 0 '), url('a'));
  clock.tick();
  t.notMatch(await bulk(one, '#SINCE 0 '), url('a'));
  t.notMatch(await bulk(one, '#SINCE 1 '), url('a'));
  await one.broker.clean();
  t.equal(one.broker.store.removals, 0, 'no peer needs the deletion');
});

t.test(
  'BT-21 a peer that has dropped the content after its Time-to-Live gets a refreshed object whole',
  async (t) => {
    const clock = new Clock();
    const one = await peer(t, clock);
    await gather(one, update('a', NOW));
    clock.tick(2_419_200);
    await gather(one, refresh('a', NOW + 2_419_200));
    t.match(await bulk(one, `#SINCE ${NOW + 1} `), /@REFRESH \{\n@FILE/);
    clock.tick();
    t.match(await bulk(one, `#SINCE ${NOW + 1} `), /@REFRESH \{\n\}\n\n@UPDATE \{\n@FILE/);
  },
);

t.test('BT-5 removals of every kind are sent until no peer can have the object', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  await gather(one, ...['a', 'b', 'c'].map((n) => update(n, NOW - 100)));
  clock.tick();
  const [a] = await one.broker.store.byUrl(url('a'));
  await one.broker.maintenance.remove([a?.oid ?? 0]);
  await gather(one, deletion('b', NOW - 60), deletion('unknown', NOW));
  t.equal(
    await bulk(one, `#SINCE ${NOW} `),
    reply(NOW, { deleted: sorted(removed('a', NOW - 100), removed('b', NOW - 60), await order(one)) }),
  );
  t.notMatch(await bulk(one, ''), /@DELETE \{\n@/, 'BT-6 no deletions without a time');
  clock.tick();
  await gather(one, update('b', NOW - 60));
  t.notMatch(await bulk(one, `#SINCE ${NOW} `), /@DELETE \{\n[^}]*\/b\n/, 'its Gatherer has it again');
  clock.tick(2_419_200);
  await one.broker.clean();
  t.equal(one.broker.store.removals, 0);
});

/** URLs in the order of the reply; removals within one second have no order. */
async function order(one: Peer): Promise<string[]> {
  return [...(await bulk(one, `#SINCE ${NOW} `)).matchAll(/@FILE \{ (\S+)/g)].map((match) => match[1] ?? '');
}

function sorted(a: string, b: string, urls: readonly string[]): string {
  return urls[0] === url('a') ? a + b : b + a;
}

t.test('BT-6, BT-8 a query selects updates and refreshes, without our own limit of results', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock, { conf: 'Max-Results 2\n' });
  await gather(one, ...[1, 2, 3, 4, 5].map((n) => update(n, NOW - 100, n % 2 === 1 ? 'Gopher' : 'wais')));
  const of = (text: string) => [...text.matchAll(/@FILE \{ \S+\/(\S+)/g)].map((match) => match[1]).join('');
  t.equal(of(await bulk(one, '', 'Gopher')), '135');
  t.equal(of(await bulk(one, '', 'gopher')), '');
  t.equal(of(await bulk(one, '#index case insensitive ', 'gopher')), '135');
  clock.tick();
  await gather(
    one,
    update(1, NOW - 90, 'wais'),
    refresh(3, NOW - 90),
    update(6, NOW - 90, 'Gopher'),
    deletion(2, NOW),
  );
  const since = await bulk(one, `#SINCE ${NOW} `, 'Gopher');
  t.match(
    since,
    /@DELETE \{\n@FILE \{ \S+\/2\n[^@]*@REFRESH \{\n@FILE \{ \S+\/3\n[^@]*@UPDATE \{\n@FILE \{ \S+\/6\n/,
  );
  t.equal(of(since), '236');
});

t.test('BT-10 an unsupported request gets a 400 line and nothing else', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock, { conf: 'Max-Queries 1\n' });
  await gather(one, update('a', NOW - 5));
  const held = one.broker.search({ kind: 'all' }, DEFAULT_FLAGS);
  t.teardown(() => held?.return({ objects: 0, lines: 0, complete: false }));
  await held?.next();
  const lines = await bulk(one, '', 'wais');
  t.match(lines, /^200 - .*\n400 - ERROR: .*busy.*\n$/);
  t.match(await bulk(one, '#SINCE 0 '), /^200 - .*\n000 - /, 'a transfer without a query needs no slot');
  t.match(await bulk(one, '#nonsense '), /^200 - .*\n400 - ERROR: Malformed message: .*\n$/);
  t.match(await bulk(one, '#digest - '), /^200 - .*\n400 - ERROR: .*#interface 2\n$/);
});

t.test('BT-8 #index limits of the peer apply to a query, our own limit does not', async (t) => {
  const one = await peer(t, new Clock(), { conf: 'Max-Results 1\n' });
  await gather(one, ...['a', 'b', 'c', 'd'].map((n) => update(n, NOW - 100)));
  const sent = async (flags: string): Promise<number> =>
    (await bulk(one, flags, 'title')).split('@FILE').length - 1;
  t.equal(await sent('#SINCE 0 '), 4);
  t.equal(await sent('#SINCE 0 #index maxresult 3 '), 3);
  t.equal(await sent('#SINCE 0 #index maxresult 3 #index maxfiles 2 '), 2);
  t.equal(await sent('#SINCE 0 #index maxfiles 0 '), 4, 'BRK-8.11');
  t.equal(await sent('#SINCE 0 #index maxfiles 9 '), 4);
  t.equal(await sent(`#SINCE ${NOW - 1} #index maxfiles 2 `), 2);
});

t.test('BT-28 the sender logs the request and its outcome', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock, { conf: 'Log-Types Bulk-Transfer Bulk-Return\n' });
  await gather(one, update('a', NOW - 5));
  await bulk(one, '#SINCE 0 ');
  one.broker.events.flush();
  const lines = (await readFile(join(one.directory, 'admin', 'LOG'), 'utf8')).split('\n');
  t.match(lines[0], /^20260101 00:00:00 Bulk-Transfer: 127\.0\.0\.1: #BULK #SINCE 0 #END #ALLB$/);
  t.match(
    lines[1],
    /^20260101 00:00:00 Bulk-Return: 127\.0\.0\.1: sent: 0 deleted, 0 refreshed, 1 updated, \d+ ms$/,
  );
});

t.test('BT-17 a slow reader holds the sender back, and gets every byte of a moment', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  const text = 'x'.repeat(20_000);
  for (let i = 0; i < 2000; i += 100) {
    await one.broker.store.apply(Array.from({ length: 100 }, (_, n) => update(i + n, NOW - 5, text)));
  }
  const socket = connect(one.server.address.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write('#BULK #SINCE 0 #END #ALLB\r\n');
  const { store } = one.broker;
  let read = 0;
  const stored = store.stored.bind(store);
  store.stored = (options) =>
    counted(stored(options), (objects) => {
      read += objects;
    });
  let bytes = 0;
  let objects = 0;
  let tail = '';
  for await (const chunk of socket) {
    if (bytes === 0) {
      // Nothing is read until the sender has stopped.
      for (let before = -1; before !== read; ) {
        before = read;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      t.ok(read < 2000, `${read} of 2000 objects were read for a reader that reads nothing`);
      clock.tick();
      await gather(one, update(1, NOW + 1, 'changed'), deletion(1999, NOW + 1));
    }
    bytes += chunk.length;
    const piece = tail + String(chunk);
    objects += piece.split('@FILE {').length - 1;
    tail = piece.slice(-6);
  }
  t.ok(tail.endsWith('}\n}\n'), 'whole');
  t.equal(objects, 1999, 'what went meanwhile is not there');
  const next = await bulk(one, `#SINCE ${NOW - 1} `);
  t.match(next, url(1999), 'and the next transfer says so');
});

async function* counted<T>(pages: AsyncGenerator<T[], void, undefined>, count: (items: number) => void) {
  for await (const page of pages) {
    count(page.length);
    yield page;
  }
}

t.test('BP-11, BP-12, BP-14, BP-16, BP-22 the interface of 1995, raw and compressed', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  await gather(one, update('a', NOW - 5));
  const groups = `@DELETE {\n}\n\n@REFRESH {\n}\n\n@UPDATE {\n${document(url('a'), { Title: 'title a' }, NOW - 5)}}\n`;
  const head = Buffer.concat([
    Buffer.from(`${GREETING}200 - `),
    Buffer.from('0000000100000000', 'hex'),
    Buffer.from('HARVEST Broker 1.0\n126 - http://www.example.org:8080/Harvest/brokers/example/\n'),
    Buffer.from(`140 - ${one.config.indexerType}\n101 - Bulk transfer follows, time ${NOW - 1}\n`),
  ]).toString('latin1');
  const count = '144 - \0\0\0\u0001';
  const raw = await bytesOf(one, '#BULK #interface 2 #END #ALLB\r\n');
  t.equal(raw.toString('latin1'), `${head}${groups}${count}`);
  const packed = (await bytesOf(one, '#BULK #interface 2 #compress #END #ALLB\r\n')).toString('latin1');
  const start = `${head}150 - gzip begin\n`;
  const end = `151 - gzip end\n${count}`;
  t.ok(packed.startsWith(start) && packed.endsWith(end));
  const member = Buffer.from(packed.slice(start.length, -end.length), 'latin1');
  t.equal(gunzipSync(member).toString(), groups);
});

t.test('BP-17 to BP-22 a user query answered as an ObjectList', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  await gather(one, change('update', document(url('a'), { Title: 'Gopher', Description: 'Test' }, NOW - 5)));
  const found = await bytesOf(one, '#USER #desc #opaque #attribute Title #interface 2 #END Gopher\r\n');
  const data = (text: string) => `\u0032\u009f\u00a1\u00d2\0\0\0${String.fromCharCode(text.length)}${text}`;
  const object =
    `120 - ${url('a')}\n125 - http://www.example.org:8080/Harvest/brokers/example/objects/0/OBJ1\n` +
    `124 - ${data('Test')}`;
  const text = found.toString('latin1');
  t.ok(text.includes(object), text);
  t.ok(text.includes(`127 - Title\n - ${data('Gopher')}130 - object end\n`));
  t.ok(text.endsWith('144 - \0\0\0\u0001'));
  const none = (await bytesOf(one, '#USER #interface 2 #END wais\r\n')).toString('latin1');
  t.ok(none.endsWith('144 - \0\0\0\0'), 'BP-22 nothing found');
});

t.test('BP-24 digests follow the store, and a leaf names its objects', async (t) => {
  const clock = new Clock();
  const one = await peer(t, clock);
  const digest = async (prefix: string) =>
    (await bytesOf(one, `#BULK #interface 2 #digest ${prefix} #END #ALLB\r\n`)).toString('latin1');
  await gather(one, update('a', NOW - 5), update('b', NOW - 5));
  const small = await digest('-');
  t.match(
    small,
    /145 - [\s\S]*@DIGEST \{ -\nCount\{1\}:\t2\nDigest\{32\}:\t[\da-f]{32}\nIdentities\{\d+\}:\t[\da-f]{32} \d+ http/,
  );
  const leaves = [...small.matchAll(/([\da-f]{32}) \d+ (http\S+)/g)].map(([, hex = '', at]) => ({ hex, at }));
  t.same(leaves.map(({ at }) => at).sort(), [url('a'), url('b')]);
  for (const { hex, at = '' } of leaves) {
    const leaf = await digest(hex.slice(0, 16));
    t.match(leaf, /Count\{1\}:\t1\n/);
    t.ok(leaf.includes(`Digest{32}:\t${hex}`) && leaf.includes(at), 'one object is its own digest');
  }
  await one.broker.store.apply(Array.from({ length: 600 }, (_, n) => update(n, NOW - 5)));
  const large = await digest('-');
  t.match(large, /Count\{3\}:\t602\n/);
  const rows = [...large.matchAll(/^(?:Buckets\{\d+\}:\t)?([\da-f]) (\d+) ([\da-f]{32})$/gm)];
  t.equal(rows.length, 16);
  const sum = rows.reduce((all, [, , count]) => all + Number(count), 0);
  t.equal(sum, 602);
  const xor = rows.reduce((all, [, , , hex = '']) => all ^ BigInt(`0x${hex}`), 0n);
  t.ok(large.includes(`Digest{32}:\t${xor.toString(16).padStart(32, '0')}`), 'XOR of the buckets');
  for (const [, prefix = '', count] of rows) t.ok((await digest(prefix)).includes(`:\t${count}\n`));
});

async function bytesOf({ server }: Peer, message: string): Promise<Buffer> {
  const socket = connect(server.address.port, '127.0.0.1');
  socket.write(message);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks);
}
