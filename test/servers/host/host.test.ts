import { lookupService } from 'node:dns/promises';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ConnectionError } from '../../../protocols/errors.js';
import {
  createLogger,
  createLoggerOn,
  createPeer,
  formatHarvestLine,
  type HostConnection,
  type HostOptions,
  harvestLines,
  plainAddress,
  systemLookup,
  TcpHost,
} from '../../../servers/host/index.js';

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const bytes = (string: string) => Buffer.from(string, 'latin1');

function memoryLog(level = 'debug') {
  const lines: string[] = [];
  const log = createLoggerOn({ write: (line) => void lines.push(line) }, { program: 'test', level });
  return { lines, log };
}

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
  const heard: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => heard.push(chunk));
  socket.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(heard).toString('latin1')));
  });
  await once(socket, 'connect');
  return { socket, ended };
}

async function echo(connection: HostConnection): Promise<void> {
  for await (const chunk of connection.chunks()) await connection.write(chunk);
  await connection.end();
}

t.test('a peer that has finished sending is still answered', async (t) => {
  const host = await listen(t, echo);
  const { socket, ended } = await dial(t, host);
  socket.end('hello');
  t.equal(await ended, 'hello');
});

t.test('the last bytes arrive although the peer sends input that is not read', async (t) => {
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
  let sent: () => void = () => {};
  const written = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const received = { bytes: 0 };
  const host = await listen(t, async (connection) => {
    await written;
    for await (const chunk of connection.chunks()) received.bytes += chunk.length;
    await connection.end();
  });
  const { socket, ended } = await dial(t, host);
  const size = 16 << 20;
  t.equal(socket.write(Buffer.alloc(size)), false, 'the system does not swallow it all');
  socket.end();
  const [connections] = [host.connections];
  t.equal(connections, 1);
  sent();
  await ended;
  t.equal(received.bytes, size, 'nothing is lost');
});

t.test('GATHERD-12.3 a peer that does not read is dropped, and costs one buffer', async (t) => {
  let outcome: (value: { error: unknown; written: number; aborted: boolean }) => void = () => {};
  const finished = new Promise<{ error: unknown; written: number; aborted: boolean }>((resolve) => {
    outcome = resolve;
  });
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
        outcome({ error, written, aborted: connection.signal.aborted });
      }
    },
    { drainTimeoutMs: 150 },
  );
  const socket = connect(host.address.port, host.address.host);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  const { error, written, aborted } = await finished;
  t.ok(error instanceof ConnectionError);
  t.match(String(error), /accepted no data for 150 ms/);
  t.ok(aborted);
  t.ok(written < 64 << 20, `${written} bytes went into the system's buffers`);
});

t.test('a silent peer: the read throws, and the handler can still send a last line', async (t) => {
  const host = await listen(
    t,
    async (connection) => {
      try {
        for await (const _ of connection.chunks()) await connection.write(bytes('heard\n'));
      } catch (error) {
        t.ok(error instanceof ConnectionError);
        await connection.write(bytes('too slow\n'));
        await connection.end();
      }
    },
    { idleTimeoutMs: 100, lingerMs: 100 },
  );
  const { ended } = await dial(t, host);
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

t.test('connections beyond the limit are closed unanswered and logged', async (t) => {
  const { lines, log } = memoryLog();
  const host = await listen(t, echo, { maxConnections: 1, log });
  const first = await dial(t, host);
  first.socket.write('a');
  await once(first.socket, 'data');
  const second = await dial(t, host);
  t.equal(await second.ended, '');
  t.match(lines.join(''), /too many connections/);
  first.socket.end();
  t.equal(await first.ended, 'a');
});

t.test('close: waiting sessions end immediately, others may finish until the deadline', async (t) => {
  let started: () => void = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const host = await listen(t, async (connection) => {
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
  });
  const idle = await dial(t, host);
  const stuck = await dial(t, host);
  stuck.socket.write('stuck');
  await running;
  const closed = host.close({ graceMs: 50 });
  t.equal(await idle.ended, 'bye');
  t.equal(await stuck.ended, '');
  await closed;
  t.equal(host.connections, 0);
  await host[Symbol.asyncDispose]();
});

t.test('a handler that fails drops its connection and is logged; the host continues', async (t) => {
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

t.test('a failed listen is a ConnectionError; a signal stops the host', async (t) => {
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

t.test('GATHERD-9.5 a host name is valid only if it resolves back to the address', async (t) => {
  const asked: string[] = [];
  const lookup = {
    async reverse(address: string) {
      asked.push(address);
      if (address === '192.0.2.9') throw new Error('ENOTFOUND');
      return ['forged.example', 'Real.Example.ORG.'];
    },
    async forward(name: string) {
      if (name === 'forged.example') throw new Error('ENOTFOUND');
      return ['192.0.2.1', '::ffff:192.0.2.2'];
    },
  };
  const peer = createPeer('::ffff:192.0.2.1', 5, lookup);
  t.equal(peer.address, '192.0.2.1');
  t.equal(await peer.name(), 'real.example.org');
  t.equal(await peer.name(), 'real.example.org');
  t.same(asked, ['192.0.2.1'], 'looked up once');
  t.equal(await createPeer('192.0.2.2', 5, lookup).name(), 'real.example.org');
  t.equal(await createPeer('192.0.2.3', 5, lookup).name(), undefined, 'forged reverse entry');
  t.equal(await createPeer('192.0.2.9', 5, lookup).name(), undefined, 'no reverse entry');
  t.equal(plainAddress('fe80::1%eth0'), 'fe80::1');
});

t.test(
  'GATHERD-9.5 the system looks loopback up in the hosts file, whose first name counts too',
  async (t) => {
    const { hostname } = await lookupService('127.0.0.1', 0);
    const [first] = await systemLookup().reverse('127.0.0.1');
    t.equal(first, hostname);
  },
);

t.test('GATHERD-12.1 line format', async (t) => {
  const time = new Date(2003, 1, 5, 7, 8, 9).getTime();
  const base = { time, pid: 1, name: 'gatherd' };
  const line = (record: Record<string, unknown>) => formatHarvestLine({ ...base, ...record });
  t.equal(line({ level: 'info', msg: 'ready' }), 'gatherd: 030205 07:08:09: ready\n');
  t.equal(line({ level: 'error', msg: 'no' }), 'gatherd: 030205 07:08:09: ERROR: no\n');
  t.equal(line({ level: 'fatal', msg: 'no' }), 'gatherd: 030205 07:08:09: FATAL: no\n');
  t.equal(line({ name: 'abc', level: 'warn', msg: 'x' }), '    abc: 030205 07:08:09: x\n');
  t.equal(line({ msg: 'x', n: 5, who: 'me' }), 'gatherd: 030205 07:08:09: x n=5 who=me\n');
  t.equal(line({ msg: 'a\nb\x1b[31m' }), 'gatherd: 030205 07:08:09: a\\x0ab\\x1b[31m\n', 'no forged lines');
});

t.test('logger: file, JSON lines, levels, secrets', async (t) => {
  const directory = t.testdir();
  const file = join(directory, 'log', 'gatherd.log');
  const log = createLogger({ program: 'gatherd', file });
  log.info('one');
  log.debug('two');
  log.error({ err: new Error('broken disk') }, 'three');
  const lines = (await readFile(file, 'utf8')).split('\n');
  t.equal(lines.length, 3);
  t.match(lines[0], /^gatherd: \d{6} \d\d:\d\d:\d\d: one$/);
  t.match(lines[1], /^gatherd: \d{6} \d\d:\d\d:\d\d: ERROR: three \(broken disk\)$/);

  const jsonFile = join(directory, 'json.log');
  const json = createLogger({ program: 'broker', file: jsonFile, json: true, level: 'debug' });
  json.debug({ adminPassword: 'hush', config: { password: 'hush' } }, 'loaded');
  const record: unknown = JSON.parse(await readFile(jsonFile, 'utf8'));
  t.match(record, { level: 'debug', name: 'broker', msg: 'loaded', adminPassword: '[redacted]' });
  t.notMatch(JSON.stringify(record), /hush/);

  const written: string[] = [];
  const target = harvestLines({ write: (line) => void written.push(line) });
  createLoggerOn(target, { program: 'b' }).info({ password: 'hush' }, 'x');
  t.match(written.join(''), /: x password=\[redacted\]\n$/);
});
