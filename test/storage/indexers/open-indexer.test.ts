import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { parseQuery } from '../../../protocols/broker/index.js';
import { UsageError } from '../../../protocols/errors.js';
import { INDEXER_TYPES, openIndexer } from '../../../storage/indexers/index.js';
import { Base, PLAIN, type TestObject } from './support.js';

t.setTimeout(120_000);
const PROGRAMS: Readonly<Record<string, string>> = { glimpse: 'glimpseindex', swish: 'swish-e' };

const OBJECTS: readonly TestObject[] = [
  { title: 'Wheat prices', body: 'the wheat is good' },
  { title: 'Rye fields', body: 'only rye here' },
  { title: 'Barley', body: 'wheat' },
];

async function baseOf(type: string): Promise<Base> {
  const base = await Base.open();
  await reopen(base, type);
  return base;
}

async function reopen(base: Base, type: string): Promise<void> {
  await base.indexer.close();
  const { directory, storeDirectory } = base;
  base.indexer = await openIndexer({ type, brokerDirectory: directory, storeDirectory });
}

t.test('BRK-7.3 Indexer-Type: an unknown type', async (t) => {
  const options = { type: 'WAIS', brokerDirectory: '/nowhere', storeDirectory: '/nowhere' };
  await t.rejects(
    openIndexer(options),
    new UsageError('Indexer-Type: WAIS is not one of embedded, glimpse, swish'),
  );
});

for (const type of INDEXER_TYPES) {
  const program = PROGRAMS[type];
  const missing = program !== undefined && spawnSync(program, ['-V']).error !== undefined;
  t.test(`BRK-8.1 ${type}: full indexing during queries`, { skip: missing && program }, async (t) => {
    await using base = await baseOf(type.toUpperCase());
    t.equal(base.indexer.name, type);
    await base.put(...OBJECTS);
    t.same(await base.oids('wheat'), [1, 3]);
    const { watermark } = base.indexer;

    // A query that started before continues across the change of indexes.
    const expression = parseQuery('not nowhere');
    if (expression.kind === 'all') throw new Error('not an expression');
    const before = base.indexer.query(expression, { ...PLAIN, lifetimeMs: 20_000 })[Symbol.asyncIterator]();
    t.equal((await before.next()).done, false);

    await base.indexer.clear();
    t.equal(base.indexer.watermark, watermark, 'the watermark on the disk does not change');
    const [object] = await base.store.objects([3]);
    await base.indexer.add(3, object!);
    t.same(await base.oids('wheat'), [1, 3], 'the old index answers until the new one is complete');
    await base.indexer.flush(watermark);
    t.same(await base.oids('wheat'), [3]);
    let rest = 0;
    while (!(await before.next()).done) rest++;
    t.equal(rest, 2, 'the earlier query reads the index that it started with');

    await base.indexer.clear();
    await base.indexer.add(3, object!);
    await reopen(base, type);
    t.same(await base.oids('wheat'), [3], 'an interrupted rebuild does not change the index');
    t.equal(base.indexer.watermark, watermark);
    await base.put({ url: 'http://h/4', title: 'more wheat' });
    t.same(await base.oids('wheat'), [3, 4]);
  });
}

t.test('BRK-8.1 embedded: one index stays on the disk', async (t) => {
  await using base = await Base.open();
  await reopen(base, 'embedded');
  await base.put(...OBJECTS);
  await base.indexer.clear();
  await base.indexer.flush(1);
  await base.indexer.close();
  const names = (await readdir(join(base.directory, 'index'))).filter((name) => /^\d+$/.test(name));
  t.same(names, ['2']);
});
