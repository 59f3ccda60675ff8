// The console of a crawl beside floods of its pages, and readers of its events that do not read.
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { nextTurn } from '../helpers/manual-clock.js';
import { waitUntil } from '../helpers/wait-until.js';
import { consoleScene } from '../servers/crawler/console-scene.js';
import { queue } from '../servers/crawler/fake-control.js';
import { assertFair } from './fairness.js';
import { ask, countOpen, dial } from './sockets.js';

const get = (path: string, authorization: string, more = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n${more}\r\n`;

t.test('a cheap request beside floods of pages and of requests without access', async (t) => {
  const { crawl, crawlConsole, bearer } = await consoleScene(t);
  crawl.queueReports.push(
    ...Array.from({ length: 70 }, (_, i) => queue(`host-${i}.example`, { state: 'snoozed', count: i })),
  );
  const { port } = crawlConsole.address;
  const client = await dial(t, port);
  const cheap = (): Promise<string> =>
    ask(client, get('/metrics', bearer.authorization), /\n\S+ [\d.]+\n(?:0\r\n\r\n)?$/);
  t.match(await cheap(), /^HTTP\/1\.1 200 /);
  const floods = {
    '/api/queues': get('/api/queues', bearer.authorization),
    'a page without access': get('/', 'Bearer none'),
    'the login page': get('/login', 'Bearer none'),
  };
  for (const [name, text] of Object.entries(floods)) {
    for (const connections of [1, 8])
      await assertFair(t, port, `console, ${name}`, cheap, { connections, text });
  }
});

/** A reader of events that reads; `text` is what has arrived. */
async function follower(t: Test, port: number, request: string, from?: string) {
  const socket = await dial(t, port, from);
  const reader = { socket, text: '' };
  socket.on('data', (chunk: Buffer) => {
    reader.text = (reader.text + chunk.toString('latin1')).slice(-100_000);
  });
  socket.write(request);
  await waitUntil(() => reader.text.includes('event: snapshot') || socket.closed);
  return reader;
}

t.test('readers of events that do not read are bounded in memory and number, and make room', async (t) => {
  const maxFollowers = 6;
  const { crawl, crawlConsole, bearer } = await consoleScene(t, { maxFollowers });
  crawl.queueReports.push(
    ...Array.from({ length: 70 }, (_, i) => queue(`host-${i}.example`, { state: 'snoozed', count: i })),
  );
  const { port } = crawlConsole.address;
  const request = get('/events?parts=1', bearer.authorization);
  const slow: Socket[] = [];
  for (let i = 0; i < 3 * maxFollowers; i++) {
    const socket = await dial(t, port);
    socket.pause();
    socket.write(request);
    slow.push(socket);
    await waitUntil(() => crawlConsole.feed.followers >= Math.min(i + 1, maxFollowers));
  }
  t.equal(crawlConsole.feed.followers, maxFollowers);
  const before = process.memoryUsage();
  // The buffers of the system take some megabytes of each reader; then its snapshots are left out, and at last
  // it is closed.
  let samples = 0;
  for (; crawlConsole.feed.followers > 0; samples++) {
    crawlConsole.feed.tick();
    await nextTurn();
    await nextTurn();
  }
  t.equal(crawlConsole.feed.followers, 0, `those that do not read are closed, after ${samples} snapshots`);
  const { external, arrayBuffers } = process.memoryUsage();
  const growth = (external + arrayBuffers - before.external - before.arrayBuffers) / 1e6;
  t.ok(growth < 50, `${growth.toFixed(1)} MB more memory`);
  for (const socket of slow) socket.resume();
  await waitUntil(() => countOpen(slow) === 0);
  const newcomer = await follower(t, port, request);
  t.match(newcomer.text, /event: snapshot/, 'then a newcomer is served');
});

t.test('readers of events of one address do not keep others out, nor a newcomer of their own', async (t) => {
  const { crawlConsole, bearer } = await consoleScene(t, { maxFollowers: 8, maxFollowersPerAddress: 3 });
  const { port } = crawlConsole.address;
  const request = get('/events', bearer.authorization);
  const operator = await follower(t, port, request, '127.0.0.3');
  const crowd = [];
  for (let i = 0; i < 12; i++) crowd.push(await follower(t, port, request, '127.0.0.2'));
  t.equal(crawlConsole.feed.followers, 4, 'three of the crowd and the operator');
  const sockets = crowd.map(({ socket }) => socket);
  await waitUntil(() => countOpen(sockets) <= 3);
  t.equal(countOpen(sockets), 3);
  for (const { text } of crowd) t.match(text, /event: snapshot/, 'each was served at first');
  t.match(crowd[0]?.text, /retry: 60000\n\n/, 'the oldest is told to come back late');
  for (let i = 4; i < 10; i++) crowd.push(await follower(t, port, request, `127.0.0.${i}`));
  t.equal(crawlConsole.feed.followers, 8);
  operator.text = '';
  crawlConsole.feed.tick();
  await waitUntil(() => operator.text !== '' || operator.socket.closed);
  t.match(
    operator.text,
    /event: snapshot/,
    'the operator still follows: the address with the most gave its places up',
  );
});
