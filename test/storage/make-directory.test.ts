// Directories are created with those above them, and a place that accepts none is an error.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createDirectory, createDirectorySync, makeDirectory } from '../../storage/files/make-directory.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

t.test('the first directory that was missing is returned', async (t) => {
  const root = await temporaryDirectory(t);
  for (const [name, create] of Object.entries({ createDirectory, createDirectorySync })) {
    t.equal(await create(join(root, name, 'a', 'b')), join(root, name));
    t.equal(await create(join(root, name, 'a', 'c')), join(root, name, 'a', 'c'));
    t.equal(await create(join(root, name, 'a', 'c')), undefined);
    t.ok(existsSync(join(root, name, 'a', 'b')));
  }
});

t.test('several callers create the same directories', async (t) => {
  const root = await temporaryDirectory(t);
  for (const [name, create] of Object.entries({ createDirectory, makeDirectory })) {
    const paths = Array.from({ length: 8 }, (_, i) => join(root, name, 'a', 'b', String(i % 2)));
    await Promise.all(paths.map((path) => create(path)));
    for (const path of paths) t.ok(existsSync(path), path);
  }
});

t.test(
  'a file system that accepts no directory',
  { skip: !existsSync('/proc/self') && 'needs /proc' },
  async (t) => {
    const error = { code: 'ENOENT' };
    await t.rejects(createDirectory('/proc/none/of/these'), error);
    t.throws(() => createDirectorySync('/proc/none/of/these'), error);
  },
);
