// Tests clients/broker over real sockets, against a Broker whose every byte the test determines.
import type { Socket } from 'node:net';
import t from 'tap';
import { BrokerClient, type BrokerClientOptions, BrokerHit } from '../../../clients/broker/index.js';
import { parseMessage } from '../../../protocols/broker/index.js';
import {
  ConnectionError,
  PeerError,
  ProtocolError,
  StateError,
  UsageError,
} from '../../../protocols/errors.js';
import { SoifObject } from '../../../protocols/soif/index.js';
import { freePort } from '../../helpers/daemon.js';
import { ManualClock, timerOf } from '../../helpers/manual-clock.js';
import { tcpServer } from '../../helpers/tcp-server.js';
import { fakeBroker } from './fake-broker.js';

const OBJECT = '120 - http://a.test/1\n130 - object end\n';

const answer = (reply: string | Uint8Array) => (socket: Socket) => {
  socket.end(reply);
};

const clientOf = (broker: { port: number }, options: Partial<BrokerClientOptions> = {}) =>
  new BrokerClient({ host: '127.0.0.1', port: broker.port, ...options });

/** All hits, and the error that ended the iteration, if any. */
async function collect(hits: AsyncIterable<BrokerHit>): Promise<{ urls: string[]; error: unknown }> {
  const urls: string[] = [];
  try {
    for await (const hit of hits) urls.push(hit.url);
    return { urls, error: undefined };
  } catch (error) {
    return { urls, error };
  }
}

t.test('BRK-1.9, BRK-3.2, BRK-3.7: options become flags of the message; impossible ones throw', async (t) => {
  const broker = await fakeBroker(t, answer(OBJECT));
  await collect(clientOf(broker).query('linux\nand  "kernel"'));
  await collect(
    clientOf(broker).query(
      { kind: 'not', operand: { kind: 'term', text: 'a b', quoted: true, offset: 0 } },
      {
        desc: false,
        matchedLines: false,
        ignoreCase: false,
        matchWord: true,
        errors: 2,
        maxResults: 9,
        maxFiles: 8,
        maxLines: 7,
        lifetime: 60,
        attributes: ['title'],
        since: 5,
      },
    ),
  );
  await collect(clientOf(broker, { opaqueMode: 'show' }).query('a'));
  await collect(clientOf(broker, { opaqueMode: 'show' }).query('a', { matchedLines: false }));
  t.same(broker.messages, [
    '#USER #desc #index case insensitive #END linux and  "kernel"',
    '#USER #since 5 #opaque #index case sensitive #index matchword #index error 2 #index maxresult 9 ' +
      '#index maxfiles 8 #index maxlines 7 #index lifetime 60 #attribute title #END not "a b"',
    '#USER #desc #opaque #index case insensitive #END a',
    '#USER #desc #index case insensitive #END a',
  ]);
  for (const line of broker.messages) t.equal(parseMessage(Buffer.from(line)).kind, 'user');
  t.throws(() => clientOf(broker).query('"open'), UsageError);
  t.throws(() => clientOf(broker).query('a', { errors: 9 }), UsageError);
  t.throws(() => clientOf(broker).query('a', { maxFiles: -1 }), UsageError);
});

t.test('BRK-1.5, BRK-4.4, BRK-4.17: unknown, repeated and counted items, byte by byte', async (t) => {
  const reply =
    '200 - again\n120 - http://a.test/1\n777 - what is this\n124 - 17\n130 - object end\n\n' +
    '122 - Matched line: title# x\n127 - title 3\nA B130 - object end\n200 - again\n101 - note\n103 - ERROR: odd\n';
  const broker = await fakeBroker(t, (socket) => {
    socket.setNoDelay(true);
    for (const byte of Buffer.from(reply)) socket.write(Uint8Array.of(byte));
    socket.end();
  });
  const results = clientOf(broker).query('a');
  const hits: BrokerHit[] = [];
  for await (const hit of results) hits.push(hit);
  t.same(hits, [
    new BrokerHit({
      url: 'http://a.test/1',
      description: '130 - object end\n',
      matchedLines: ['Matched line: title# x'],
      attributes: [{ name: 'title', value: Buffer.from('A B') }],
    }),
  ]);
  t.same([results.messages, results.errors], [['note'], ['ERROR: odd']]);
  t.throws(() => results[Symbol.asyncIterator](), StateError, 'results can be iterated once');
});

t.test('a hit has the methods of an object: bytes by get(), text by text()', async (t) => {
  const value = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
  const reply = Buffer.concat([
    Buffer.from('200 - Broker\n120 - http://a.test/1\n127 - Title 4\n'),
    value,
    Buffer.from('127 - file-size 4\n 42 127 - empty 0\n127 - title 5\ncaf\u00e9130 - object end\n'),
  ]);
  const broker = await fakeBroker(t, answer(reply));
  const hits: BrokerHit[] = [];
  for await (const hit of clientOf(broker).query('a')) hits.push(hit);
  const object = SoifObject.of('FILE', 'http://a.test/1', [
    ['Title', value],
    ['file-size', ' 42 '],
    ['empty', ''],
    ['title', 'caf\u00e9'],
  ]);
  for (const source of [hits[0]!, object]) {
    t.equal(source.text('TITLE'), 'caf\u00e9', 'SOIF-5.2: the last one counts');
    t.same(Buffer.from(source.get('title') ?? []), Buffer.from('caf\u00e9'));
    t.same(
      [source.number('File-Size'), source.number('title'), source.number('absent')],
      [42, undefined, undefined],
    );
    t.same([source.has('empty'), source.text('empty'), source.has('absent')], [true, '', false]);
    t.same([source.text('absent'), source.get('absent')], [undefined, undefined]);
    t.same(
      source.attributes.map(({ name }) => name),
      ['Title', 'file-size', 'empty', 'title'],
    );
  }
});

t.test('BRK-4.13: a fatal error comes after the objects before it', async (t) => {
  const broker = await fakeBroker(
    t,
    answer(`${OBJECT}111 - ERROR: Broker is too busy, try again later\n${OBJECT}`),
  );
  const { urls, error } = await collect(clientOf(broker).query('a'));
  t.same(urls, ['http://a.test/1']);
  t.ok(error instanceof PeerError && error.status === 111 && /too busy/.test(error.message));
});

t.test('incomplete replies, other servers and silence are errors after the complete objects', async (t) => {
  const cut = await collect(
    clientOf(await fakeBroker(t, answer(`${OBJECT}120 - http://a.test/2\n`))).query('a'),
  );
  t.same(cut.urls, ['http://a.test/1']);
  t.ok(cut.error instanceof ConnectionError, 'cut inside an object');

  const counted = await collect(
    clientOf(await fakeBroker(t, answer(`${OBJECT}120 - u\n124 - 9\nabc`))).query('a'),
  );
  t.ok(counted.error instanceof ConnectionError, 'cut inside counted bytes');

  const reset = await collect(
    clientOf(
      await fakeBroker(t, (socket) => socket.write('120 - u\n', () => socket.resetAndDestroy())),
    ).query('a'),
  );
  t.ok(reset.error instanceof ConnectionError, 'reset');

  const stall = await fakeBroker(t, (socket) => socket.write(OBJECT));
  const clock = new ManualClock();
  const stalled = clientOf(stall, { timeoutMs: 50, clock }).query('a')[Symbol.asyncIterator]();
  t.match(await stalled.next(), { value: { url: 'http://a.test/1' } });
  const silence = stalled.next();
  await timerOf(clock, 50);
  clock.advance(50);
  await t.rejects(silence, { code: 'ERR_CONNECTION', message: /nothing received for 50 ms/ });

  const greet = (socket: Socket) => socket.end('000 - HELLO gatherd 1.0 - are you a.test?\n');
  const { error } = await collect(clientOf({ port: await tcpServer(t, greet) }).query('a'));
  t.ok(error instanceof ProtocolError && /Gatherer/.test(error.message), 'BRK-1.4: a Gatherer is recognized');

  const limit = await fakeBroker(t, answer(`${OBJECT}120 - u\n124 - 99\n`));
  const limited = await collect(clientOf(limit, { limits: { maxValueBytes: 10 } }).query('a'));
  t.same(limited.urls, ['http://a.test/1']);
  t.ok(limited.error instanceof ProtocolError);
});

t.test('BRK-1.12: a client waits longer than the lifetime that it requested, and no longer', async (t) => {
  const stall = await fakeBroker(t, (socket) => socket.write('200 - Broker\n'));
  for (const [lifetime, limit] of [
    [undefined, 120_000],
    [30, 120_000],
    [200, 210_000],
  ] as const) {
    const clock = new ManualClock();
    const next = clientOf(stall, { clock }).query('a', { lifetime })[Symbol.asyncIterator]().next();
    await timerOf(clock, limit);
    clock.advance(limit);
    await t.rejects(next, {
      code: 'ERR_CONNECTION',
      message: new RegExp(`nothing received for ${limit} ms`),
    });
  }
});

t.test('the error about an unreachable Broker names it and suggests its usual port', async (t) => {
  const port = await freePort();
  const { error } = await collect(clientOf({ port }).query('a'));
  t.ok(error instanceof ConnectionError);
  t.match(String(error), new RegExp(`127.0.0.1:${port}.*refused.*8501`));
});

t.test('an abort ends a query before it connects and while it waits', async (t) => {
  const broker = await fakeBroker(t, (socket) => socket.write(OBJECT.repeat(2)));
  const early = await collect(clientOf(broker).query('a', { signal: AbortSignal.abort(new Error('early')) }));
  t.match(early.error, /early/);
  t.equal(broker.sockets.length, 0, 'no connection was made');

  const controller = new AbortController();
  const urls: string[] = [];
  await t.rejects(async () => {
    for await (const hit of clientOf(broker).query('a', { signal: controller.signal })) {
      urls.push(hit.url);
      if (urls.length === 2) setImmediate(() => controller.abort(new Error('enough')));
    }
  }, /enough/);
  t.equal(urls.length, 2);
});

t.test('backpressure stops the Broker; leaving the loop closes the connection', async (t) => {
  const total = 64 * 1024 * 1024;
  let written = 0;
  let closed: Promise<unknown> | undefined;
  const broker = await fakeBroker(t, (socket) => {
    closed = new Promise((resolve) => socket.once('close', resolve));
    const block = Buffer.from(OBJECT.repeat(1700));
    const writeUntilFull = () => {
      while (written < total && !socket.destroyed) {
        written += block.length;
        if (!socket.write(block)) {
          socket.once('drain', writeUntilFull);
          return;
        }
      }
      socket.end();
    };
    writeUntilFull();
  });
  let hits = 0;
  for await (const _hit of clientOf(broker).query('a')) {
    hits++;
    if (hits > 5000) break;
  }
  await closed;
  t.ok(written < total, `the Broker sent ${written} of ${total} bytes`);
});

t.test('BRK-5.4, BRK-6.7: admin() and message() send their message and return the reply', async (t) => {
  const broker = await fakeBroker(t, (socket) => {
    socket.end(
      broker.messages.at(-1)?.includes('wrong')
        ? '111 - ERROR: Invalid password\n'
        : '101 - Collection started\n',
    );
  });
  const client = clientOf(broker);
  t.same(await client.admin('secret', { kind: 'collection' }), ['Collection started']);
  await t.rejects(client.admin('wrong', { kind: 'set', name: 'a', value: 'b c' }), PeerError);
  t.same(broker.messages, ['#ADMIN #password secret #collection', '#ADMIN #password wrong #set a "b c"']);
  const items = [];
  for await (const item of client.message('#USER #END a')) items.push(item);
  t.same(items, [
    { kind: 'version', text: 'HARVEST Broker 1.0' },
    { kind: 'message', text: 'Collection started' },
  ]);
  t.throws(() => client.message('two\nlines'), UsageError);
});
