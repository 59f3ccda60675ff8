// An index that rests has sums: kill -9 leaves them, and each damage of its file is named.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkStores } from '../../../storage/check/check.js';
import { BrokerStore } from '../../../storage/index.js';
import { openIndexer } from '../../../storage/indexers/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { waitUntil } from '../../helpers/wait-until.js';

const object = (i: number) => Buffer.from(`@FILE { http://a.test/${i}\nTitle{6}:\tword${i % 10}\n}\n`);

async function problemsOf(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { problems } of checkStores(directory)) found.push(...problems);
  return found;
}

t.test('an index that nothing changes has sums until the next change', async (t) => {
  const directory = await temporaryDirectory(t);
  const storeDirectory = join(directory, 'store');
  await using _store = await BrokerStore.open(storeDirectory);
  const open = (brokerDirectory: string) =>
    openIndexer({ type: 'embedded', brokerDirectory, storeDirectory });
  const index = join(directory, 'index', '1');
  const sums = join(index, 'SUMS');
  const indexer = await open(directory);
  await indexer.beginUpdate();
  for (let i = 0; i < 200; i++) await indexer.add(i, object(i));
  await indexer.flush(200);
  await waitUntil(() => existsSync(sums));
  const killed = join(directory, 'killed');
  cpSync(join(directory, 'index'), join(killed, 'index'), { recursive: true });
  t.same(await problemsOf(killed), []);

  await indexer.add(200, object(200));
  t.notOk(existsSync(sums), 'a change removes them first');
  await indexer.flush(201);
  await waitUntil(() => existsSync(sums));
  await indexer.close();

  const path = join(killed, 'index', '1', 'index.sqlite');
  const bytes = readFileSync(path);
  for (let at = 0; at < bytes.length; at += Math.ceil(bytes.length / 40)) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    t.match((await problemsOf(killed)).join(), /index\.sqlite/, `a bit at ${at}`);
  }
  {
    // What an opening finds is made again.
    await using again = await open(killed);
    t.equal(again.watermark, 0);
  }
  rmSync(join(killed, 'index'), { recursive: true });
  cpSync(join(directory, 'index'), join(killed, 'index'), { recursive: true });
  await using again = await open(killed);
  t.equal(again.watermark, 201);
  t.ok(existsSync(join(killed, 'index', '1', 'SUMS')), 'they stay right until a change');
});
