// Pid files: one daemon per directory, stale files, and stopping the process that a file identifies.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { StorageError } from '../../../protocols/errors.js';
import {
  lockOf,
  PidFile,
  processIdentity,
  removePidFile,
  runningProcess,
  stopProcess,
} from '../../../servers/host/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

t.test('a pid file appears complete, names its process, and is removed by its owner only', async (t) => {
  const path = await temporaryDirectory(t);
  const file = join(path, 'gatherd.pid');
  const pidFile = await PidFile.create(file, 'gatherd');
  const identity = await processIdentity(process.pid);
  t.equal(await readFile(file, 'utf8'), `${process.pid}\n`, 'one number, for kill $(cat FILE)');
  t.equal(await readFile(lockOf(file), 'utf8'), `${process.pid}\n${identity}\n\n`);
  await pidFile.setAddress('127.0.0.1:8500');
  t.equal(await readFile(file, 'utf8'), `${process.pid}\n`);
  t.equal(await readFile(lockOf(file), 'utf8'), `${process.pid}\n${identity}\n127.0.0.1:8500\n`);
  t.same(await runningProcess(file), { pid: process.pid, identity, address: '127.0.0.1:8500' });
  await t.rejects(PidFile.create(file, 'gatherd'), {
    name: 'StorageError',
    message: `gatherd is already running here (process ${process.pid}, at 127.0.0.1:8500)`,
  });
  t.same((await readdir(path)).sort(), ['gatherd.pid', 'gatherd.pid.lock'], 'no temporary file is left');
  await writeFile(file, 'another process');
  await pidFile.close();
  t.same(await readdir(path), ['gatherd.pid']);
  t.equal(await readFile(file, 'utf8'), 'another process');
  const next = await PidFile.create(file, 'gatherd');
  await next.close();
  t.same(await readdir(path), []);
  await t.rejects(PidFile.create(join(path, 'none', 'x.pid'), 'gatherd'), StorageError);
});

t.test('a pid file without an identity replaces any other, and only its process removes it', async (t) => {
  const path = await temporaryDirectory(t);
  const file = join(path, 'logs', 'refererd.pid');
  const first = await PidFile.replace(file);
  t.equal(await readFile(file, 'utf8'), `${process.pid}\n`);
  await writeFile(file, '1\n');
  await first.close();
  t.equal(await readFile(file, 'utf8'), '1\n', 'the file of another process stays');
  await removePidFile(file, 2);
  t.equal(await readFile(file, 'utf8'), '1\n');
  await using second = await PidFile.replace(file);
  await second.close();
  await removePidFile(file, process.pid);
  t.same(await readdir(join(path, 'logs')), []);
  const message = /the pid file .* cannot be written/;
  await t.rejects(PidFile.replace(path), { name: 'StorageError', message });
  t.same(await readdir(path), ['logs'], 'no temporary file is left');
});

t.test('only one of many processes takes over a stale pid file', async (t) => {
  const path = await temporaryDirectory(t);
  const file = join(path, 'gatherd.pid');
  for (let round = 0; round < 8; round++) {
    await writeFile(file, `${process.pid}\n`);
    await writeFile(lockOf(file), `${process.pid}\n1@another-boot\n127.0.0.1:1\n`);
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => PidFile.create(file, 'gatherd')),
    );
    const winners = results.filter((result) => result.status === 'fulfilled');
    t.equal(winners.length, 1, `round ${round}`);
    t.equal(await readFile(file, 'utf8'), `${process.pid}\n`);
    for (const { value } of winners) await value.close();
  }
  t.same(await readdir(path), []);
});

t.test('GATHERD-11.3: only the process that the pid file identifies is stopped', async (t) => {
  const path = await temporaryDirectory(t);
  const file = join(path, 'gatherd.pid');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const pid = child.pid ?? 0;
  const identity = (await processIdentity(pid)) ?? '';
  await writeFile(lockOf(file), `${pid}\n${identity}0\n127.0.0.1:1\n`);
  t.equal(await runningProcess(file), undefined, 'a process of another start time is another one');
  t.equal(await stopProcess({ pid, identity: `${identity}0`, address: '' }, { timeoutMs: 1000 }), true);
  t.equal(child.exitCode ?? child.signalCode, null, 'the other process keeps running');
  for (const damaged of ['', 'x', `${pid}`, `-1\n${identity}\n\n`, `${pid} \n${identity}\n\n`]) {
    await writeFile(lockOf(file), damaged);
    t.equal(await runningProcess(file), undefined, JSON.stringify(damaged));
  }
  await writeFile(file, `${pid}\n${identity}\n127.0.0.1:1\n`);
  t.match(await runningProcess(file), { pid }, 'the file of an earlier version');
  await t.rejects(PidFile.create(file, 'gatherd'), { message: /already running here/ });
  await writeFile(file, `${pid}\n`);
  await writeFile(lockOf(file), `${pid}\n${identity}\n127.0.0.1:1\n`);
  const record = await runningProcess(file);
  t.ok(record);
  if (record === undefined) return;
  const ended = once(child, 'exit');
  t.equal(await stopProcess(record, { timeoutMs: 10_000 }), true);
  t.same(await ended, [null, 'SIGTERM']);
  t.equal(await runningProcess(file), undefined);
  t.equal(await processIdentity(pid), undefined);
});
