// refererd with the default maximum number of clients, nearly all of them idle.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import t from 'tap';
import { ReferencesClient } from '../../clients/references/index.js';
import { PROGRAM } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { publishFixture } from '../storage/references/fixture.js';

// Each test starts processes, which takes long on a busy machine.
/** the default of `maxclients`. */
const CLIENTS = 8192;
/** Connections that send requests; the others are idle. */
const WORKING = 4;
/** Descriptors that each of the two processes needs for other purposes. */
const OTHER_DESCRIPTORS = 256;
/** Number of connections opened concurrently: fewer than the backlog of the server. */
const BATCH = 256;
const ROUNDS = 200;
/** Maximum resident memory of the server per idle client, bytes. */
const IDLE_BYTES = 24 * 1024;

/** Reads the limit of open files of this process and its children. */
function readDescriptorLimit(): number {
  const limit = /^Max open files\s+\d+\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
  return limit?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit?.[1] ?? 1024);
}

function readResidentBytes(pid: number | undefined): number {
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) * 1024;
}

async function openIdleClient(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // Only a refused client receives data.
  socket.once('data', (octets) => socket.destroy(new Error(octets.toString('latin1'))));
  return socket;
}

const clientCount = Math.min(CLIENTS, readDescriptorLimit() - OTHER_DESCRIPTORS);

/** Memory is read from /proc. */
const options = { skip: process.platform !== 'linux' };

t.test(
  'R-64, S-45: 8192 clients are connected, nearly all of them idle; the others get answers',
  options,
  async (t) => {
    if (clientCount < CLIENTS)
      t.comment(`only ${clientCount} clients: the limit of descriptors is ${readDescriptorLimit()}`);
    const data = await temporaryDirectory(t);
    await publishFixture(data);
    const words = [process.execPath, PROGRAM, 'refererd', '--data', data, '--port', '0'];
    // Raises the soft limit of open files, as an administrator would do.
    const script = 'ulimit -n "$(ulimit -Hn)" && exec "$@"';
    const server = spawn('bash', ['-c', script, 'bash', ...words, '--max-clients', String(clientCount)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => server.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const port = Number(/^ready refererd=127\.0\.0\.1:(\d+)$/.exec(line)?.[1]);

    const working = await Promise.all(
      Array.from({ length: WORKING }, () => new ReferencesClient({ host: '127.0.0.1', port }).connect()),
    );
    const sendRequests = async (): Promise<void> => {
      const replies = await Promise.all(
        Array.from({ length: ROUNDS }, (_, i) => working[i % WORKING]!.referers({ id: 10 })),
      );
      for (const { ids } of replies)
        if (Array.from(ids).join() !== '11,20,12') throw new Error('a wrong answer');
    };
    await sendRequests();
    const before = readResidentBytes(server.pid);
    const sockets: Socket[] = [];
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
    });
    let lost = 0;
    while (sockets.length < clientCount - WORKING) {
      const batch = Math.min(BATCH, clientCount - WORKING - sockets.length);
      const opened = await Promise.all(Array.from({ length: batch }, () => openIdleClient(port)));
      for (const socket of opened) {
        socket.on('close', () => lost++);
        socket.on('error', (error) => t.comment(error.message));
      }
      sockets.push(...opened);
      // Working clients are served meanwhile.
      await sendRequests();
    }
    const after = readResidentBytes(server.pid);
    const each = (after - before) / sockets.length;
    t.comment(
      `refererd holds ${sockets.length} idle clients: ${(before / 1e6).toFixed(1)} MB resident before, ` +
        `${(after / 1e6).toFixed(1)} MB with them, ${(each / 1024).toFixed(1)} KiB each`,
    );
    await sendRequests();
    t.equal(
      lost,
      0,
      `no connection was dropped: ${sockets.length} clients are idle, and ${WORKING} others get answers`,
    );
    t.ok(each < IDLE_BYTES, `an idle client costs ${Math.round(each)} bytes`);

    const newcomer = await new ReferencesClient({ host: '127.0.0.1', port }).connect();
    const { ids } = await newcomer.referers({ id: 10 });
    t.equal(Array.from(ids).join(), '11,20,12', 'R-64: a further client takes the place of an idle one');
    await newcomer.close();
    while (lost === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    t.equal(lost, 1, 'one idle client made room');
    t.ok(sockets[0]?.destroyed, 'it is the one that has waited longest');
    // The last idle client sends a request.
    const last = sockets.at(-1)!;
    last.removeAllListeners('data').write('SSTP/1.0 081 X\r\nHEADER_URI_ID: 20\r\n\r\n');
    const [answer] = (await once(last, 'data')) as [Buffer];
    t.match(answer.toString('latin1'), /\r\nHEADER_NUMFOUND: 1\r\n/, 'an idle client is answered');

    for (const client of working) await client.close();
    for (const socket of sockets) socket.removeAllListeners('close').destroy();
    server.kill('SIGTERM');
    await once(server, 'exit');
  },
);
