// TcpHost: sessions over TCP with limits on idle time, slow peers and the number of connections.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { ConnectionError } from '../../../protocols/errors.js';
import {
  createLoggerOn,
  type HostConnection,
  type HostOptions,
  TcpHost,
} from '../../../servers/host/index.js';
import { ManualClock, passTime, timerOf, until } from '../../helpers/manual-clock.js';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const bytes = (string: string) => Buffer.from(string, 'latin1');

/** Returns a logger that keeps its lines. */
function memoryLog(level = 'debug') {
  const lines: string[] = [];
  const log = createLoggerOn({ write: (line) => void lines.push(line) }, { program: 'test', level });
  return { lines, log };
}

/** Starts a host on a free port. */
async function listen(
  t: Test,
  handler: (connection: HostConnection) => Promise<void>,
  options: Partial<HostOptions> = {},
): Promise<TcpHost> {
  const { log } = memoryLog();
  const host = await TcpHost.listen({ host: '127.0.0.1', port: 0, log, name: 'test', ...options }, handler);
  t.teardown(() => host.close({ graceMs: 0 }));
  return host;
}

/** Connects a client; `ended` resolves with all received text. */
async function dial(t: Test, host: TcpHost): Promise<{ socket: Socket; ended: Promise<string> }> {
  const socket = connect(host.address.port, host.address.host);
  t.teardown(() => socket.destroy());
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(received).toString('latin1')));
  });
  await once(socket, 'connect');
  return { socket, ended };
}

/** A handler that sends everything back. */
async function echo(connection: HostConnection): Promise<void> {
  for await (const chunk of connection.chunks()) await connection.write(chunk);
  await connection.end();
}

t.test('a peer that has finished sending still receives the reply', async (t) => {
  const host = await listen(t, echo);
  const { socket, ended } = await dial(t, host);
  socket.end('hello');
  t.equal(await ended, 'hello');
});

t.test('the last bytes arrive although the host does not read the remaining input', async (t) => {
  const host = await listen(t, async (connection) => {
    for await (const _ of connection.chunks()) break;
    await connection.write(bytes('x'.repeat(300_000)));
    await connection.end();
  });
  const { socket, ended } = await dial(t, host);
  socket.write(bytes('y'.repeat(500_000)));
  t.equal((await ended).length, 300_000);
});

t.test('the socket is paused while the session does not read', async (t) => {
  let startReading: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    startReading = resolve;
  });
  const received = { bytes: 0 };
  const host = await listen(t, async (connection) => {
    await started;
    for await (const chunk of connection.chunks()) received.bytes += chunk.length;
    await connection.end();
  });
  const { socket, ended } = await dial(t, host);
  const size = 16 << 20;
  t.equal(socket.write(Buffer.alloc(size)), false, 'the socket buffers do not accept everything');
  socket.end();
  t.equal(host.connections, 1);
  startReading();
  await ended;
  t.equal(received.bytes, size, 'no byte is lost');
});

t.test('GATHERD-12.3: a peer that does not read is disconnected; until then writes wait', async (t) => {
  let resolveOutcome: (value: { error: unknown; written: number; aborted: boolean }) => void = () => {};
  const finished = new Promise<{ error: unknown; written: number; aborted: boolean }>((resolve) => {
    resolveOutcome = resolve;
  });
  const clock = new ManualClock();
  const piece = new Uint8Array(64 * 1024);
  const host = await listen(
    t,
    async (connection) => {
      let written = 0;
      try {
        for (;;) {
          await connection.write(piece);
          written += piece.length;
        }
      } catch (error) {
        resolveOutcome({ error, written, aborted: connection.signal.aborted });
      }
    },
    { drainTimeoutMs: 150, clock },
  );
  const socket = connect(host.address.port, host.address.host);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  await timerOf(clock, 150);
  t.equal(host.connections, 1, 'until then writes wait');
  // The system accepts the first megabytes in steps.
  await passTime(clock, 150, () => host.connections === 0);
  const { error, written, aborted } = await finished;
  t.ok(error instanceof ConnectionError);
  t.match(String(error), /accepted no data for 150 ms/);
  t.ok(aborted);
  t.ok(written < 64 << 20, `the socket buffers accepted ${written} bytes`);
});

t.test('the read from a silent peer throws, and the handler can still send a last line', async (t) => {
  const clock = new ManualClock();
  const host = await listen(
    t,
    async (connection) => {
      try {
        for await (const _ of connection.chunks()) await connection.write(bytes('received\n'));
      } catch (error) {
        t.ok(error instanceof ConnectionError);
        await connection.write(bytes('too slow\n'));
        await connection.end();
      }
    },
    { idleTimeoutMs: 100, clock },
  );
  const { ended } = await dial(t, host);
  await timerOf(clock, 100);
  clock.advance(100);
  t.equal(await ended, 'too slow\n');
});

t.test('a peer that resets aborts the signal and ends the read with an error', async (t) => {
  let report: (value: string) => void = () => {};
  const reported = new Promise<string>((resolve) => {
    report = resolve;
  });
  const host = await listen(t, async (connection) => {
    connection.signal.addEventListener('abort', () => report(String(connection.signal.reason)));
    for await (const chunk of connection.chunks()) await connection.write(chunk);
  });
  const { socket } = await dial(t, host);
  socket.write('x');
  await once(socket, 'data');
  socket.resetAndDestroy();
  t.match(await reported, /ConnectionError/);
});

t.test('a connection beyond the limit waits, then it is refused and logged', async (t) => {
  const { lines, log } = memoryLog();
  const clock = new ManualClock();
  const lastWords = { refused: bytes('busy'), evicted: bytes('idle') };
  const limits = { maxConnections: 1, maxWaiting: 2, admissionWaitMs: 1000, graceMs: 10_000 };
  const host = await listen(t, echo, { ...limits, lastWords, log, clock });
  const first = await dial(t, host);
  first.socket.write('a');
  await once(first.socket, 'data');
  const second = await dial(t, host);
  second.socket.write('x'.repeat(200_000));
  await timerOf(clock, 1000);
  clock.advance(1000);
  t.equal(await second.ended, 'busy', 'the answer arrives although the request was not read');
  t.match(lines.join(''), /too many connections/);
  const [next, later] = [await dial(t, host), await dial(t, host)];
  await until(() => clock.waiting.filter((ms) => ms === 1000).length === 2);
  const beyond = await dial(t, host);
  t.equal(await beyond.ended, 'busy', 'no more may wait');
  first.socket.end();
  t.equal(await first.ended, 'a');
  next.socket.end('b');
  t.equal(await next.ended, 'b', 'one that waits gets the place');
  later.socket.end('c');
  t.equal(await later.ended, 'c');
});

t.test('an idle connection makes room for one that waits, and is told why it ends', async (t) => {
  const clock = new ManualClock();
  const lastWords = { refused: bytes('busy'), evicted: bytes('idle') };
  const host = await listen(t, echo, { maxConnections: 1, lastWords, clock });
  const idle = await dial(t, host);
  idle.socket.write('a');
  await once(idle.socket, 'data');
  const next = await dial(t, host);
  next.socket.end('b');
  await timerOf(clock, 10_000);
  await passTime(clock, 100, () => idle.socket.closed);
  t.equal(await idle.ended, 'aidle');
  t.equal(await next.ended, 'b');
  t.ok(clock.now() >= 5000, 'not in its first seconds');
});

t.test('a session that waits for its turn and not for its peer is not closed for another', async (t) => {
  const clock = new ManualClock();
  const lastWords = { refused: bytes('busy'), evicted: bytes('idle') };
  let turn: () => void = () => undefined;
  const itsTurn = new Promise<void>((resolve) => {
    turn = resolve;
  });
  const handler = async (connection: HostConnection): Promise<void> => {
    await connection.write(bytes('hello '));
    await itsTurn;
    await echo(connection);
  };
  const host = await listen(t, handler, { maxConnections: 1, lastWords, clock });
  const first = await dial(t, host);
  await once(first.socket, 'data');
  const second = await dial(t, host);
  await timerOf(clock, 10_000);
  await passTime(clock, 100, () => second.socket.closed);
  t.equal(await second.ended, 'busy');
  turn();
  // Its first seconds begin when it may send a request.
  const third = await dial(t, host);
  await timerOf(clock, 10_000);
  clock.advance(4900);
  first.socket.end('a');
  t.equal(await first.ended, 'hello a');
  third.socket.end();
  t.equal(await third.ended, 'hello ');
});

t.test('a host that stops answers those that wait', async (t) => {
  const lastWords = { refused: bytes('busy'), evicted: bytes('idle') };
  const clock = new ManualClock();
  const host = await listen(t, echo, { maxConnections: 1, lastWords, clock });
  const first = await dial(t, host);
  const second = await dial(t, host);
  await timerOf(clock, 10_000);
  const closed = host.close({ graceMs: 1 });
  t.equal(await second.ended, 'busy');
  t.equal(await first.ended, '');
  await closed;
});

t.test('close ends waiting sessions immediately; others may finish until the deadline', async (t) => {
  let started: () => void = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const clock = new ManualClock();
  const handler = async (connection: HostConnection) => {
    for await (const chunk of connection.chunks()) {
      if (text(chunk) === 'stuck') {
        started();
        await new Promise((_, reject) => {
          connection.signal.addEventListener('abort', () => reject(connection.signal.reason));
        });
      }
    }
    await connection.write(bytes('bye'));
    await connection.end();
  };
  const host = await listen(t, handler, { clock });
  const idle = await dial(t, host);
  const stuck = await dial(t, host);
  stuck.socket.write('stuck');
  await running;
  const closed = host.close({ graceMs: 50 });
  t.equal(await idle.ended, 'bye');
  t.equal(host.connections, 1);
  clock.advance(50);
  t.equal(await stuck.ended, '');
  await closed;
  t.equal(host.connections, 0);
  await host[Symbol.asyncDispose]();
});

t.test('a handler that throws drops its connection and is logged; the host continues', async (t) => {
  const { lines, log } = memoryLog();
  const handler = async (connection: HostConnection) => {
    for await (const chunk of connection.chunks()) {
      if (text(chunk) === 'crash') throw new TypeError('a bug');
      await connection.write(chunk);
    }
  };
  const host = await listen(t, handler, { log });
  const first = await dial(t, host);
  first.socket.write('crash');
  t.equal(await first.ended, '');
  t.match(lines.join(''), /"level":"error".*a bug/);
  const second = await dial(t, host);
  second.socket.write('ok');
  await once(second.socket, 'data');
  second.socket.end();
  t.equal(await second.ended, 'ok');
});

t.test('a failed listen throws a ConnectionError; a signal stops the host', async (t) => {
  const host = await listen(t, echo);
  const { log } = memoryLog();
  const options = { host: '127.0.0.1', port: host.address.port, log, name: 'second' };
  await t.rejects(TcpHost.listen(options, echo), {
    code: 'ERR_CONNECTION',
    message: /second: cannot listen/,
  });
  const stop = new AbortController();
  const other = await listen(t, echo, { signal: stop.signal });
  const { ended } = await dial(t, other);
  stop.abort();
  t.equal(await ended, '');
});
