import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { LogLengths } from '../../../storage/level/verify/log-lengths.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

t.test('lengths are written one after the other, and none after the last', async (t) => {
  const directory = await temporaryDirectory(t);
  await writeFile(join(directory, '000003.log'), 'x'.repeat(5000));
  const lengths = new LogLengths(directory);
  const order: number[] = [];
  // Each round asks for the next before the one before has begun to write.
  for (let round = 0; round < 20; round++) {
    for (let i = 0; i < 8; i++) void lengths.record().then(() => order.push(8 * round + i));
    await lengths.settled();
    t.equal(order.length, 8 * (round + 1), 'nothing is being written');
  }
  t.same(
    order,
    order.toSorted((a, b) => a - b),
  );
});
