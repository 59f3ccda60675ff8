// Files that say what the others are, of another store or of another time: SEAL, LENGTHS, SUMS, FILES, and the logs of
// LevelDB. Each is whole in itself. A check names it.
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import t, { type Test } from 'tap';
import { checkStores } from '../../storage/check/check.js';
import { ListedDirectory } from '../../storage/files/listed-directory.js';
import { BrokerStore, GathererStore } from '../../storage/index.js';
import { openIndexer } from '../../storage/indexers/index.js';
import { openDatabase } from '../../storage/level/open-database.js';
import { readLiveFiles } from '../../storage/level/verify/live-files.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';
import { summary } from '../storage/helpers.js';

async function check(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { problems } of checkStores(directory)) found.push(...problems);
  return found;
}

/** Opens the directory of a program whose store gets some rows, or none. */
async function program(directory: string, rows: number) {
  const listed = await ListedDirectory.open(directory, () => undefined, readLiveFiles);
  const store = await GathererStore.open(join(directory, 'working'));
  await listed.start();
  for (let i = 0; i < rows; i++) {
    const batch = store.batch();
    batch.putSummary(summary(`http://${rows}.test/${i}`, 1000 + i));
    await batch.commit({ sync: true });
  }
  await listed.look();
  await listed.look();
  return {
    async close() {
      await store.close();
      await listed[Symbol.asyncDispose]();
    },
  };
}

/** The data of two programs that were killed, after an earlier run or in their first one. */
async function killed(t: Test, rows: readonly [number, number], rounds: number) {
  const directory = await temporaryDirectory(t);
  const paths = ['a', 'b'].map((name) => join(directory, name)) as [string, string];
  for (const [index, path] of paths.entries()) {
    for (let round = 1; round < rounds; round++) {
      const { close } = await program(path, 3 + index);
      await close();
    }
    const { close } = await program(path, rows[index] ?? 0);
    cpSync(path, `${path}-killed`, { recursive: true, preserveTimestamps: true });
    await close();
    rmSync(path, { recursive: true });
    cpSync(`${path}-killed`, path, { recursive: true, preserveTimestamps: true });
    t.same(await check(path), []);
  }
  return paths;
}

const logOf = (store: string): string => readdirSync(store).find((name) => /^\d+\.log$/.test(name)) ?? '';

for (const [scene, rows, rounds] of [
  ['in the first run', [5, 7], 1],
  ['in a later run', [5, 7], 2],
  ['in a run that wrote nothing yet', [0, 7], 3],
] as const)
  t.test(`of another store, killed ${scene}`, async (t) => {
    const [a, b] = await killed(t, rows, rounds);
    const store = join(a, 'working');
    const other = join(b, 'working');
    for (const [name, from] of [
      ['LENGTHS', 'LENGTHS'],
      [logOf(store), logOf(other)],
    ] as const) {
      const path = join(store, name);
      const bytes = readFileSync(path);
      copyFileSync(join(other, from), path);
      t.match((await check(a)).join('\n'), name);
      t.match((await check(store)).join('\n'), name, 'also without the list of files');
      writeFileSync(path, bytes);
      t.same(await check(a), []);
    }
  });

t.test('an opening that is killed before it records the lengths is no damage', async (t) => {
  const [a] = await killed(t, [5, 7], 2);
  const store = join(a, 'working');
  const opened = await openDatabase(store, { createIfMissing: false });
  const copy = `${a}-again`;
  cpSync(a, copy, { recursive: true, preserveTimestamps: true });
  await opened.close();
  t.same(await check(copy), []);
  t.same(await check(join(copy, 'working')), []);
});

t.test('a log of another store is not applied', async (t) => {
  const [a, b] = await killed(t, [0, 7], 2);
  const store = join(a, 'working');
  const log = logOf(store);
  copyFileSync(join(b, 'working', logOf(join(b, 'working'))), join(store, log));
  await t.rejects(GathererStore.open(store), { message: new RegExp(`${log}: it begins with change`) });
});

t.test('the list of files of an earlier time, or of another directory', async (t) => {
  const directory = join(await temporaryDirectory(t), 'data');
  const list = join(directory, 'FILES');
  const sealed: string[] = [];
  for (let round = 0; round < 2; round++) {
    const { close } = await program(directory, 3);
    await close();
    sealed.push(readFileSync(list, 'latin1'));
  }
  const [older = '', newer = ''] = sealed;
  t.same(await check(directory), []);
  writeFileSync(list, older);
  t.match((await check(directory)).join('\n'), /FILES is the list of/, 'after the end of the program');
  writeFileSync(list, newer);

  const { close } = await program(directory, 3);
  const copy = `${directory}-killed`;
  cpSync(directory, copy, { recursive: true, preserveTimestamps: true });
  await close();
  t.same(await check(copy), []);
  const path = join(copy, 'FILES');
  const active = readFileSync(path, 'latin1');
  writeFileSync(path, newer);
  t.match((await check(copy)).join('\n'), /FILES is the list of/, 'after kill -9');
  // Of another process, and a file is not as it says.
  const [, boot = ''] = /\nb (\S+) /.exec(active) ?? [];
  const owner = `b ${boot} 1`;
  const other = `${owner} ${crc32(owner).toString(16).padStart(8, '0')}\n`;
  const changed = active.replace(/^b .*\n/m, other);
  const length = String(changed.length).padStart(12, '0');
  writeFileSync(path, changed.replace(/^n .*\n/m, `n ${length} ${length}\n`));
  t.same(await check(copy), [], 'a list by which everything is sound');
  writeFileSync(join(copy, 'working', 'strange.bin'), 'x');
  t.match((await check(copy)).join('\n'), /FILES is the list of/, 'by another process');
});

t.test('the sums of an index, after kill -9', async (t) => {
  const directory = await temporaryDirectory(t);
  const storeDirectory = join(directory, 'store');
  const said: string[] = [];
  const listed = await ListedDirectory.open(directory, (sentence) => said.push(sentence), readLiveFiles);
  const store = await BrokerStore.open(storeDirectory);
  await listed.start();
  const indexer = await openIndexer({ type: 'embedded', brokerDirectory: directory, storeDirectory });
  const sums = join(directory, 'index', '1', 'SUMS');
  const add = async (oid: number) => {
    await indexer.beginUpdate();
    await indexer.add(oid, Buffer.from(`@FILE { http://a.test/${oid}\nTitle{4}:\tword\n}\n`));
    await indexer.flush(oid + 1);
  };
  await add(0);
  await waitUntil(() => existsSync(sums));
  await listed.look();
  await listed.look();
  const copy = `${directory}-killed`;
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  const kill = () => {
    rmSync(copy, { recursive: true, force: true });
    cpSync(directory, copy, { recursive: true, preserveTimestamps: true });
  };
  kill();
  t.same(await check(copy), []);
  const path = join(copy, 'index', '1', 'SUMS');
  rmSync(path);
  t.match((await check(copy)).join('\n'), 'index/1/SUMS is missing');
  symlinkSync(sums, path);
  t.match((await check(copy)).join('\n'), 'index/1/SUMS is not a regular file');
  rmSync(path);
  writeFileSync(path, readFileSync(sums, 'latin1').replace(/"size": \d/, '"size": 9'));
  t.match((await check(copy)).join('\n'), 'SUMS');

  await add(1);
  t.notOk(existsSync(sums), 'a change removes them');
  kill();
  t.same(await check(copy), [], 'which is no damage');
  await listed.look();
  t.same(said, []);
  rmSync(sums, { force: true });
  await indexer.close();
  await listed.look();
  rmSync(sums);
  await listed.look();
  t.match(said.join(), 'SUMS is missing', 'told at run time');
  await store.close();
  await listed[Symbol.asyncDispose]();
});
