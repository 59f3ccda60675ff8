// gatherd and kill-gatherd as processes: options, pid file, signals.
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { cli } from '../helpers/cli.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';
import { Database, exchange } from '../servers/gatherd/helpers.js';
import { ANSWER, createDataDirectory, ONE, SESSION, startGatherd } from './gatherd-support.js';

/** Waits until a file matches; only the time limit of the test ends the wait. */
function waitForMatch(path: string, pattern: RegExp): Promise<void> {
  return waitUntil(async () => existsSync(path) && pattern.test(await readFile(path, 'utf8')));
}

t.test('GATHERD-11.1 -db, -log, -cf, -index and -zip, relative to the directory', async (t) => {
  const path = await createDataDirectory(t);
  await rename(join(path, 'generations'), join(path, 'db'));
  await writeFile(join(path, 'who.cf'), 'Deny 127.0.0.1\n');
  const options = words`--hostname g.example -db db -index INDEX.gdbm -log my.log -zip All.gz -cf who.cf`;
  const { port, process: child } = await startGatherd(t, ...options, '-dir', path, '0');
  t.equal(await exchange(t, port, ''), '999 - Access denied\n');
  await rm(join(path, 'who.cf'));
  t.equal(await exchange(t, port, SESSION), ANSWER);
  child.kill('SIGTERM');
  const { code, stderr, stdout } = await child.finished;
  t.same([code, stderr], [0, ''], 'messages go only to the log file');
  t.match(stdout, /^ready [^\n]*\n$/);
  const log = await readFile(join(path, 'my.log'), 'utf8');
  t.match(log, /^gatherd: \d{6} \d\d:\d\d:\d\d: \S/, 'GATHERD-12.1');
  t.match(log, 'ignored, because a generation contains it: INDEX.gdbm, All.gz');
  t.match(log, '127.0.0.1: connection: denied', 'GATHERD-12.2');
  t.match(log, '127.0.0.1: SEND-UPDATE 0', 'GATHERD-12.2');
  t.match(log, /SIGTERM: stopping, \d+ sessions\n[\s\S]*stopped\n$/);
});

t.test('GATHERD-11.1 directories that are missing, empty, or an original Gatherer’s', async (t) => {
  const path = await createDataDirectory(t, []);
  const missing = await cli('gatherd', '-d', join(path, 'none'), '0');
  t.same([missing.code, missing.stderr], [1, `harvest: ${join(path, 'none')}: no such directory\n`]);
  await writeFile(join(path, 'PRODUCTION.gdbm'), 'not ours');
  const file = await cli('gatherd', '-db', 'PRODUCTION.gdbm', '-d', path, '0');
  t.equal(file.code, 1);
  t.match(file.stderr, 'PRODUCTION.gdbm is a file, but generations are a directory');
  const root = await cli('gatherd', '-d', '/', '0');
  t.same([root.code, root.stderr], [2, 'harvest: -d: must be a data directory\n']);

  const { port, process: child } = await startGatherd(t, '-d', path, '0');
  t.match(await exchange(t, port, SESSION), /\n499 - Sent 0 objects\n/);
  await new Database(path).publish([ONE]);
  child.kill('SIGHUP');
  await waitUntil(async () => (await exchange(t, port, SESSION)).includes('499 - Sent 1 objects'));
  child.kill('SIGINT');
  const { code, stderr } = await child.finished;
  t.equal(code, 0);
  t.match(stderr, `nothing is published in ${join(path, 'generations')} yet: the database is empty`);
  t.match(stderr, `PRODUCTION.gdbm is not read: \`harvest folddb ${path}\` creates a generation from it`);
  t.match(stderr, 'SIGHUP: the log is reopened');
});

/** Two objects as an original Gatherer compresses them: without the groups of an update (GATHERD-10.2). */
const templates = (...titles: readonly string[]): Buffer =>
  gzipSync(
    titles
      .map((title, i) => {
        const attributes = `Update-Time{9}:\t80000000${i}\nTitle{${title.length}}:\t${title}\n`;
        return `@FILE { http://old.example/${i}\nGatherer-Name{1}:\tG\n${attributes}}\n`;
      })
      .join(''),
  );

t.test('GATHERD-10.1: the directory of an original Gatherer is served', async (t) => {
  const path = await createDataDirectory(t, []);
  await writeFile(join(path, 'All-Templates.gz'), templates('first', 'second'));
  await writeFile(join(path, 'INDEX.gdbm'), 'not read');
  const daemon = await startGatherd(t, '-d', path, '0');
  t.match(
    await exchange(t, daemon.port, SESSION),
    /@FILE \{ http:\/\/old\.example\/0\n[\s\S]*?Title\{5\}:\tfirst\n[\s\S]*499 - Sent 2 objects/,
  );
  t.match(await exchange(t, daemon.port, 'HELLO me\nSEND-UPDATE 800000001\nQUIT\n'), '499 - Sent 1 objects');
  daemon.process.kill('SIGTERM');
  t.match(await daemon.process.finished, {
    code: 0,
    stderr: /publishing .*All-Templates\.gz\n.*generation 1: 2 objects/,
  });
  // A second start publishes nothing.
  const again = await startGatherd(t, '-d', path, '0');
  t.match(await exchange(t, again.port, SESSION), '499 - Sent 2 objects');
  again.process.kill('SIGTERM');
  t.notMatch((await again.process.finished).stderr, 'publishing');
});

t.test('GATHERD-10.1: what cannot be served is told on standard error, with the command', async (t) => {
  const path = await createDataDirectory(t, []);
  // A GDBM file whose bytes end after the magic number.
  const magic = Buffer.alloc(8);
  magic.writeUInt32LE(0x13579ace);
  await writeFile(join(path, 'PRODUCTION.gdbm'), magic);
  for (const options of [[], ['-log', 'gatherd.log']]) {
    const daemon = await startGatherd(t, ...options, '-d', path, '0');
    t.match(await exchange(t, daemon.port, SESSION), '499 - Sent 0 objects');
    daemon.process.kill('SIGTERM');
    const { stderr } = await daemon.process.finished;
    t.match(stderr, /PRODUCTION\.gdbm is not served: .*; `harvest folddb .*` prepares it for gatherd\n/);
  }
});

t.test('GATHERD-11.3 kill-gatherd stops the daemon of a directory, and nothing else', async (t) => {
  const path = await createDataDirectory(t);
  const none = await cli('kill-gatherd', '-d', path);
  t.same([none.code, none.stderr], [1, `kill-gatherd: no gatherd is running in ${path}\n`]);

  const { process: child, port } = await startGatherd(t, '-d', path, '0');
  const pid = child.child.pid;
  t.equal(await readFile(join(path, 'gatherd.pid'), 'utf8'), `${pid}\n`, 'one number');
  const killed = await cli('kill-gatherd', '-dir', path);
  t.same([killed.code, killed.stdout], [0, `stopped gatherd=127.0.0.1:${port} pid=${pid}\n`]);
  t.equal((await child.finished).code, 0);
  t.notOk(existsSync(join(path, 'gatherd.pid')));

  // Another process with the id of a daemon that ended long ago.
  await writeFile(join(path, 'gatherd.pid'), `${process.pid}\n`);
  await writeFile(join(path, 'gatherd.pid.lock'), `${process.pid}\n1@long-ago\n127.0.0.1:${port}\n`);
  t.equal((await cli('kill-gatherd', '-d', path)).code, 1);
  t.ok(existsSync(join(path, 'gatherd.pid')), 'the failed command keeps the file');
  t.equal((await cli('kill-gatherd', '-d', join(path, 'none'))).code, 1);
});

t.test('SIGHUP: the log continues in a new file after the old one was renamed', async (t) => {
  const path = await createDataDirectory(t);
  const log = join(path, 'gatherd.log');
  const { process: child, port } = await startGatherd(t, '-d', path, '-log', 'gatherd.log', '0');
  await exchange(t, port, 'HELLO before\nQUIT\n');
  await rename(log, `${log}.1`);
  await exchange(t, port, 'HELLO between\nQUIT\n');
  await waitForMatch(`${log}.1`, /HELLO between/);
  child.kill('SIGHUP');
  await waitForMatch(log, /SIGHUP: the log is reopened\n/);
  await exchange(t, port, 'HELLO after\nQUIT\n');
  await waitForMatch(log, /HELLO after/);
  const [older, newer] = [await readFile(`${log}.1`, 'utf8'), await readFile(log, 'utf8')];
  t.match(older, /HELLO before.*HELLO between/s);
  t.match(newer, 'HELLO after');
  t.notMatch(older, 'HELLO after');
  t.notMatch(newer, 'HELLO between');
});
