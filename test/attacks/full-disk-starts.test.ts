// A Broker that is started on a full disk serves what is stored, again and again; when there is space it goes on.
import { appendFile, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { CliProcess, cli } from '../helpers/cli.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 150;
const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];

const root = await temporaryDirectory(t);
const data = join(root, 'data');
const documents = await writeDocuments(join(root, 'documents'), DOCUMENTS);
const gathered = await cli('run', '--once', '--data', data, ...PORTS, documents);
if (gathered.code !== 0) throw new Error(gathered.stderr);

async function start(t: Test, file: string) {
  const program = new CliProcess(['broker', file, '-nocol', '--web-port', '0']);
  t.teardown(() => program.kill('SIGKILL'));
  const [, address = ''] = await program.output(/ready broker=(\S+)/);
  return { program, address };
}

async function stop(program: CliProcess, signal: NodeJS.Signals): Promise<void> {
  const begin = performance.now();
  program.kill(signal);
  await program.finished;
  if (performance.now() - begin > 10_000) throw new Error(`${signal} took too long`);
}

t.test('a Broker that is started on a full disk serves what is stored', async (t) => {
  const disk = await smallDisk(t, 64);
  if (disk === undefined) return;
  const directory = join(disk.directory, 'broker');
  await cp(join(data, 'broker'), directory, { recursive: true });
  const file = join(directory, 'admin', 'broker.conf');
  await appendFile(file, 'Broker-Port 0\n');
  const first = await start(t, file);
  await disk.fill();
  await stop(first.program, 'SIGKILL');
  const logs: string[] = [];
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { program, address } = await start(t, file);
    // Others take what is left of the space.
    await disk.fill();
    const answer = await cli('query', '--json', address, 'document');
    t.equal(answer.code, 0, answer.stderr);
    t.ok(answer.stdout.split('\n').length > 50);
    const dump = await cli('bulk', address);
    t.equal(dump.code, 0, dump.stderr);
    t.equal(dump.stdout.match(/^@FILE /gm)?.length, DOCUMENTS, 'all objects');
    await stop(program, signal);
    if (signal === 'SIGTERM') t.equal(program.child.exitCode, 0, program.stderr);
    logs.push(program.stderr);
    t.notMatch(program.stderr, /harvest store repair|internal error|\n {4}at /);
  }
  t.match(logs[0], /broker\.pid(?:\.lock)? cannot be written: ENOSPC; broker runs without it/);
  t.match(logs.join(''), /the disk of \S+ is full; the broker serves what is stored/);
  await disk.free();
  const { program, address } = await start(t, file);
  t.equal((await cli('query', address, 'document')).code, 0);
  await pause(100);
  await stop(program, 'SIGTERM');
  t.equal(program.child.exitCode, 0);
  t.notMatch(program.stderr, /full|ENOSPC/);
});
