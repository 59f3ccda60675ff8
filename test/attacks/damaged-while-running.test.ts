// An index that is damaged while its Broker runs: a query gets everything or `111`, and after the rebuild
// everything again.
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { waitUntil } from '../helpers/wait-until.js';
import { exchange, openBroker, serveBroker } from '../servers/broker/helpers.js';
import { fillBroker } from './filled-broker.js';

const OBJECTS = 300;
/** A part of a word and a matched line: the query thread answers, not the caches of the owner's thread. */
const QUERY = '#USER #index case insensitive #opaque #END ommo';

t.test('a query over an index that is damaged meanwhile gets 111, then everything again', async (t) => {
  const { broker, directory } = await openBroker(t);
  await fillBroker(broker, OBJECTS, (i) => ({
    Title: `Doc ${i}`,
    Body: `common word${i} text\n`.repeat(20),
  }));
  const { port } = (await serveBroker(t, { broker })).address;
  const index = join(directory, 'index');
  const [number = ''] = (await readdir(index)).filter((name) => /^\d+$/.test(name));
  for (const file of ['index.sqlite', 'index.sqlite-wal']) {
    const path = join(index, number, file);
    const size = await stat(path).then(
      ({ size }) => size,
      () => 0,
    );
    if (size === 0) continue;
    await using handle = await open(path, 'r+');
    await handle.write(Buffer.alloc(size, 0xa5), 0, size, 0);
  }
  let answers = 0;
  let refusals = 0;
  await waitUntil(async () => {
    const reply = await exchange(port, `${QUERY}\n`);
    const found = [...reply.matchAll(/^120 - /gm)].length;
    if (/^111 - ERROR: The Broker cannot answer now: /m.test(reply)) refusals++;
    else {
      t.equal(found, OBJECTS, 'everything, unless 111 says otherwise');
      if (refusals > 0) answers++;
    }
    return answers > 0;
  });
  t.ok(refusals > 0, 'the damage is told, and then the index is made again');
});
