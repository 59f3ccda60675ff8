// Clients of pages that leave before the reply, and clients that only end their direction.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { sendLine } from '../../../servers/web/replies.js';
import { servePages } from '../../attacks/web-servers.js';
import { gate } from '../../helpers/gate.js';
import { until } from '../../helpers/manual-clock.js';

const request = (path: string, version = '1.1') => `GET ${path} HTTP/${version}\r\nHost: localhost\r\n\r\n`;

/** Serves pages that are made until their clients are gone, or `finish` is called. One other request is in progress. */
async function serveSlow(t: Test) {
  const finish = gate();
  const counts = { begun: 0, running: 0 };
  const { port } = await servePages(t, {
    connections: { maxConnections: 200 },
    routes: (app) => {
      app.get('/held', async (_request, reply) => {
        await finish.opened;
        return sendLine(reply, 200, 'held');
      });
      app.get('/work', async (_request, reply) => {
        counts.begun += 1;
        counts.running += 1;
        await Promise.race([finish.opened, once(reply.raw, 'close')]);
        counts.running -= 1;
        return sendLine(reply, 200, 'done');
      });
    },
  });
  const other = connect({ port, host: '127.0.0.1' });
  t.teardown(() => other.destroy());
  other.on('error', () => undefined).resume();
  other.write(request('/held'));
  return { port, counts, finish };
}

/** Sends a text from an address, and leaves once it is sent. */
async function sendAndGo(
  port: number,
  localAddress: string,
  text: string,
  leave: (socket: Socket) => void,
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write(text, resolve));
  leave(socket);
}

t.test('a page whose client is gone is not made, or ends at once', async (t) => {
  const { port, counts } = await serveSlow(t);
  const close = (socket: Socket) => void socket.destroy();
  const kinds: Readonly<Record<string, readonly [string, (socket: Socket) => void]>> = {
    'one that closes': [request('/work'), close],
    'one that resets': [request('/work'), (socket) => void socket.resetAndDestroy()],
    'one with 20 requests': [request('/work').repeat(20), close],
  };
  for (const [name, [text, leave]] of Object.entries(kinds)) {
    counts.begun = 0;
    for (let i = 0; i < 20; i++) await sendAndGo(port, `127.0.0.${2 + i}`, text, leave);
    await until(() => counts.running === 0);
    t.ok(counts.begun <= 20, `${name}: ${counts.begun} of its requests were begun`);
  }
  const late = connect({ port, host: '127.0.0.1' });
  late.on('error', () => undefined);
  late.write(request('/work'));
  await until(() => counts.running === 1);
  late.destroy();
  await until(() => counts.running === 0);
  t.equal(counts.running, 0, 'one that leaves while its page is made');
});

t.test('a client that has only ended its direction gets the reply', async (t) => {
  for (const version of ['1.1', '1.0']) {
    const { port, counts, finish } = await serveSlow(t);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(request('/work', version));
    await until(() => counts.running === 1);
    finish.open();
    const reply = (await buffer(socket)).toString('latin1');
    t.match(reply, /HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\ndone\n$/, version);
    if (version === '1.0') t.notMatch(reply, /100 Continue/, 'without a line that HTTP/1.0 has not');
    else
      t.match(
        reply,
        /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 /,
        'at most one interim line before it',
      );
  }
});
