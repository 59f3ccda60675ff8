// Berkeley DB files: recognized by their first bytes, and a sentence where the program that reads them is not
// installed.
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import t from 'tap';
import { berkeleyFile, loadReferences } from '../../../storage/references/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const [BTREE, HASH, QUEUE] = [0x053162, 0x061561, 0x042253];

/** The beginning of a file: the magic number and the version at a place, in a byte order. */
function head(magic: number, version: number, at: number, order: 'LE' | 'BE'): Buffer {
  const bytes = Buffer.alloc(512);
  bytes[`writeUInt32${order}`](magic, at);
  bytes[`writeUInt32${order}`](version, at + 4);
  return bytes;
}

t.test('R-8: files of every version, method and byte order are recognized', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'refs.db');
  for (const order of ['LE', 'BE'] as const) {
    for (const [magic, method] of [
      [BTREE, 'btree'],
      [HASH, 'hash'],
      [QUEUE, 'queue'],
    ] as const) {
      for (const version of [2, 5, 7, 8, 9, 10]) {
        await writeFile(file, head(magic, version, 12, order));
        t.same(await berkeleyFile(file), {
          description: `a Berkeley DB file (${method}, version ${version})`,
          is185: false,
        });
      }
      await writeFile(file, head(magic, 3, 0, order));
      if (magic === QUEUE) t.equal(await berkeleyFile(file), undefined, '1.85 has no queues');
      else
        t.match(await berkeleyFile(file), { description: `a Berkeley DB 1.85 file (${method}, version 3)` });
    }
  }
  const others = [
    Buffer.alloc(0),
    Buffer.alloc(512),
    Buffer.from('VERSION=3\nformat=bytevalue\n'),
    Buffer.from('10 20\n'),
  ];
  for (const bytes of [...others, head(BTREE, 9, 12, 'LE').subarray(0, 19)]) {
    await writeFile(file, bytes);
    t.equal(await berkeleyFile(file), undefined, JSON.stringify(bytes.toString('latin1', 0, 8)));
  }
  t.equal(await berkeleyFile(join(directory, 'absent')), undefined);
  t.equal(await berkeleyFile(directory), undefined);
});

t.test('R-8: where the program is missing, the sentence names it', async (t) => {
  const directory = await temporaryDirectory(t);
  const [refs, bin] = [join(directory, 'refs.db'), join(directory, 'bin')];
  await mkdir(bin);
  const path = process.env.PATH ?? '';
  t.teardown(() => {
    process.env.PATH = path;
  });
  process.env.PATH = bin;
  const load = () => loadReferences({ data: directory, refs });
  await writeFile(refs, head(BTREE, 9, 12, 'LE'));
  await t.rejects(load(), {
    name: 'StorageError',
    message: `${refs} is a Berkeley DB file (btree, version 9), and \`db_dump\` of Berkeley DB, which reads it, is not installed (Debian: db-util or db5.3-util)`,
  });
  await writeFile(refs, head(HASH, 2, 0, 'BE'));
  await t.rejects(load(), {
    message: `${refs} is a Berkeley DB 1.85 file (hash, version 2), and \`db_dump185\` of Berkeley DB, which reads it, is not installed`,
  });
  // The first program that is installed reads the file; here a script that writes the text of a dump.
  const script = `#!/bin/sh\necho VERSION=3\necho format=bytevalue\necho HEADER=END\necho ' 0a000000'\necho ' 14000000'\necho DATA=END\n`;
  await writeFile(join(bin, 'db5.3_dump185'), script, { mode: 0o755 });
  process.env.PATH = [bin, path].join(delimiter);
  t.match(await load(), { links: 1 });
});
