// Batches of rows as they are written, and the memory that they take.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { Level } from '../../../storage/level/level.js';
import { TABLE, textKey } from '../../../storage/rows/keys.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const MIB = 1 << 20;
const isLinux = process.platform === 'linux';

/** Resident memory of this process without mapped files, bytes. */
function ownMemory(): number {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]) * 1024;
}

t.test('of several changes of a row the last one counts, whatever the size of the rows', async (t) => {
  await using level = await Level.open(await temporaryDirectory(t), { kind: 'broker' });
  for (const size of [10, 100_000]) {
    const [kept, deleted] = [textKey(TABLE.points, `${size} kept`), textKey(TABLE.points, `${size} deleted`)];
    await level.write([
      { key: kept },
      { key: deleted, value: Buffer.alloc(size, 1) },
      { key: kept, value: Buffer.alloc(size, 1) },
      { key: kept, value: Buffer.alloc(size, 2) },
      { key: deleted },
    ]);
    t.same(await level.get(kept), Buffer.alloc(size, 2), `${size} bytes`);
    t.equal(await level.get(deleted), undefined);
  }
  await level.write([]);
});

t.test('large rows leave memory as soon as they are written', { skip: !isLinux }, async (t) => {
  await using level = await Level.open(await temporaryDirectory(t), { kind: 'broker' });
  const value = Buffer.alloc(MIB);
  const write = async (rows: number) => {
    for (let i = 0; i < rows; i++) {
      value.writeUInt32BE(i);
      await level.write([{ key: textKey(TABLE.points, `${i % 4}`), value }]);
    }
  };
  await write(16);
  const before = ownMemory();
  await write(192);
  const grown = Math.round((ownMemory() - before) / MIB);
  t.ok(grown < 96, `${grown} MiB more after rows of 192 MiB`);
});
