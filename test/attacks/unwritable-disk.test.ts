// gatherd on a disk that is full or read-only: it only reads, so it serves everything, and says what it cannot write.
import { execFileSync } from 'node:child_process';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { writeDocuments } from './documents.js';

const DOCUMENTS = 60;
const PORTS = ['--gatherd-port', '0', '--broker-port', '0', '--web-port', '0', '--references-port', '0'];

const root = await temporaryDirectory(t);
const data = join(root, 'data');
const documents = await writeDocuments(join(root, 'documents'), DOCUMENTS);
const gathered = await cli('run', '--once', '--data', data, ...PORTS, documents);
if (gathered.code !== 0) throw new Error(gathered.stderr);

for (const state of ['full', 'read-only'] as const) {
  t.test(`gatherd serves a ${state} disk`, async (t) => {
    const disk = await smallDisk(t, 16);
    if (disk === undefined) return;
    const directory = join(disk.directory, 'gatherer');
    await cp(join(data, 'gatherer'), directory, { recursive: true });
    if (state === 'full') await disk.fill();
    else execFileSync('mount', ['-o', 'remount,ro', disk.directory]);
    const port = await freePort();
    const files = await readdir(directory);
    const program = new CliProcess(['gatherd', '-d', directory, String(port)]);
    t.teardown(() => program.kill('SIGKILL'));
    await program.output(/ready/);
    const { code, stdout, stderr } = await cli('gather', '127.0.0.1', String(port));
    t.equal(code, 0, stderr);
    t.equal(stdout.match(/^@FILE /gm)?.length, DOCUMENTS, 'all objects');
    program.kill('SIGTERM');
    t.equal((await program.finished).code, 0);
    t.match(
      program.stderr,
      /gatherd\.pid(\.lock)? cannot be written: (ENOSPC|EROFS); gatherd runs without it/,
    );
    t.notMatch(program.stderr, /harvest store repair/, 'a full disk is not damage');
    t.same(await readdir(directory), files, 'it leaves no file');
  });
}
