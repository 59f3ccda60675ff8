// Tests Connection and exchange over real sockets: time-outs, aborts, back-pressure, half close, reset.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { Connection, type ConnectionOptions, exchange } from '../../../clients/connection/index.js';
import { ConnectionError } from '../../../protocols/errors.js';
import { freePort } from '../../helpers/daemon.js';
import { ManualClock, nextTurn, timerOf, until } from '../../helpers/manual-clock.js';
import { tcpServer } from '../../helpers/tcp-server.js';

/** A TCP server on a free port; its side of each connection goes to `serve`. */
async function listen(t: Test, serve: (socket: Socket) => void): Promise<ConnectionOptions> {
  const port = await tcpServer(t, serve, { allowHalfOpen: true });
  return { host: '127.0.0.1', port, connectTimeoutMs: 5000, idleTimeoutMs: 5000 };
}

/** A port on which no process accepts: once the system's queue is full, further connections stay unanswered. */
async function listenWithoutAccepting(t: Test): Promise<number> {
  const blocked = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
     });`,
    { eval: true },
  );
  t.teardown(() => blocked.terminate());
  const [port]: number[] = await once(blocked, 'message');
  return port!;
}

/** Everything until the peer closes. */
async function readAll(connection: Connection): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of connection) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const HELLO = Buffer.from('hello');

t.test('reads until the peer closes; then writes are refused', async (t) => {
  const options = await listen(t, (socket) => socket.end('one\ntwo\n'));
  await using connection = await Connection.open(options);
  t.equal(connection.name, `127.0.0.1:${options.port}`);
  t.equal(connection.remoteAddress, '127.0.0.1');
  t.equal((await readAll(connection)).toString(), 'one\ntwo\n');
  t.equal(await connection.read(), undefined, 'a read after the end returns undefined again');
  t.ok(connection.closed);
  t.notOk(connection.lost);
  await nextTurn();
  await t.rejects(connection.write(HELLO), { code: 'ERR_CONNECTION', message: /closed the connection/ });
});

t.test('half close: the peer answers after our end; write after end is a StateError', async (t) => {
  const options = await listen(t, (socket) => {
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.on('end', () => socket.end(received.toUpperCase()));
  });
  await using connection = await Connection.open(options);
  await connection.write(HELLO);
  connection.end();
  await t.rejects(connection.write(HELLO), { code: 'ERR_STATE', message: /write after end/ });
  t.equal((await readAll(connection)).toString(), 'HELLO');
});

t.test('open rejects if the port is closed, the host is unknown or the signal is aborted', async (t) => {
  const options = await listen(t, () => {});
  const port = await freePort();
  await t.rejects(Connection.open({ ...options, port }), {
    code: 'ERR_CONNECTION',
    message: `127.0.0.1:${port}: connection refused: nothing listens on that port; is the server running?`,
    cause: { code: 'ECONNREFUSED' },
  });
  await t.rejects(
    Connection.open({ ...options, port, name: 'the broker', hints: { ECONNREFUSED: 'try 8501' } }),
    {
      message:
        'the broker: connection refused: nothing listens on that port; is the server running? (try 8501)',
    },
  );
  await t.rejects(Connection.open({ ...options, host: 'nowhere.invalid', port: 80 }), {
    code: 'ERR_CONNECTION',
    message: /^nowhere\.invalid:80: unknown host/,
  });
  const reason = new Error('changed my mind');
  await t.rejects(Connection.open({ ...options, signal: AbortSignal.abort(reason) }), reason);
});

t.test('open waits for a port whose queue is full until the time-out or an abort', async (t) => {
  const port = await listenWithoutAccepting(t);
  // The queue holds one connection more than its length; the system answers no further one.
  const queued = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  t.teardown(() => {
    for (const socket of queued) socket.destroy();
  });
  await until(() => queued.filter(({ pending }) => !pending).length >= 2);
  const clock = new ManualClock();
  const options = { host: '127.0.0.1', port, connectTimeoutMs: 50, idleTimeoutMs: 0, clock };
  const late = Connection.open(options);
  clock.advance(50);
  await t.rejects(late, {
    code: 'ERR_CONNECTION',
    message: `127.0.0.1:${port}: no connection within 50 ms`,
  });
  const abort = new AbortController();
  const opening = Connection.open({ ...options, signal: abort.signal });
  abort.abort(new Error('enough'));
  await t.rejects(opening, { message: 'enough' });
});

t.test('the open signal has no effect on an open connection; an abort of a read loses no data', async (t) => {
  let server: Socket | undefined;
  const options = await listen(t, (socket) => {
    server = socket;
  });
  const opening = new AbortController();
  await using connection = await Connection.open({ ...options, signal: opening.signal });
  opening.abort();
  const abort = new AbortController();
  const read = connection.read(abort.signal);
  await t.rejects(connection.read(), { code: 'ERR_STATE' }, 'one read at a time');
  abort.abort(new Error('enough'));
  await t.rejects(read, { message: 'enough' });
  await t.rejects(connection.read(abort.signal), { message: 'enough' }, 'aborted before the call');
  await t.rejects(connection.write(HELLO, abort.signal), { message: 'enough' });
  server?.write('late');
  t.equal(Buffer.from((await connection.read())!).toString(), 'late');
});

t.test('a reader that does not read stops the peer, and loses nothing', async (t) => {
  const total = 64 * 1024 * 1024;
  let sent = 0;
  let onFull: (() => void) | undefined;
  const stopped = new Promise<void>((resolve) => {
    onFull = resolve;
  });
  const options = await listen(t, (socket) => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const writeUntilFull = () => {
      while (sent < total) {
        sent += piece.length;
        if (!socket.write(piece)) {
          onFull?.();
          return;
        }
      }
      socket.end();
    };
    socket.on('drain', writeUntilFull);
    writeUntilFull();
  });
  await using connection = await Connection.open(options);
  await stopped;
  await nextTurn();
  t.ok(sent < total / 2, `the server stopped after ${sent} bytes`);
  let received = 0;
  for await (const chunk of connection) received += chunk.length;
  t.equal(received, total);
});

t.test('a write waits while the peer does not read; an abort and the time-out end the wait', async (t) => {
  let server: Socket | undefined;
  const options = await listen(t, (socket) => {
    server = socket.pause();
  });
  const large = Buffer.alloc(16 * 1024 * 1024);
  const clock = new ManualClock();
  await using connection = await Connection.open({ ...options, clock });
  const write = connection.write(large);
  await t.rejects(connection.write(HELLO), { code: 'ERR_STATE' }, 'one write at a time');
  server?.resume();
  await write;
  server?.pause();
  const abort = new AbortController();
  const aborted = connection.write(large, abort.signal);
  abort.abort(new Error('enough'));
  await t.rejects(aborted, { message: 'enough' });
  connection.idleTimeoutMs = 20;
  const late = connection.write(large);
  await timerOf(clock, 20);
  clock.advance(20);
  await t.rejects(late, {
    code: 'ERR_CONNECTION',
    message: `127.0.0.1:${options.port}: nothing accepted for 20 ms`,
  });
  t.ok(connection.closed);
  t.ok(connection.timedOut);
});

t.test('idle time-out: a read that waits too long ends the connection, other time does not', async (t) => {
  const options = await listen(t, (socket) => socket.write(HELLO));
  const clock = new ManualClock();
  await using connection = await Connection.open({ ...options, idleTimeoutMs: 30, clock });
  await until(() => connection.bytesRead === HELLO.length);
  clock.advance(60);
  t.equal((await connection.read())?.length, HELLO.length);
  const late = connection.read();
  clock.advance(30);
  await t.rejects(late, {
    code: 'ERR_CONNECTION',
    message: `127.0.0.1:${options.port}: nothing received for 30 ms`,
  });
  t.ok(connection.closed);
  t.notOk(connection.lost, 'a time-out is not a lost connection');
  await t.rejects(connection.read(), { message: /nothing received/ }, 'later reads reject with that reason');
});

t.test('a reset by the peer rejects the read after the received data', async (t) => {
  let server: Socket | undefined;
  const options = await listen(t, (socket) => {
    server = socket;
    socket.write(HELLO);
  });
  await using connection = await Connection.open({ ...options, name: 'peer' });
  await nextTurn();
  t.equal((await connection.read())?.length, HELLO.length);
  const read = connection.read();
  server?.resetAndDestroy();
  await t.rejects(read, {
    code: 'ERR_CONNECTION',
    message: 'peer: the server broke the connection',
    cause: { code: 'ECONNRESET' },
  });
  t.ok(connection.lost);
  t.notOk(connection.timedOut);
  await t.rejects(connection.write(HELLO), ConnectionError);
});

t.test('a peer that ends, then drops what it has not read, has sent everything', async (t) => {
  const sides: Socket[] = [];
  const options = await listen(t, (socket) => {
    socket.pause();
    sides.push(socket);
  });
  await using connection = await Connection.open(options);
  // More than the peer's socket takes from the system.
  connection.write(Buffer.alloc(1 << 20)).catch(() => undefined);
  await until(() => sides.length === 1);
  const [peer] = sides;
  // The system resets a connection that is closed over unread bytes.
  peer?.end('whole');
  await once(peer!, 'finish');
  await until(() => connection.bytesRead === 5);
  peer?.destroy();
  await once(peer!, 'close');
  t.equal((await connection.read())?.length, 5);
  t.equal(await connection.read(), undefined);
  t.equal(await connection.read(), undefined, 'and the reset afterwards changes nothing');
});

t.test('destroy, reset and close reject pending reads', async (t) => {
  const ends: string[] = [];
  const options = await listen(t, (socket) => {
    socket.resume();
    socket.on('error', () => ends.push('reset'));
    socket.on('end', () => ends.push('end'));
    socket.on('end', () => socket.end());
  });
  const reason = new Error('not needed');
  const destroyed = await Connection.open(options);
  const read = destroyed.read();
  destroyed.destroy(reason);
  await t.rejects(read, reason);
  await t.rejects(destroyed.write(HELLO), reason);
  const closed = await Connection.open(options);
  const waiting = t.rejects(closed.read(), { message: /the connection is closed/ });
  await closed.close();
  await closed.close();
  await waiting;
  const reset = await Connection.open(options);
  const cut = t.rejects(reset.read(), ConnectionError);
  reset.reset();
  await cut;
  await reset.close();
  while (ends.length < 3) await nextTurn();
  t.same(ends, ['end', 'end', 'reset']);
});

t.test('exchange yields the reply; an abort between chunks closes the connection', async (t) => {
  const closed: string[] = [];
  const options = await listen(t, (socket) => {
    socket.on('close', () => closed.push('closed'));
    socket.on('end', () => socket.end());
    socket.once('data', (request: Buffer) => {
      socket.write(`reply to ${request.toString()}`);
      if (request.toString() === 'short') socket.end();
    });
  });
  const reply: Uint8Array[] = [];
  for await (const chunk of exchange(Buffer.from('short'), options)) reply.push(chunk);
  t.equal(Buffer.concat(reply).toString(), 'reply to short');
  const abort = new AbortController();
  const chunks = exchange(Buffer.from('long'), { ...options, signal: abort.signal });
  t.notOk((await chunks.next()).done);
  abort.abort(new Error('enough'));
  while (closed.length < 2) await nextTurn();
  await t.rejects(chunks.next(), { message: 'enough' });
  for await (const _ of exchange(Buffer.from('long'), options)) break;
  while (closed.length < 3) await nextTurn();
  t.equal(closed.length, 3, 'leaving the loop closes the connection');
});
