// Files that grow by lines, with backpressure. Limits are in bytes.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { AppendFile } from '../../../servers/host/append-file.js';
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

const fullDisk = { skip: !existsSync('/dev/full') };

t.test('CRAWL-16: a log that cannot be written says so once', fullDisk, async (t) => {
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
});
