// A Broker and a references server on a disk that is mounted read-only: a clear sentence, or they serve.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { publishFixture } from '../storage/references/fixture.js';
import { writeDocuments } from './documents.js';

const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];
const CRASH = /internal error|\n {4}at |store repair/;

function remount(directory: string, mode: 'ro' | 'rw'): void {
  execFileSync('mount', ['-o', `remount,${mode}`, directory], { stdio: 'ignore' });
}

t.test('a broker ends with a sentence, and starts when the disk can be written', async (t) => {
  const disk = await smallDisk(t, 128);
  if (disk === undefined) return;
  const data = join(await temporaryDirectory(t), 'data');
  const documents = await writeDocuments(join(data, '..', 'documents'), 20);
  const gathered = await cli('run', '--once', '--low-disk', '0', '--data', data, ...PORTS, documents);
  t.equal(gathered.code, 0, gathered.stderr);
  await cp(join(data, 'broker'), join(disk.directory, 'broker'), { recursive: true });
  const file = join(disk.directory, 'broker', 'admin', 'broker.conf');
  // Its logs may lie elsewhere.
  for (const more of ['', `Log-File ${join(data, 'LOG')}\n`]) {
    await writeFile(file, `Broker-Name small\nBroker-Port 0\n${more}`);
    remount(disk.directory, 'ro');
    const { code, stderr } = await cli('broker', file, '-nocol', '--web-port', '0');
    t.equal(code, 1, stderr);
    t.match(stderr, /^harvest: .*([Rr]ead-only file system|EROFS)/m);
    t.notMatch(stderr, CRASH);
    remount(disk.directory, 'rw');
  }
  const program = new CliProcess(['broker', file, '-nocol', '--web-port', '0']);
  t.teardown(() => program.kill('SIGKILL'));
  const [, address = ''] = await program.output(/ready broker=(\S+)/);
  t.equal((await cli('query', address, 'document')).code, 0);
  program.kill('SIGTERM');
  t.equal((await program.finished).code, 0);
});

t.test('a references server serves data that it cannot write', async (t) => {
  const disk = await smallDisk(t, 8);
  if (disk === undefined) return;
  const home = await temporaryDirectory(t);
  await publishFixture(join(disk.directory, 'base'));
  remount(disk.directory, 'ro');
  for (const name of ['logs', 'conf']) await mkdir(join(home, name));
  await writeFile(join(home, 'conf', 'hosts.allow'), '127.0.0.*\n');
  const port = await freePort();
  const file = join(home, 'referer.cf');
  const configure = (logs: string) =>
    writeFile(
      file,
      `rootdir = ${home}
referername = 127.0.0.1
refererport = ${port}
logfile = ${logs}/refererd.log
pidfile = ${logs}/refererd.pid
refdb = ${disk.directory}/base/refs.db
urldb = ${disk.directory}/base/url.db
${process.getuid?.() === 0 ? 'user = root\ngroup = root\n' : ''}`,
    );
  await configure('logs');
  const program = new CliProcess(['refererd', '-c', file, '--foreground']);
  t.teardown(() => program.kill('SIGKILL'));
  await program.output(/^ready refererd=/m);
  const answer = await cli('references', `127.0.0.1:${port}`, '10');
  t.equal(answer.code, 0, answer.stderr);
  program.kill('SIGTERM');
  const { stderr } = await program.finished;
  t.notMatch(stderr, CRASH);

  await configure(disk.directory);
  const refused = await cli('refererd', '-c', file, '--foreground');
  t.equal(refused.code, 1, refused.stderr);
  t.match(refused.stderr, /cannot start: the log .* cannot be opened: EROFS/);
  t.notMatch(refused.stderr, CRASH);
});
