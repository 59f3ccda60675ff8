import { open } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { writeFully } from '../../storage/files/write-fully.js';

t.test('a file that accepts a part of the bytes at a time gets all of them', async (t) => {
  const path = join(t.testdir(), 'file');
  await using file = await open(path, 'w+');
  const slow = {
    write: (bytes: Uint8Array, offset: number, length: number, position: number | null) =>
      file.write(bytes, offset, Math.min(3, length), position),
  } as unknown as Parameters<typeof writeFully>[0];
  await writeFully(slow, Buffer.from('0123456789'));
  await writeFully(slow, Buffer.from('abcdef'));
  await writeFully(slow, Buffer.from('ABCDE'), 4);
  await writeFully(slow, Buffer.alloc(0), 2);
  t.equal((await file.readFile()).toString(), '', 'the position moves with the writes that name none');
  const found = Buffer.alloc(32);
  const { bytesRead } = await file.read(found, 0, found.length, 0);
  t.equal(found.subarray(0, bytesRead).toString(), '0123ABCDE9abcdef');
});
