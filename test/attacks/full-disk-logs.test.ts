// Servers whose logs are on a full device, or whose standard error is not read, keep answering; SIGTERM ends
// them in time, also while a peer neither reads nor answers.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ANY_PORTS, PROGRAM } from '../helpers/cli.js';
import { freePort, listen } from '../helpers/daemon.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { gatherDocuments } from './disk-scene.js';

const FULL = '/dev/full';
const NEEDS_FULL = { skip: !existsSync(FULL) && 'there is no /dev/full' };
const STOP = ['--stop-limit', '60'];

const root = await temporaryDirectory(t);
const { data } = await gatherDocuments(t, 60);
const gatherer = join(data, 'gatherer');

interface Server {
  readonly name: string;
  readonly args: (port: number) => readonly string[];
  /** A request whose answer begins with `answer`, both as text. */
  readonly request: string;
  readonly answer: RegExp;
}

const conf = join(root, 'broker', 'admin', 'broker.conf');
await mkdir(join(root, 'broker', 'admin'), { recursive: true });
await writeFile(join(root, 'broker', 'admin', 'Collection.conf'), '');

const SERVERS: readonly Server[] = [
  {
    name: 'gatherd',
    args: (port) => ['gatherd', '-d', gatherer, '--log', FULL, ...STOP, String(port)],
    request: 'HELLO example.com\nINFO\nQUIT\n',
    answer: /^000 - HELLO[\s\S]*499|^000 - HELLO/,
  },
  {
    name: 'broker',
    args: () => ['broker', conf, '--nocol', '--log', FULL, ...STOP],
    request: '#USER #END document\n',
    answer: /^\d{3} - /m,
  },
  {
    name: 'refererd',
    args: (port) => ['refererd', '--data', gatherer, '--port', String(port), '--debuglevel', '80', ...STOP],
    request: 'GET / HTTP/1.0\r\n\r\n',
    answer: /^HTTP\/1\.1 200/,
  },
];

/**
 * Starts a program whose standard error is a pipe that nothing reads, and waits until it is ready, unless it is
 * not to serve.
 */
async function launch(t: Test, args: readonly string[], serves = true): Promise<ReturnType<typeof spawn>> {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.pause();
  t.teardown(() => child.kill('SIGKILL'));
  if (!serves) child.stdout.resume();
  else for await (const text of child.stdout) if (String(text).includes('ready')) break;
  return child;
}

/** Starts a server on a port. */
async function start(t: Test, server: Server) {
  const port = await freePort();
  if (server.name === 'broker')
    await writeFile(conf, `Broker-Name full\nBroker-Port ${port}\nLog-File ${FULL}\nLog-Types All\n`);
  return { child: await launch(t, server.args(port)), port };
}

/** A server that neither reads nor answers. */
async function silentServer(t: Test) {
  const server = createServer((socket) => socket.on('error', () => undefined).pause());
  t.teardown(() => server.close());
  return { port: await listen(server), connected: once(server, 'connection') };
}

async function ask(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(request);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

/** Ends a program by SIGTERM. After its own limit it would kill itself. */
async function stop(t: Test, child: ReturnType<typeof spawn>): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  t.not(child.signalCode, 'SIGKILL', 'its event loop was not blocked');
}

t.test('each server answers although its log is full', NEEDS_FULL, async (t) => {
  t.jobs = SERVERS.length;
  for (const server of SERVERS) {
    t.test(server.name, { buffered: true }, async (t) => {
      const { child, port } = await start(t, server);
      // Each request adds lines to the log: together more than the log holds.
      for (let i = 0; i < 100; i++) {
        const answer = await ask(port, server.request);
        if (!server.answer.test(answer)) t.match(answer, server.answer, `request ${i}`);
      }
      t.equal(child.exitCode, null, 'it runs');
      await stop(t, child);
      t.equal(child.exitCode, 0);
    });
  }
});

t.test('SIGTERM ends each server while peers neither read nor send', async (t) => {
  t.jobs = SERVERS.length;
  for (const server of SERVERS) {
    t.test(server.name, { buffered: true }, async (t) => {
      const { child, port } = await start(t, server);
      const sockets: Socket[] = [];
      const connected: Promise<unknown>[] = [];
      t.teardown(() => {
        for (const socket of sockets) socket.destroy();
      });
      for (let i = 0; i < 20; i++) {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        sockets.push(socket);
        connected.push(once(socket, 'connect'));
        socket.pause();
        if (i % 2 === 0) socket.write(server.request.replace('QUIT\n', 'SEND-UPDATE 0\n'.repeat(50)));
      }
      await Promise.all(connected);
      await stop(t, child);
    });
  }
});

t.test('SIGTERM ends a broker while its Gatherer neither reads nor answers', async (t) => {
  const { port, connected } = await silentServer(t);
  await writeFile(join(root, 'broker', 'admin', 'Collection.conf'), `127.0.0.1 ${port} 3 --\n`);
  await writeFile(conf, 'Broker-Name silent\nBroker-Port 0\n');
  const child = await launch(t, ['broker', conf, ...STOP]);
  await connected;
  await stop(t, child);
  t.equal(child.exitCode, 0);
});

t.test('SIGTERM ends gathering from a site that neither reads nor answers', async (t) => {
  const { port, connected } = await silentServer(t);
  const args = [
    'run',
    '--once',
    ...STOP,
    '--data',
    join(root, 'silent'),
    ...ANY_PORTS,
    `http://127.0.0.1:${port}/`,
  ];
  const child = await launch(t, args, false);
  await connected;
  await stop(t, child);
  t.equal(child.exitCode, 130);
});
