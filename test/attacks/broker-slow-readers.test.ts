// Clients of the Broker that do not read: others are served, and their replies share a bounded memory.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { ReplyMemory } from '../../servers/broker/query/reply-memory.js';
import { ManualClock } from '../helpers/manual-clock.js';
import { ask, askSlowly, type BrokerProcess, startBrokerProcess } from './broker-process.js';

const MIB = 1024 * 1024;
const READERS = 250;
/** Memory of the process for all slow readers of a bulk transfer together. */
const MAX_GROWTH = 200 * MIB;
/** The same for queries: the system keeps more of the memory that the query thread has released. */
const MAX_QUERY_GROWTH = 400 * MIB;
/** Looks at the process while its readers wait, two seconds apart from the first to the last. */
const LOOKS = 10;

/** Opens slow readers from several addresses, and waits until the process writes to none of them. */
async function openReaders(port: number, message: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 25) {
    const some = Array.from({ length: Math.min(25, count - i) }, (_, k) =>
      askSlowly(port, message, `127.0.0.${2 + ((i + k) % 50)}`),
    );
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

/** Returns the most memory of the process while its readers wait. */
async function watchMemory(server: BrokerProcess, looks: number): Promise<number> {
  let most = 0;
  for (let look = 0; look < looks; look++) {
    most = Math.max(most, (await server.figures()).rss);
    await sleep(200);
  }
  return most;
}

async function closeReaders(server: BrokerProcess, sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.resetAndDestroy();
  for (;;) {
    const { connections, running, waiting, replies } = await server.figures();
    if (connections + running + waiting + replies === 0) return;
    await sleep(20);
  }
}

t.test('250 slow readers share a bounded memory, and others are served', async (t) => {
  const server = await startBrokerProcess(t, { objects: 2000, words: 3500 });
  const { port } = server;
  await ask(port, '#BULK #SINCE 0 #END #allb');
  const before = (await server.figures()).rss;
  for (const message of [
    '#BULK #SINCE 0 #END #allb',
    '#BULK #SINCE 0 #interface 2 #END #allb',
    '#BULK #SINCE 0 #interface 2 #compress #END #allb',
    '#USER #index case insensitive #attribute Body #END Doc',
  ]) {
    const sockets = await openReaders(port, message, READERS);
    while ((await server.figures()).connections < READERS) await sleep(20);
    const most = await watchMemory(server, LOOKS);
    const limit = message.startsWith('#BULK') ? MAX_GROWTH : MAX_QUERY_GROWTH;
    t.ok(most - before < limit, `${message}: ${((most - before) / MIB).toFixed(0)} MiB more`);
    t.comment(`${message}: ${((most - before) / MIB).toFixed(0)} MiB more`);
    const { running } = await server.figures();
    t.ok(running <= 20, `${running} slots are in use`);
    const { head } = await ask(port, '#USER #index maxfiles 1 #END Doc', '127.0.0.200');
    t.match(head, /120 - /, 'another client is served');
    await closeReaders(server, sockets);
  }
});

t.test('100 readers of objects of several megabytes', async (t) => {
  const server = await startBrokerProcess(t, { objects: 8, words: 800_000 });
  const { port } = server;
  await ask(port, '#BULK #SINCE 0 #END #allb');
  const before = (await server.figures()).rss;
  const sockets = await openReaders(port, '#BULK #SINCE 0 #END #allb', 100);
  // Their pages would take 700 MiB. Some readers are cut, for the others.
  const most = await watchMemory(server, 5 * LOOKS);
  t.ok(most - before < MAX_GROWTH, `${((most - before) / MIB).toFixed(0)} MiB more`);
  t.comment(`${((most - before) / MIB).toFixed(0)} MiB more`);
  await closeReaders(server, sockets);
});

t.test('large pages: shares, waiting, aborts, and the slowest client is cut', async (t) => {
  const clock = new ManualClock();
  const memory = new ReplyMemory({
    totalBytes: 1000,
    smallBytes: 10,
    graceMs: 50,
    fastBytesPerSecond: 1e9,
    clock,
  });
  const cut: string[] = [];
  const enter = (client: string) => memory.enter({ client, cut: () => void cut.push(client) });
  const slow = enter('slow');
  const first = slow.tryHold(600);
  const fast = enter('fast');
  const second = fast.tryHold(300);
  t.equal(memory.bytes, 900);
  t.ok(enter('small').tryHold(10), 'small pages are not counted');
  t.equal(enter('late').tryHold(200), undefined);
  const gone = new AbortController();
  const aborted = enter('gone').hold(200, gone.signal);
  gone.abort(new Error('gone'));
  await t.rejects(aborted, { message: 'gone' });
  const more = fast.hold(500);
  const other = enter('other').hold(500);
  fast.progress(250);
  clock.advance(49);
  t.same(cut, []);
  clock.advance(1);
  t.same(cut, ['slow'], 'the slowest is cut');
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  const granted = await other;
  t.equal(memory.bytes, 800, 'the client that holds nothing goes first');
  granted[Symbol.dispose]();
  second?.[Symbol.dispose]();
  (await more)[Symbol.dispose]();
  t.equal(memory.bytes, 0);
  const huge = slow.tryHold(5000);
  t.ok(huge, 'a page above the total is held alone');
  huge?.[Symbol.dispose]();
});
