import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import t from 'tap';
import { ReferencesClient } from '../../clients/references/index.js';
import { PROGRAM } from '../helpers/cli.js';
import { PLAIN_NODE } from '../helpers/plain-node.js';
import { temporary } from '../servers/refererd/scene.js';
import { publishFixture } from '../storage/references/fixture.js';

// Each test starts processes, which takes long on a busy machine.
t.setTimeout(600_000);

/** the default of `maxclients`. */
const CLIENTS = 8192;
/** Connections that send requests; the others are idle. */
const WORKING = 4;
/** Descriptors of each of the two processes for other purposes than clients. */
const OTHER_DESCRIPTORS = 128;
/** Connections that are opened at a time: fewer than the server's backlog. */
const AT_ONCE = 256;
const ROUNDS = 200;
/** Maximum resident memory of the server per idle client, bytes. */
const IDLE_BYTES = 24 * 1024;

/** The system's limit of open files for this process and its children. */
function descriptors(): number {
  const limit = /^Max open files\s+\d+\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
  return limit?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit?.[1] ?? 1024);
}

function resident(pid: number | undefined): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024;
}

async function idle(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // A refused client receives an answer.
  socket.once('data', (octets) => socket.destroy(new Error(octets.toString('latin1'))));
  return socket;
}

const most = Math.min(CLIENTS, descriptors() - OTHER_DESCRIPTORS);

t.test(
  'R-64, S-45: 8192 clients held, nearly all of them idle, and the others served',
  {
    skip: process.platform !== 'linux' ? 'memory is read from /proc' : false,
    timeout: 120_000,
  },
  async (t) => {
    if (most < CLIENTS) t.comment(`only ${most} clients: the limit of descriptors is ${descriptors()}`);
    const data = await temporary(t);
    await publishFixture(data);
    const words = ['env', ...PLAIN_NODE, PROGRAM, 'refererd', '--data', data, '--port', '0'];
    // The usual soft limit of open files is raised, as an administrator would do.
    const script = 'ulimit -n "$(ulimit -Hn)" && exec "$@"';
    const server = spawn('bash', ['-c', script, 'bash', ...words, '--max-clients', String(most)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => server.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const port = Number(/^ready refererd=127\.0\.0\.1:(\d+)$/.exec(line)?.[1]);

    const working = await Promise.all(
      Array.from({ length: WORKING }, () => ReferencesClient.connect({ host: '127.0.0.1', port })),
    );
    const ask = async (): Promise<void> => {
      const replies = await Promise.all(
        Array.from({ length: ROUNDS }, (_, i) => working[i % WORKING]!.referers({ id: 10 })),
      );
      for (const { ids } of replies)
        if (Array.from(ids).join() !== '11,20,12') throw new Error('another answer');
    };
    await ask();
    const before = resident(server.pid);
    const sockets: Socket[] = [];
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
    });
    let lost = 0;
    while (sockets.length < most - WORKING) {
      const wanted = Math.min(AT_ONCE, most - WORKING - sockets.length);
      const opened = await Promise.all(Array.from({ length: wanted }, () => idle(port)));
      for (const socket of opened) {
        socket.on('close', () => lost++);
        socket.on('error', (error) => t.comment(error.message));
      }
      sockets.push(...opened);
      // Working clients are served meanwhile.
      await ask();
    }
    const after = resident(server.pid);
    const each = (after - before) / sockets.length;
    t.comment(
      `refererd holds ${sockets.length} idle clients: ${(before / 1e6).toFixed(1)} MB resident before, ` +
        `${(after / 1e6).toFixed(1)} MB with them, ${(each / 1024).toFixed(1)} KiB each`,
    );
    await ask();
    t.pass(`${sockets.length} idle clients, and ${WORKING} beside them get their answers`);
    t.equal(lost, 0, 'no connection was dropped');
    t.ok(each < IDLE_BYTES, `an idle client costs ${Math.round(each)} bytes`);

    const refused = connect(port, '127.0.0.1');
    let told = '';
    refused.setEncoding('latin1').on('data', (text: string) => {
      told += text;
    });
    await once(refused, 'close');
    t.equal(told, 'SSTP/1.0 503 SERVICE UNAVAILABLE\r\n\r\n', 'R-64: one more is refused');
    // The last idle client sends a request.
    const last = sockets.at(-1)!;
    last.removeAllListeners('data').write('SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n');
    const [answer] = (await once(last, 'data')) as [Buffer];
    t.match(answer.toString('latin1'), /\r\nHEADER_NUMFOUND: 1\r\n/, 'an idle client that asks is answered');

    for (const client of working) await client.close();
    for (const socket of sockets) socket.removeAllListeners('close').destroy();
    server.kill('SIGTERM');
    await once(server, 'exit');
  },
);
