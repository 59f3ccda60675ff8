// Programs with the limits of a shell or of a service manager: few open files, small files. They say so, and
// the next start goes on.
import { mkdir, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { GatherdServer } from '../../servers/gatherd/index.js';
import { createLogger } from '../../servers/host/index.js';
import { ANY_PORTS, CliProcess, cli, type Finished } from '../helpers/cli.js';
import { CRASH, withoutPrlimit } from '../helpers/prlimit.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { createDataDirectory } from '../programs/gatherd-support.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 40;

const skip = withoutPrlimit;
const root = await temporaryDirectory(t);
const documents = await writeDocuments(join(root, 'documents'), DOCUMENTS);

function start(t: Test, limit: string, args: readonly string[]): CliProcess {
  const program = new CliProcess(args, {}, ['prlimit', limit]);
  t.teardown(() => program.kill('SIGKILL'));
  return program;
}

function run(t: Test, limit: string, data: string): Promise<Finished> {
  return start(t, limit, ['run', '--once', '--low-disk', '0', '--data', data, ...ANY_PORTS, documents])
    .finished;
}

async function completes(t: Test, data: string, name: string): Promise<void> {
  const again = await cli('run', '--once', '--low-disk', '0', '--data', data, ...ANY_PORTS, documents);
  t.equal(again.code, 0, `${name}: ${again.stderr}`);
  t.match(again.stdout, new RegExp(`"objects":${DOCUMENTS}\\b`), `${name}: the next run completes the work`);
}

t.test('files may have a small size only', { skip }, async (t) => {
  for (const bytes of [30_000]) {
    const data = join(root, `size${bytes}`);
    const { code, stderr } = await run(t, `--fsize=${bytes}`, data);
    t.equal(code, 1, stderr);
    t.match(stderr, /no space left|limit of its size|[Ff]ile too large/);
    t.match(stderr, data, 'the sentence names a file');
    t.notMatch(stderr, CRASH);
    await completes(t, data, `${bytes} bytes`);
  }
});

t.test('few files may be open at a time', { skip }, async (t) => {
  for (const files of [60, 160]) {
    const data = join(root, `files${files}`);
    const { code, stderr } = await run(t, `--nofile=${files}`, data);
    // Few modules may be enough where files are read fast.
    if (code === 0) continue;
    t.equal(code, 1, stderr);
    t.match(stderr, /only \d+ files may be open at a time|EMFILE|[Tt]oo many open files/);
    t.notMatch(stderr, CRASH);
  }
  await completes(t, join(root, 'files160'), 'without the limit');
});

t.test(
  'clients beyond the descriptors get an answer, and the log says what to raise',
  { skip },
  async (t) => {
    const data = await createDataDirectory(t);
    const program = start(t, '--nofile=100', ['gatherd', '-d', data, '0']);
    const [, port = ''] = await program.output(/^ready gatherd=127\.0\.0\.1:(\d+)\n/);
    const errors: string[] = [];
    const texts = Array.from({ length: 300 }, () => '');
    const clients = texts.map((_, i) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', (error) => errors.push(error.message));
      socket.on('data', (chunk: Buffer) => {
        texts[i] += chunk.toString('latin1');
      });
      t.teardown(() => void socket.destroy());
      return socket;
    });
    const answered = (): number => texts.filter((text) => /^(?:000|098) - .+\n/.test(text)).length;
    await waitUntil(() => /ulimit -n/.test(program.stderr) && answered() > 200);
    t.match(program.stderr, /too many open files: this process may have 100 \(ulimit -n\).*Raise the limit/);
    for (const socket of clients) if (socket.bytesRead > 0) socket.end('QUIT\n');
    await waitUntil(() => {
      for (const socket of clients) if (socket.bytesRead > 0 && !socket.writableEnded) socket.end('QUIT\n');
      return clients.every((socket) => socket.closed);
    });
    t.equal(answered(), clients.length, 'each has an answer');
    // One that is closed at once, for lack of descriptors, may reset a client whose request is on the way.
    t.ok(errors.length <= clients.length / 50, `${errors.length} of ${clients.length} were reset`);
    t.equal(program.stderr.split('ulimit -n').length - 1, 2, 'it is said once: the words occur twice in it');
    const { code, stderr } = await cli('gather', '-info', `127.0.0.1:${port}`);
    t.equal(code, 0, stderr);
    program.kill('SIGTERM');
    t.equal((await program.finished).code, 0, program.stderr);
  },
);

t.test('a broker with few open files collects and answers beside many connections', { skip }, async (t) => {
  await completes(t, join(root, 'data'), 'gathering');
  await using gatherd = await GatherdServer.listen({
    generationsDirectory: join(root, 'data', 'gatherer', 'generations'),
    host: '127.0.0.1',
    port: 0,
    log: createLogger({ program: 'gatherd', level: 'silent' }),
  });
  const admin = join(root, 'broker', 'admin');
  await mkdir(admin, { recursive: true });
  await writeFile(join(admin, 'broker.conf'), 'Broker-Name small\nBroker-Port 0\n');
  await writeFile(join(admin, 'Collection.conf'), `127.0.0.1 ${gatherd.address.port} 3 --\n`);
  const program = start(t, '--nofile=400', ['broker', join(admin, 'broker.conf'), '--web-port', '0']);
  const [, address = '', port = ''] = await program.output(/ready broker=(\S+?:(\d+))/);
  while (!program.stderr.includes(`${DOCUMENTS} in all`) && program.child.exitCode === null) await pause(50);
  t.match(program.stderr, `${DOCUMENTS} in all`);
  const flood: Socket[] = [];
  for (let i = 0; i < 500; i++) flood.push(connect(Number(port), '127.0.0.1').on('error', () => undefined));
  await pause(500);
  let answer = await cli('query', address, 'document');
  // No place becomes free in the first seconds of the connections that have them.
  for (; answer.code !== 0 && /busy/.test(answer.stderr); answer = await cli('query', address, 'document'))
    await pause(250);
  t.equal(answer.code, 0, answer.stderr);
  for (const socket of flood) socket.destroy();
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0, program.stderr);
  t.notMatch(program.stderr, CRASH);
});

const KEPT = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

t.test('clients of each protocol beyond the descriptors get an answer', { skip }, async (t) => {
  const data = join(root, 'data', 'gatherer');
  const conf = join(root, 'broker', 'admin', 'broker.conf');
  const web = ['broker', conf, '--web-port', '0'];
  for (const [name, files, words, ready, request, answer] of [
    [
      'refererd',
      300,
      ['refererd', '--data', data, '--port', '0', '--foreground'],
      /^ready refererd=\S*?:(\d+)/,
      KEPT,
      /^HTTP\/1\.1 (?:200|503)/,
    ],
    ['broker', 300, web, /ready broker=\S+?:(\d+)/, '', /^200 - HARVEST/],
    ['pages', 300, web, /web=\S+?:(\d+)/, KEPT, /^HTTP\/1\.1 (?:200|503)/],
  ] as const) {
    const program = start(t, `--nofile=${files}`, words);
    const [, port = ''] = await program.output(ready);
    const errors: string[] = [];
    const texts = Array.from({ length: 2 * files }, () => '');
    // Each keeps its connection open, so that no place becomes free.
    const clients = texts.map((_, i) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(request));
      socket.on('error', (error) => errors.push(error.message));
      socket.on('data', (chunk: Buffer) => {
        texts[i] += chunk.toString('latin1');
      });
      return socket;
    });
    await waitUntil(() => texts.every((text) => answer.test(text)) || errors.length > 0);
    t.same(errors, [], `${name}: each has an answer, none is reset`);
    for (const socket of clients) socket.destroy();
    program.kill('SIGTERM');
    t.equal((await program.finished).code, 0, program.stderr);
    t.notMatch(program.stderr, CRASH);
  }
});
