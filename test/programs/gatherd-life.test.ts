// The life of gatherd as a process: a second daemon, kill -9, stopping with transfers, a directory that is
// deleted.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { exchange } from '../servers/gatherd/helpers.js';
import { BIG, createDataDirectory, type Daemon, SESSION, startGatherd } from './gatherd-support.js';

t.test('a second daemon on a directory names the first; after kill -9 the next one starts', async (t) => {
  const path = await createDataDirectory(t);
  const first = await startGatherd(t, '-d', path, '0');
  const pid = first.process.child.pid;
  const second = await cli('gatherd', '-d', path, String(first.port));
  const sentence = `gatherd is already running here (process ${pid}, at 127.0.0.1:${first.port})`;
  t.equal(second.code, 1);
  t.match(second.stderr, `harvest: ${sentence}\n`);
  const detached = await cli('gatherd', '--detach', '-d', path, String(first.port));
  t.same([detached.code, detached.stderr], [1, `harvest: gatherd did not start: ${sentence}\n`]);
  const elsewhere = await cli('gatherd', '-d', await createDataDirectory(t), String(first.port));
  t.equal(elsewhere.code, 1);
  t.match(
    elsewhere.stderr,
    `: the port is in use by process ${pid} (harvest gatherd); another port can be given\n`,
  );
  const separate = await startGatherd(t, '--pid-file', 'separate.pid', '-d', path, '0');
  t.match(await exchange(t, separate.port, SESSION), '499 - Sent 2 objects', 'with a separate pid file');

  first.process.kill('SIGKILL');
  await first.process.finished;
  t.ok(existsSync(join(path, 'gatherd.pid')));
  const third = await startGatherd(t, '-d', path, '0');
  t.match(await exchange(t, third.port, SESSION), '499 - Sent 2 objects');
});

t.test('SIGTERM: a transfer may finish, new connections are refused', async (t) => {
  const path = await createDataDirectory(t, BIG);
  const { process: child, port } = await startGatherd(t, '-d', path, '--grace', '60', '0');
  const socket = connect(port, '127.0.0.1');
  let [bytes, last] = [0, ''];
  const started = once(socket, 'data');
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    last = (last + chunk.toString('latin1')).slice(-100);
  });
  socket.write('SEND-UPDATE 0\nQUIT\n');
  await started;
  socket.pause();
  child.kill('SIGTERM');
  let stderr = '';
  while (!stderr.includes('stopping, 1 sessions')) {
    await delay(20);
    stderr = child.stderr;
  }
  const refused = connect(port, '127.0.0.1');
  const [error] = await once(refused, 'error').catch((cause: Error) => [cause]);
  t.match(error, { code: 'ECONNREFUSED' });
  t.equal(child.child.exitCode, null, 'the daemon waits for the transfer');
  const closed = once(socket, 'close');
  socket.resume();
  await closed;
  t.match(last, /\n499 - Sent 400 objects\n/);
  t.ok(bytes > 400 * 65_536);
  t.equal((await child.finished).code, 0);
});

t.test('SIGTERM: a stalled transfer is cut after the grace time, by a second signal at once', async (t) => {
  const path = await createDataDirectory(t, BIG);
  const open = async (grace: string): Promise<Daemon & { readonly closed: Promise<unknown> }> => {
    const daemon = await startGatherd(t, '-d', path, '--grace', grace, '0');
    const socket = connect(daemon.port, '127.0.0.1');
    t.teardown(() => void socket.destroy());
    socket.write('SEND-UPDATE 0\n');
    await once(socket, 'data');
    socket.pause();
    return {
      ...daemon,
      closed: new Promise((resolve) => socket.on('error', resolve).on('close', resolve)),
    };
  };
  const cut = await open('0.2');
  cut.process.kill('SIGTERM');
  const { code, stderr } = await cut.process.finished;
  t.equal(code, 0);
  t.match(stderr, /end of session: the server is stopping/);
  t.notOk(existsSync(join(path, 'gatherd.pid')));

  for (const second of ['SIGTERM', 'SIGINT'] as const) {
    const stuck = await open('600');
    stuck.process.kill('SIGTERM');
    await stuck.process.output(/stopping, 1 sessions/, 'stderr');
    stuck.process.kill(second);
    t.equal((await stuck.process.finished).signal, second);
  }
});

t.test("the manual's `rm -rf data tmp log.*` while gatherd runs: only the next run is served", async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  const port = await freePort();
  const file = join(directory, 'gatherer.cf');
  await writeFile(join(directory, 'a.txt'), 'wheat\n');
  await writeFile(
    file,
    `Gatherer-Name: Test\nGatherer-Port: ${port}\n<LeafNodes>\nfile://localhost${encodeURI(directory)}/a.txt\n</LeafNodes>\n`,
  );
  t.teardown(() => cli('kill-gatherd', '-d', data));
  const first = JSON.parse((await cli('gatherer', '--json', file)).stdout);
  t.equal(first.gatherd?.started, true);
  t.match(await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'), /Partial-Text\{\d+\}:\twheat\n/);

  await rm(data, { recursive: true });
  let served = 'wheat';
  while (served.includes('wheat')) served = await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n');
  t.match(served, '499 - Sent 0 objects', 'the deleted objects are served no more');

  await writeFile(join(directory, 'a.txt'), 'barley\n');
  const run = await cli('gatherer', '--json', file);
  t.equal(run.code, 0, run.stderr);
  const second = JSON.parse(run.stdout);
  t.equal(second.generation, first.generation, 'the numbers begin again');
  t.match(second.gatherd, { pid: first.gatherd.pid, started: false }, 'the run finds its daemon');
  t.match(await exchange(t, port, 'SEND-UPDATE 0\nQUIT\n'), /Partial-Text\{\d+\}:\tbarley\n/);
  const stopped = await cli('kill-gatherd', '-d', data);
  t.equal(stopped.code, 0, stopped.stderr);
});
