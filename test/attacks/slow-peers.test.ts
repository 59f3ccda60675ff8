// Peers that read or write slowly for ever: cut by a minimum rate, while a slow line that makes progress is
// served to its end.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createLoggerOn, TcpHost } from '../../servers/host/index.js';
import { ManualClock, nextTurn, passTime, timerOf, until } from '../helpers/manual-clock.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { openBroker, serveBroker } from '../servers/broker/helpers.js';
import { entry, startGatherd, waitForDisconnects } from '../servers/gatherd/helpers.js';
import { serveFixture } from '../servers/refererd/helpers.js';
import { publishFixture } from '../storage/references/fixture.js';
import { ask, dial, dialMany } from './sockets.js';
import { servePages } from './web-servers.js';

t.test('a peer that reads nothing is cut, although it goes on sending', async (t) => {
  const entries = Array.from({ length: 200 }, (_, i) =>
    entry(`http://${i}.example/`, 100 + i, 'x'.repeat(100_000)),
  );
  const clock = new ManualClock();
  const { port, server, log } = await startGatherd(t, entries, { drainTimeoutMs: 500, clock });
  const socket = await dial(t, port);
  socket.pause();
  socket.write('SEND-UPDATE 0\n');
  await timerOf(clock, 500);
  await passTime(clock, 50, () => {
    // Input does not count as progress.
    socket.write('H');
    return server.connections === 0;
  });
  t.match(log.join(''), /peer accepted no data for 500 ms/);
});

t.test('a peer that reads too little is cut', async (t) => {
  const clock = new ManualClock();
  const written = { bytes: 0 };
  const limits = { drainTimeoutMs: 500, minBytesPerSecond: 1 << 30, clock };
  const { port, failure } = await serveEndlessly(t, written, limits);
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  await timerOf(clock, 500);
  while (socket.read(64 * 1024) === null) await nextTurn();
  clock.advance(500);
  t.match(await failure, /^peer accepted (only \d+ bytes of|no) data for 500 ms$/);
});

t.test('a peer that reads slowly, but fast enough, receives everything', async (t) => {
  const total = 24 << 20;
  const clock = new ManualClock();
  const written = { bytes: 0 };
  const limits = { drainTimeoutMs: 1500, minBytesPerSecond: 1000, clock };
  const { port, failure } = await serveEndlessly(t, written, limits, total);
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  socket.pause();
  let received = 0;
  let windows = 0;
  /** Bytes that were written when the present window was first seen. */
  let atWindow: number | undefined;
  // The system's buffers hold several megabytes, which are accepted in large steps: each step is the progress
  // of one window.
  while (!socket.readableEnded) {
    const chunk: Buffer | null = socket.read(64 * 1024) ?? socket.read();
    received += chunk?.length ?? 0;
    if (!clock.waiting.includes(1500)) atWindow = undefined;
    else if (atWindow === undefined) atWindow = written.bytes;
    else if (written.bytes > atWindow + 128 * 1024) {
      atWindow = undefined;
      windows++;
      clock.advance(1500);
    }
    await nextTurn();
  }
  t.equal(received, total);
  t.ok(windows >= 3, `it took ${windows} windows`);
  t.equal(await failure, 'finished');
});

/** Starts a host that writes to each peer, for ever or up to a number of bytes. */
async function serveEndlessly(
  t: Test,
  written: { bytes: number },
  limits: {
    readonly drainTimeoutMs: number;
    readonly minBytesPerSecond: number;
    readonly clock: ManualClock;
  },
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

t.test('a page whose reader accepts nothing is cut, and a trickling request has a deadline', async (t) => {
  const { app, port } = await servePages(t, {
    requestTimeoutMs: 400,
    connections: { maxConnections: 10, drainTimeoutMs: 400 },
    routes: (app) => void app.get('/', (_request, reply) => reply.send(Buffer.alloc(64 << 20))),
  });
  const serverSide = new Promise<Socket>((resolve) => app.server.once('connection', resolve));
  const reader = await dial(t, port);
  reader.pause();
  reader.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  const served = await serverSide;
  await once(served, 'close');
  t.ok(served.destroyed, 'the reader is cut');
  const writer = await dial(t, port);
  writer.resume();
  writer.write('GET / HTTP/1.1\r\n');
  const timer = setInterval(() => writer.write('X: y\r\n'), 20);
  t.teardown(() => clearInterval(timer));
  await once(writer, 'close');
  t.ok(writer.destroyed, 'the writer is cut');
});

t.test('a request that arrives byte by byte has a deadline: gatherd, Broker, SSTP, HTTP', async (t) => {
  const clock = new ManualClock();
  const gatherd = await startGatherd(t, [], { idleTimeoutMs: 300, clock });
  const fixture = await openBroker(t, { points: [] });
  const broker = await serveBroker(t, fixture, { messageTimeoutMs: 300, clock });
  const refererd = await serveFixture(t, { readTimeoutMs: 300, clock });
  // Every byte begins the time for the next one anew, but not that for the whole request.
  const timerBegins = (milliseconds: number) => () => timerOf(clock, milliseconds);
  const bytesArrive = (bytes: number) => until(() => refererd.service.statistics.counts.bytes_in >= bytes);
  for (const [name, port, beginning, arrived] of [
    ['gatherd', gatherd.port, 'HELLO ', timerBegins(300)],
    ['Broker', broker.address.port, '#USER ', timerBegins(600)],
    ['SSTP', refererd.address.port, 'SSTP/1.0 081 X\r\nHEADER_URI: ', bytesArrive],
    ['HTTP', refererd.address.port, 'GET / HTTP/1.1\r\nHost: ', nextTurn],
  ] as const) {
    const before = refererd.service.statistics.counts.bytes_in;
    const socket = await dial(t, port);
    const closed = once(socket, 'close');
    socket.resume();
    await timerOf(clock, 300);
    socket.write(beginning);
    for (let sent = 0; sent < 15; sent++) {
      t.notOk(socket.readableEnded, `${name}: open after ${sent * 20} ms`);
      socket.write('x');
      await arrived(before + beginning.length + sent + 1);
      clock.advance(20);
    }
    await closed;
    t.pass(`${name}: closed after 300 ms`);
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
