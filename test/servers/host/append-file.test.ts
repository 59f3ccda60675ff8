// Files that grow by lines: asynchronous ones of crawl logs, and blocking ones of event logs. Limits are in bytes.
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { AppendFile } from '../../../servers/host/append-file.js';
import { AppendFileSync } from '../../../servers/host/append-file-sync.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

t.test('CRAWL-16: the memory of a log is bounded; a full log has room again after a write', async (t) => {
  const root = await temporaryDirectory(t);
  const path = join(root, 'a.log');
  let releaseDisk = (): void => {};
  const diskReleased = new Promise<void>((resolve) => {
    releaseDisk = resolve;
  });
  const encoder = {
    encode: async (lines: string) => {
      await diskReleased;
      return Buffer.from(lines);
    },
    finish: () => new Uint8Array(),
  };
  const file = await AppendFile.open(path, { limit: 100, blockLength: 10, encoder });
  for (let i = 0; !file.full; i++) file.write(`line ${i} of some length`);
  const stop = new AbortController();
  const aborted = file.waitForRoom(stop.signal);
  stop.abort(new Error('stopped'));
  await t.rejects(aborted, { message: 'stopped' });
  const room = file.waitForRoom();
  t.ok(file.full);
  releaseDisk();
  await room;
  t.notOk(file.full);
  await file.close();
  t.equal((await readFile(path, 'utf8')).split('\n').length, 6);
  t.throws(() => file.write('late'), { name: 'StateError' });
  await t.rejects(AppendFile.open(join(root, 'none', 'a.log')), {
    name: 'StorageError',
    message: /ENOENT/,
  });
});

t.test(
  'CRAWL-16: a log that cannot be written reports the error once and keeps its lines',
  { skip: !existsSync('/dev/full') },
  async (t) => {
    const errors: string[] = [];
    let resolveFirst = (): void => {};
    const firstError = new Promise<void>((resolve) => {
      resolveFirst = resolve;
    });
    const file = await AppendFile.open('/dev/full', {
      flushMs: 1,
      limit: 50,
      onError: ({ name }) => {
        errors.push(name);
        resolveFirst();
      },
    });
    // The log does not keep the process alive.
    const keepAlive = setInterval(() => {}, 1000);
    t.teardown(() => clearInterval(keepAlive));
    file.write('a line for a full disk');
    await firstError;
    file.write('another one that is long enough');
    t.ok(file.full, 'unwritten lines count towards the limit');
    for (let i = 0; i < 5; i++) await t.rejects(file.flush(), { name: 'StorageError', message: /ENOSPC/ });
    t.same(errors, ['StorageError']);
    await t.rejects(file.close(), { name: 'StorageError' });
  },
);

t.test('blocking writes reach the file immediately, after a full block, or after a delay', async (t) => {
  const root = await temporaryDirectory(t);
  const path = join(root, 'logs', 'of', 'a.log');
  using file = new AppendFileSync(path);
  t.same(file.directoriesMade, [join(root, 'logs', 'of'), join(root, 'logs')]);
  file.write('one');
  t.equal(await readFile(path, 'utf8'), 'one\n');
  using block = new AppendFileSync(path, { blockLength: 8, flushMs: 60_000 });
  t.same(block.directoriesMade, []);
  block.write('two');
  t.equal(await readFile(path, 'utf8'), 'one\n');
  block.write('three');
  t.equal(await readFile(path, 'utf8'), 'one\ntwo\nthree\n');
  block.close();
  using timed = new AppendFileSync(path, { blockLength: 8, flushMs: 5 });
  timed.write('x');
  while (!(await readFile(path, 'utf8')).endsWith('\nx\n'))
    await new Promise((resolve) => setTimeout(resolve, 5));
  timed.close();
  timed.write('lost');
  timed.close();
  t.equal(await readFile(path, 'utf8'), 'one\ntwo\nthree\nx\n');
  t.throws(() => new AppendFileSync(join(path, 'below')), {
    name: 'StorageError',
    message: /cannot be opened/,
  });
});

t.test('a file of blocking writes is rotated, reopened, and continued under another path', async (t) => {
  const root = await temporaryDirectory(t);
  const [path, other] = [join(root, 'a.log'), join(root, 'b.log')];
  using file = new AppendFileSync(path, { blockLength: 1000 });
  const text = (name: string) => readFile(join(root, name), 'utf8');
  file.write('one');
  t.equal(file.rotate('old'), `${path}.old`);
  file.write('two');
  t.equal(file.rotate('old'), `${path}.old.1`, 'a rotation overwrites no file');
  file.write('three');
  await rename(path, `${path}.moved`);
  file.reopen();
  file.write('four');
  file.flush();
  await rm(path);
  t.equal(file.rotate('old'), undefined, 'a file that was removed is created again');
  file.reopen(other);
  t.equal(file.path, other);
  file.write('five');
  t.throws(() => file.reopen(join(other, 'below')), { name: 'StorageError' });
  file.write('six');
  file.flush();
  t.same(
    [await text('a.log.old'), await text('a.log.old.1'), await text('a.log.moved')],
    ['one\n', 'two\n', 'three\n'],
  );
  t.same([await text('a.log'), await text('b.log')], ['', 'five\nsix\n']);
  t.same((await readdir(root)).sort(), ['a.log', 'a.log.moved', 'a.log.old', 'a.log.old.1', 'b.log']);
});

t.test(
  'with a full disk, writes do not throw, and memory stays within the limit',
  { skip: !existsSync('/dev/full') },
  async (t) => {
    const root = await temporaryDirectory(t);
    const path = join(root, 'a.log');
    using file = new AppendFileSync('/dev/full', { limit: 20 });
    for (let i = 0; i < 10; i++) file.write(`line ${i}`);
    file.reopen(path);
    file.write('room again');
    t.equal(await readFile(path, 'utf8'), 'line 0\nline 1\nline 2\nroom again\n');
  },
);
