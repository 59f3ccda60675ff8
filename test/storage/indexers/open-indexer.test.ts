// Opening an engine by Indexer-Type, and full indexing while queries run. An engine is skipped if its program
// is not installed.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { UsageError } from '../../../protocols/errors.js';
import { openEmbeddedIndexer } from '../../../storage/indexers/embedded/embedded-indexer.js';
import { indexFileIn, openRebuildable } from '../../../storage/indexers/embedded/rebuildable.js';
import { INDEXER_TYPES, type Indexer, openIndexer } from '../../../storage/indexers/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import {
  EmbeddedFixture,
  expressionOf,
  needsProgram,
  type ObjectAttributes,
  PLAIN_SEARCH,
} from './embedded-fixture.js';

const OBJECTS: readonly ObjectAttributes[] = [
  { title: 'Wheat prices', body: 'the wheat is good' },
  { title: 'Rye fields', body: 'only rye here' },
  { title: 'Barley', body: 'wheat' },
];

/** Sixty words without pattern characters. */
const WORDS = Array.from(
  { length: 60 },
  (_, i) => `word${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`,
);

/** Opens a store with an engine. */
async function fixtureOf(type: string): Promise<EmbeddedFixture> {
  const fixture = await EmbeddedFixture.open();
  await reopen(fixture, type);
  return fixture;
}

/** Closes the engine and opens one of this type. */
async function reopen(fixture: EmbeddedFixture, type: string): Promise<void> {
  await fixture.indexer.close();
  const { directory, storeDirectory } = fixture;
  fixture.indexer = await openIndexer({ type, brokerDirectory: directory, storeDirectory });
}

t.test('BRK-7.3 an unknown Indexer-Type is refused', async (t) => {
  const options = { type: 'WAIS', brokerDirectory: '/nowhere', storeDirectory: '/nowhere' };
  await t.rejects(
    openIndexer(options),
    new UsageError(
      `Indexer-Type: WAIS is not one of ${INDEXER_TYPES.join(', ')}, and not the file of a module (.js, .mjs)`,
    ),
  );
});

t.test('BRK-8.5 a module that is no engine is refused with its name', async (t) => {
  const directory = t.testdir({
    'broken.mjs': 'export const x = ;',
    'empty.mjs': '',
    'none.mjs': 'export const openIndexer = async () => ({ watermark: 0 });',
  });
  const open = (type: string) =>
    openIndexer({ type, brokerDirectory: directory, storeDirectory: '/nowhere' });
  const code = 'ERR_CONFIG';
  await t.rejects(open('broken.mjs'), { code, message: /broken\.mjs: Indexer-Type: cannot be loaded/ });
  await t.rejects(open('./empty.mjs'), { code, message: /empty\.mjs: Indexer-Type: exports no function/ });
  await t.rejects(open(join(directory, 'none.mjs')), { code, message: /returned no engine/ });
});

for (const type of INDEXER_TYPES) {
  t.test(`BRK-8.1 ${type}: queries are answered while it indexes`, needsProgram(type), async (t) => {
    await using fixture = await fixtureOf(type.toUpperCase());
    t.equal(fixture.indexer.name, type);
    await fixture.put(...OBJECTS);
    t.same(await fixture.oids('wheat'), [1, 3]);
    const { watermark } = fixture.indexer;

    // A query that started earlier continues when the index is replaced.
    const before = fixture.indexer
      .query(expressionOf('not nowhere'), { ...PLAIN_SEARCH, lifetimeMs: 20_000 })
      [Symbol.asyncIterator]();
    t.equal((await before.next()).done, false);

    await fixture.indexer.clear();
    t.equal(fixture.indexer.watermark, watermark, 'the watermark on the disk does not change');
    const [object] = await fixture.store.objects([3]);
    await fixture.indexer.add(3, object!);
    t.same(await fixture.oids('wheat'), [1, 3], 'the old index answers until the new one is complete');
    await fixture.indexer.flush(watermark);
    t.same(await fixture.oids('wheat'), [3]);
    let remaining = 0;
    while (!(await before.next()).done) remaining++;
    t.equal(remaining, 2, 'the earlier query reads the index that it started with');

    await fixture.indexer.clear();
    await fixture.indexer.add(3, object!);
    await reopen(fixture, type);
    t.same(await fixture.oids('wheat'), [3], 'an interrupted rebuild does not change the index');
    t.equal(fixture.indexer.watermark, watermark);
    await fixture.put({ url: 'http://h/4', title: 'more wheat' });
    t.same(await fixture.oids('wheat'), [3, 4]);
  });
}

t.test('BRK-8.1 embedded: one index is kept on the disk', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  await reopen(fixture, 'embedded');
  await fixture.put(...OBJECTS);
  await fixture.indexer.clear();
  await fixture.indexer.flush(1);
  await fixture.indexer.close();
  const names = (await readdir(join(fixture.directory, 'index'))).filter((name) => /^\d+$/.test(name));
  t.same(names, ['2']);
});

for (const type of INDEXER_TYPES) {
  t.test(`Max-Work bounds the queries of ${type}`, needsProgram(type), async (t) => {
    await using fixture = await EmbeddedFixture.open();
    const { directory, storeDirectory } = fixture;
    const open = async (maxWork: number) => {
      await fixture.indexer.close();
      fixture.indexer = await openIndexer({ type, brokerDirectory: directory, storeDirectory, maxWork });
    };
    // Far less than any machine needs: each of the words is sought in each line.
    await open(0.02);
    const body = `${WORDS.join(' ')}\n`.repeat(120);
    // A program reads each object that its engine names.
    const COUNT = type === 'embedded' ? 120 : 30;
    await fixture.put(...Array.from({ length: COUNT }, () => ({ body })));
    const search = async () => {
      const query = expressionOf(WORDS.map((word) => `body : ${word}`).join(' and '));
      const results = fixture.indexer.query(query, {
        ...PLAIN_SEARCH,
        matchWord: true,
        wantLines: true,
        lifetimeMs: 120_000,
      });
      let hits = 0;
      for await (const _ of results) hits++;
      return { hits, ...(await results.outcome) };
    };
    const bounded = await search();
    t.equal(bounded.reason, 'cost');
    t.ok(bounded.hits < COUNT, `${bounded.hits} hits in 20 ms`);
    await open(1000);
    const whole = await search();
    t.match(whole, { hits: COUNT, complete: true });
  });
}

t.test('an index that cannot be published is closed again, and is told with its cause', async (t) => {
  await using fixture = await EmbeddedFixture.open();
  const path = join(await temporaryDirectory(t), 'index');
  const engines: Indexer[] = [];
  const open = async (directory: string) => {
    const file = indexFileIn(directory);
    const engine = await openEmbeddedIndexer({ file, storeDirectory: fixture.storeDirectory });
    engines.push(engine);
    return engine;
  };
  // In the place of the file that replaces CURRENT.
  await mkdir(join(path, 'CURRENT.new'), { recursive: true });
  await t.rejects(openRebuildable(path, open), {
    name: 'StorageError',
    message: /index.* cannot be written: EISDIR/,
  });
  await t.rejects(Promise.resolve(engines[0]?.beginUpdate()), {
    name: 'StateError',
    message: 'the index is closed',
  });

  await rm(join(path, 'CURRENT.new'), { recursive: true });
  await using index = await openRebuildable(path, open);
  await mkdir(join(path, 'CURRENT.new'));
  await index.clear();
  await t.rejects(index.flush(0), { name: 'StorageError', message: /index.* cannot be written: EISDIR/ });
  await t.rejects(
    Promise.resolve(engines[2]?.beginUpdate()),
    { name: 'StateError' },
    'the next index is closed',
  );
  await index.beginUpdate();
  await index.flush(1);
  t.equal(index.watermark, 1, 'the former index is in use');
});
