// Peers that read or write slowly for ever: cut by a minimum rate, while a slow line that makes progress is served to its end.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createLoggerOn, TcpHost } from '../../servers/host/index.js';
import { createApplication, listenOn } from '../../servers/web/application.js';
import { sendLine } from '../../servers/web/replies.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { entry, startGatherd, waitForDisconnects } from '../servers/gatherd/helpers.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { publishFixture } from '../storage/references/fixture.js';
import { ask, dial, dialMany } from './sockets.js';

/** Waits for the server to close the connection; fails the test after a while. */
async function closed(socket: Socket): Promise<boolean> {
  const timeout = new Promise<false>((resolve) => setTimeout(resolve, 20_000, false).unref());
  return Promise.race([new Promise<true>((resolve) => socket.once('close', () => resolve(true))), timeout]);
}

t.test('a peer that reads nothing is cut, although it goes on sending', async (t) => {
  const entries = Array.from({ length: 200 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, 'x'.repeat(100_000)),
  );
  const { port, server } = await startGatherd(t, entries, { drainTimeoutMs: 500 });
  const socket = await dial(t, port);
  socket.pause();
  socket.write('SEND-UPDATE 0\n');
  // Input does not count as progress.
  const timer = setInterval(() => socket.write('H'), 50);
  t.teardown(() => clearInterval(timer));
  const begin = performance.now();
  while (server.connections > 0 && performance.now() - begin < 20_000)
    await new Promise((resolve) => setTimeout(resolve, 20));
  t.equal(server.connections, 0);
});

t.test('a peer that reads too little is cut', async (t) => {
  const written = { bytes: 0 };
  const { port, failure } = await serveEndlessly(t, written, {
    drainTimeoutMs: 500,
    minBytesPerSecond: 1 << 30,
  });
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  const timer = setInterval(() => socket.read(64 * 1024), 1);
  t.teardown(() => clearInterval(timer));
  t.match(await failure, /^peer accepted (only \d+ bytes of|no) data for 500 ms$/);
});

t.test('a peer that reads slowly, but fast enough, receives everything', async (t) => {
  const total = 24 << 20;
  const written = { bytes: 0 };
  const { port, failure } = await serveEndlessly(
    t,
    written,
    { drainTimeoutMs: 1500, minBytesPerSecond: 1000 },
    total,
  );
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  socket.pause();
  let received = 0;
  // The system's buffers hold several megabytes, which are accepted in large steps.
  while (!socket.readableEnded) {
    const chunk: Buffer | null = socket.read(64 * 1024) ?? socket.read();
    received += chunk?.length ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.equal(received, total);
  t.equal(await failure, 'finished');
});

/** Starts a host that writes to each peer, for ever or up to a number of bytes. */
async function serveEndlessly(
  t: Test,
  written: { bytes: number },
  limits: { readonly drainTimeoutMs: number; readonly minBytesPerSecond: number },
  total = Number.POSITIVE_INFINITY,
): Promise<{ readonly port: number; readonly failure: Promise<string> }> {
  let settle: (text: string) => void = () => {};
  const failure = new Promise<string>((resolve) => {
    settle = resolve;
  });
  const piece = new Uint8Array(64 * 1024);
  const log = createLoggerOn({ write: () => {} }, { program: 'test' });
  const host = await TcpHost.listen(
    { host: '127.0.0.1', port: 0, name: 'test', log, ...limits },
    async (connection) => {
      try {
        while (written.bytes < total) {
          await connection.write(piece);
          written.bytes += piece.length;
        }
        await connection.end();
        settle('finished');
      } catch (error) {
        settle(error instanceof Error ? error.message : String(error));
        throw error;
      }
    },
  );
  t.teardown(() => host.close({ graceMs: 0 }));
  return { port: host.address.port, failure };
}

t.test(
  'a page whose reader accepts nothing is cut, and a request that trickles in has a deadline',
  async (t) => {
    const app = await createApplication({
      headers: {},
      hostNames: () => ({ names: [] }),
      assets: [],
      bodies: 'none',
      requestTimeoutMs: 400,
      connections: { maxConnections: 10, drainTimeoutMs: 400 },
      notFound: (_request, reply) => sendLine(reply, 404, 'not found'),
      failed: ({ reply, status }) => sendLine(reply, status, 'failed'),
      routes: (app) => void app.get('/', (_request, reply) => reply.send(Buffer.alloc(64 << 20))),
    });
    t.teardown(() => app.close());
    const { port } = await listenOn(app, { host: '127.0.0.1', port: 0 }, 'pages');
    const serverSide = new Promise<Socket>((resolve) => app.server.once('connection', resolve));
    const reader = await dial(t, port);
    reader.pause();
    reader.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    t.ok(await closed(await serverSide), 'the reader is cut');
    const writer = await dial(t, port);
    writer.resume();
    writer.write('GET / HTTP/1.1\r\n');
    const timer = setInterval(() => writer.write('X: y\r\n'), 20);
    t.teardown(() => clearInterval(timer));
    t.ok(await closed(writer), 'the writer is cut');
    clearInterval(timer);
  },
);

t.test('a request that arrives byte by byte has a deadline: gatherd, Broker, SSTP, HTTP', async (t) => {
  const gatherd = await startGatherd(t, [], { idleTimeoutMs: 300 });
  const fixture = await openBroker(t, { points: [] });
  const broker = await serveBroker(t, fixture, { messageTimeoutMs: 300 });
  const refererd = await serveFixture(t, { readTimeoutMs: 300 });
  for (const [name, port, beginning] of [
    ['gatherd', gatherd.port, 'HELLO '],
    ['Broker', broker.address.port, '#USER '],
    ['SSTP', refererd.address.port, 'SSTP/1.0 081 X\r\nHEADER_URI: '],
    ['HTTP', refererd.address.port, 'GET / HTTP/1.1\r\nHost: '],
  ] as const) {
    const socket = await dial(t, port);
    socket.resume();
    socket.write(beginning);
    const timer = setInterval(() => socket.write('x'), 20);
    t.ok(await closed(socket), name);
    clearInterval(timer);
  }
  await waitForDisconnects(gatherd.server);
});

t.test('refererd: requests of a client that has reset the connection are not answered', async (t) => {
  const data = await temporaryDirectory(t);
  await publishFixture(
    data,
    [{ id: 1, url: 'http://many.example/' }],
    Array.from({ length: 10_000 }, (_, i): [number, number] => [1, 1_000_000 + i]),
  );
  const { address, service } = await serveFixture(t, { data });
  const request = 'SSTP/1.0 081 X\r\nHEADER_URI_ID: 1\r\n\r\n';
  const clients = await dialMany(t, address.port, 5);
  for (const socket of clients) {
    socket.pause();
    socket.write(request.repeat(3000));
  }
  // The server has stopped, because no client reads.
  let answered = -1;
  while (answered !== service.statistics.counts.requests_total || answered === 0) {
    answered = service.statistics.counts.requests_total;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const socket of clients) socket.resetAndDestroy();
  const newcomer = await dial(t, address.port);
  t.match(await ask(newcomer, request, /HEADER_NUMFOUND/), /HEADER_NUMFOUND/);
  const more = service.statistics.counts.requests_total - answered;
  t.ok(more <= 1 + clients.length, `${more} further requests are answered`);
});

t.test('gatherd: a slow reader whose place is needed goes after the idle ones', async (t) => {
  const entries = Array.from({ length: 100 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, 'x'.repeat(100_000)),
  );
  const { port } = await startGatherd(t, entries, { maxConnections: 4 });
  const reader = await dial(t, port);
  reader.pause();
  reader.write('SEND-UPDATE 0\nQUIT\n');
  await new Promise((resolve) => setTimeout(resolve, 200));
  await dialMany(t, port, 10);
  const chunks: Buffer[] = [];
  reader.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  await once(reader, 'close');
  t.match(Buffer.concat(chunks).subarray(-40).toString('latin1'), /499 - Sent 100 objects\n999 - Bye\n$/);
});
