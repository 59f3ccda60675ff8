// Generations: publishing by the Gatherer, readers that keep the generation they opened, and leftover files.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { checkStores } from '../../../storage/check/check.js';
import { currentGeneration } from '../../../storage/generations/directory.js';
import type { PublishedGeneration } from '../../../storage/generations/generations.js';
import { GathererStore, Generations } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { collect, documentRecord, put, readExport, soif, summary } from '../helpers.js';

/** Opens a store and the generations that it publishes. */
async function publisher(t: Test) {
  const root = await temporaryDirectory(t);
  const directory = join(root, 'generations');
  const store = await GathererStore.open(join(root, 'working'));
  t.teardown(() => store.close());
  return { root, directory, store, generations: new Generations(directory, { pollIntervalMs: 20 }) };
}

/** Returns the names of the clones that readers hold. */
async function readers(directory: string): Promise<string[]> {
  return readdir(join(directory, 'readers')).catch(() => []);
}

t.test('DESIGN 4 a reader keeps the generation it opened; the next one opens the newest', async (t) => {
  const { directory, store, generations } = await publisher(t);
  t.equal(await generations.current(), undefined);
  await t.rejects(generations.open(), { name: 'StorageError', message: /no generation/ });

  const [one, two] = [summary('http://a.test/', 10), summary('http://b.test/', 20)];
  await put(store, one);
  t.equal(await store.publish(directory), 1);
  const first = await generations.open();
  await store.batch().putSummary(two).deleteSummary('http://a.test/').commit();
  t.equal(await store.publish(directory), 2);
  t.equal(await generations.current(), 2);
  const second = await generations.open();
  await store.batch().deleteSummary('http://b.test/').commit();
  t.equal(await store.publish(directory), 3);
  t.equal(await store.publish(directory), 4);

  t.equal(first.generation, 1);
  t.equal(first.count, 1);
  t.equal((await readExport(first.exportSince(0))).text, String(one.soif));
  t.equal(String(await first.get('http://a.test/')), String(one.soif));
  t.equal(await first.get('http://b.test/'), undefined);
  t.equal(second.generation, 2);
  t.equal((await readExport(second.exportSince(0))).text, String(two.soif));
  await using fourth = await generations.open();
  t.equal(fourth.count, 0);
  t.equal((await readExport(fourth.exportSince(0))).text, '');

  t.same((await readdir(directory)).sort(), ['3', '4', 'CURRENT', 'readers'], 'the last two are kept');
  t.equal(await readFile(join(directory, 'CURRENT'), 'latin1'), '4\n');
  t.equal((await readers(directory)).length, 3);
  await first.close();
  await second.close();
  t.equal((await readers(directory)).length, 1, 'the last user of a clone removes it');
});

t.test('DESIGN 4 tables are hard links, and a published directory is never written', async (t) => {
  const { root, directory, store, generations } = await publisher(t);
  await put(
    store,
    ...Array.from({ length: 2000 }, (_, i) => summary(`http://${i}.test/`, i, String(i).repeat(500))),
  );
  await store.publish(directory);
  await store.publish(directory);
  const names = (await readdir(join(directory, '2'))).sort();
  const tables = names.filter((name) => name.endsWith('.ldb'));
  t.ok(tables.length > 0);
  t.same(
    names.filter(
      (name) => !name.endsWith('.ldb') && !/^(CURRENT|MANIFEST-\d+|\d+\.log|LOCK|LOG(\.old)?)$/.test(name),
    ),
    ['All-Templates.gz', 'EXPORT', 'SEAL', 'SUMS'],
  );
  const inodes = async (path: string) => {
    const found = (await readdir(path)).filter((name) => name.endsWith('.ldb'));
    return Promise.all(found.map(async (name) => (await stat(join(path, name))).ino));
  };
  const working = await inodes(join(root, 'working'));
  const published = await inodes(join(directory, '2'));
  t.ok(working.length > 0 && working.every((inode) => published.includes(inode)));
  const before = await Promise.all(names.map((name) => readFile(join(directory, '2', name))));
  const snapshot = await generations.open();
  t.equal(
    (await collect(snapshot.exportSince(0))).reduce((sum, chunk) => sum + chunk.objects, 0),
    2000,
  );
  await snapshot.close();
  t.same((await readdir(join(directory, '2'))).sort(), names);
  t.same(await Promise.all(names.map((name) => readFile(join(directory, '2', name)))), before);
});

t.test('DESIGN 4 publishing copies files to another file system, which has no hard links', async (t) => {
  const { root, store } = await publisher(t);
  const elsewhere = '/dev/shm';
  const other = await stat(elsewhere).catch(() => undefined);
  if (other === undefined || other.dev === (await stat(root)).dev) {
    t.comment('skipped: this machine has no second file system');
    return;
  }
  const directory = await mkdtemp(join(elsewhere, 'harvest-storage-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  await put(
    store,
    ...Array.from({ length: 200 }, (_, i) => summary(`http://${i}.test/`, i, 'x'.repeat(500))),
  );
  await store.publish(directory);
  await store.publish(directory);
  t.ok((await readdir(join(directory, '2'))).some((name) => name.endsWith('.ldb')));
  await using snapshot = await new Generations(directory).open();
  t.equal(
    (await readExport(snapshot.exportSince(0))).objects.reduce((sum, n) => sum + n, 0),
    200,
  );
});

t.test('publishing excludes batches and reads; an iteration continues across it', async (t) => {
  const { directory, store, generations } = await publisher(t);
  const fill = store.batch();
  for (let i = 0; i < 2500; i++)
    fill.putDocument(documentRecord(`http://${String(i).padStart(4, '0')}.test/`));
  await fill.commit();
  const walk = store.documents.iterate();
  t.equal((await walk.next()).value?.url, 'http://0000.test/');

  const work: Promise<unknown>[] = [];
  for (let i = 1; i <= 30; i++) {
    work.push(put(store, summary(`http://${i}.test/`, i)));
    if (i % 10 === 0) work.push(store.publish(directory));
    work.push(store.summaries.get('http://1.test/'));
  }
  await Promise.all(work);
  t.equal((await collect(walk)).length, 2499);
  t.equal(store.summaries.count, 30);
  t.equal(await store.publish(directory), 4);
  await using snapshot = await generations.open();
  t.equal(snapshot.count, 30);
});

t.test('a failed publication changes nothing and the store remains usable', async (t) => {
  const { root, directory, store } = await publisher(t);
  await put(store, summary('http://a.test/', 1));
  await writeFile(join(root, 'file'), '');
  await t.rejects(store.publish(join(root, 'file')), StorageError);
  t.equal(await store.publish(directory), 1);

  // The pointer cannot be written, because a directory has the name of its temporary file.
  await mkdir(join(directory, 'CURRENT.new'));
  await t.rejects(store.publish(directory), StorageError);
  t.equal(await new Generations(directory).current(), 1);
  await put(store, summary('http://b.test/', 2));
  await rm(join(directory, 'CURRENT.new'), { recursive: true });
  t.equal(await store.publish(directory), 3, 'the number 2 is not used again');
  await using snapshot = await new Generations(directory).open();
  t.equal(snapshot.count, 2);

  await writeFile(join(directory, 'CURRENT'), '../etc\n');
  t.equal(await new Generations(directory).current(), 3, 'the newest whole generation is current');
});

t.test('the publisher removes generations of killed processes, readers remove their clones', async (t) => {
  const { directory, store, generations } = await publisher(t);
  await store.publish(directory);
  await mkdir(join(directory, '7.tmp'));
  await mkdir(join(directory, '5.old'));
  await store.publish(directory);
  t.same((await readdir(directory)).sort(), ['1', '2', 'CURRENT']);

  const ended = spawn(process.execPath, ['-e', '']);
  const { pid } = ended;
  await once(ended, 'exit');
  const dead = join(directory, 'readers', `${pid}-0-00`);
  const recycled = join(directory, 'readers', `${process.pid}-1-00`);
  const alive = join(directory, 'readers', `${process.ppid}-0-00`);
  for (const clone of [dead, recycled, alive]) await mkdir(clone, { recursive: true });
  await using snapshot = await generations.open();
  const remaining = await readers(directory);
  t.equal(remaining.includes(`${pid}-0-00`), false);
  t.equal(remaining.includes(`${process.ppid}-0-00`), true);
  if (process.platform === 'linux')
    t.equal(remaining.includes(`${process.pid}-1-00`), false, 'another process had the same ID');
  t.equal(snapshot.generation, 2);
});

t.test('a reader retries if its generation is replaced while it clones', async (t) => {
  const { directory, store, generations } = await publisher(t);
  for (let round = 0; round < 8; round++) {
    await put(store, summary(`http://${round}.test/`, round + 1));
    await store.publish(directory);
  }
  const opens: Promise<number>[] = [];
  const publications: Promise<number>[] = [];
  for (let round = 0; round < 12; round++) {
    publications.push(store.publish(directory));
    opens.push(
      generations.open().then(async (snapshot) => {
        const { objects } = await readExport(snapshot.exportSince(0));
        await snapshot.close();
        return objects[0] ?? 0;
      }),
    );
  }
  t.same(await Promise.all(opens), Array(12).fill(8));
  await Promise.all(publications);
  t.same(await readers(directory), []);

  // The generation is removed without a successor: an error, not an endless loop.
  const current = await generations.current();
  await rename(join(directory, String(current)), join(directory, 'aside'));
  await t.rejects(generations.open(), { name: 'StorageError', message: /cannot be opened/ });
  // A table is missing: LevelDB detects it.
  await mkdir(join(directory, String(current)));
  for (const name of await readdir(join(directory, 'aside'))) {
    if (name !== 'CURRENT')
      await link(join(directory, 'aside', name), join(directory, String(current), name));
  }
  await t.rejects(generations.open(), StorageError);
  t.same(await readers(directory), []);
});

t.test('follow reports the current generation and newer ones, before the directory exists too', async (t) => {
  const { directory, store, generations } = await publisher(t);
  // Following does not keep the process alive, so this timer does until the test ends.
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(alive));
  const seen: (number | undefined)[] = [];
  let wake = () => {};
  const wait = async (number: number | undefined) => {
    while (seen.at(-1) !== number) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const following = generations.follow((published) => {
    seen.push(published?.generation);
    wake();
  });
  await store.publish(directory);
  await wait(1);
  await store.publish(directory);
  await wait(2);
  following[Symbol.dispose]();
  await store.publish(directory);
  const second: (number | undefined)[] = [];
  await new Promise<void>((resolve) => {
    const other = generations.follow((published) => {
      second.push(published?.generation);
      other[Symbol.dispose]();
      resolve();
    });
  });
  t.same(second, [3]);
  t.same(seen, [1, 2]);
});

t.test('follow reports a directory that is deleted and made anew, with the same number too', async (t) => {
  const { directory, store, generations } = await publisher(t);
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(alive));
  const seen: (PublishedGeneration | undefined)[] = [];
  let wake = () => {};
  using _following = generations.follow((published) => {
    seen.push(published);
    wake();
  });
  // What is half deleted may be reported on the way.
  const reported = async (identity: string | undefined) => {
    while (seen.length === 0 || seen.at(-1)?.identity !== identity) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const identities = new Set<string | undefined>();
  const publish = async () => {
    await store.publish(directory);
    const published = await generations.published();
    t.equal(published?.generation, 1);
    identities.add(published?.identity);
    await reported(published?.identity);
  };
  await publish();
  await rm(directory, { recursive: true });
  await reported(undefined);
  await publish();
  await rm(directory, { recursive: true });
  await publish();
  t.equal(identities.size, 3, 'each is another one');
});

t.test('the last user of a snapshot closes it, and an iteration is a user', async (t) => {
  const { directory, store, generations } = await publisher(t);
  const large = 'x'.repeat(200_000);
  await put(store, summary('http://a.test/', 1, large), summary('http://b.test/', 2, large));
  await store.publish(directory);
  const snapshot = await generations.open();
  snapshot.retain();
  await snapshot.release();
  const walk = snapshot.exportSince(0)[Symbol.asyncIterator]();
  t.equal((await walk.next()).value?.objects, 1);
  await snapshot.close();
  await snapshot.close();
  t.equal((await walk.next()).value?.updateTime, 2);
  t.equal((await walk.next()).done, true);
  t.same(await readers(directory), []);
  t.throws(() => snapshot.retain(), StateError);
  await t.rejects(snapshot.release(), StateError);
  await t.rejects(readExport(snapshot.exportSince(0)), StateError);
});

t.test('GATHERD-8.4 info: the count, the range of Update-Times, attributes by frequency', async (t) => {
  const { directory, store, generations } = await publisher(t);
  await store.publish(directory);
  await using none = await generations.open();
  t.same(await none.info(), { count: 0, oldest: undefined, newest: undefined, attributes: [] });

  const add = (url: string, updateTime: number, attributes: Record<string, string>) =>
    put(store, { url, updateTime, timeToLive: 1, soif: soif(url, attributes) });
  await add('http://0.test/', 0, { Type: 'HTML' });
  await add('http://1.test/', 15, { title: '@FILE { x\n}\n', Keywords: 'a', type: 'Text' });
  await add('http://2.test/', 5, { Title: 'x', Abstract: 'y', Type: 'Text' });
  await store.publish(directory);
  await using snapshot = await generations.open();
  t.same(await snapshot.info(), {
    count: 3,
    oldest: 5,
    newest: 15,
    attributes: ['Type', 'Title', 'Abstract', 'Keywords'],
  });
});

t.test('a pointer of any length is read in part, and the newest generation counts', async (t) => {
  const directory = await temporaryDirectory(t);
  await mkdir(join(directory, '3'));
  await writeFile(join(directory, 'CURRENT'), '2\n');
  // Sparse; its text would be longer than a string can be.
  await truncate(join(directory, 'CURRENT'), 2 ** 30);
  t.equal(await currentGeneration(directory), 3);
});

t.test('a damaged pointer hides no generation, and a lost one does not look like none', async (t) => {
  const { directory, store, generations } = await publisher(t);
  const pointer = join(directory, 'CURRENT');
  const damages: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['an earlier number', () => writeFile(pointer, '1\n')],
    ['no number', () => writeFile(pointer, '\0\0')],
    ['a directory', () => mkdir(pointer)],
  ];
  for (let number = 1; number <= 3; number++) await store.publish(directory);
  for (const [name, damage] of damages) {
    await rm(pointer, { recursive: true });
    await damage();
    t.equal(await currentGeneration(directory), 3, name);
  }
  await rm(pointer, { recursive: true });
  await writeFile(pointer, '70\n');
  await t.rejects(generations.open(), { name: 'StorageError', message: /70.*cannot be opened/ });
  for (const [name, damage] of damages) {
    for (const entry of await readdir(directory)) await rm(join(directory, entry), { recursive: true });
    await damage();
    await t.rejects(
      currentGeneration(directory),
      /CURRENT .* no generation; after `rm -rf .*CURRENT` the next/,
      name,
    );
    await rm(pointer, { recursive: true });
    const published = await store.publish(directory);
    t.equal(await currentGeneration(directory), published, name);
  }
});

t.test('a table that LevelDB was writing when the store was closed is not shared with a clone', async (t) => {
  const root = await temporaryDirectory(t);
  const [working, clone] = [join(root, 'working'), join(root, 'clone')];
  {
    await using store = await GathererStore.open(working);
    await put(store, summary('http://a.test/', 1));
  }
  // LevelDB takes the next number again when it opens either of them, and overwrites the file.
  const numbers = (await readdir(working)).map((name) => Number(/\d+/.exec(name)?.[0] ?? 0));
  const next = Math.max(...numbers) + 1;
  const begun = Array.from({ length: 8 }, (_, i) => `${String(next + i).padStart(6, '0')}.ldb`);
  for (const name of begun) await writeFile(join(working, name), 'begun');
  await mkdir(clone);
  await GathererStore.cloneClosed(working, clone);
  {
    await using store = await GathererStore.open(clone);
    t.equal((await store.summaries.get('http://a.test/'))?.updateTime, 1);
    await put(store, summary('http://b.test/', 2));
  }
  for (const name of begun) t.equal(await readFile(join(working, name), 'latin1'), 'begun', name);
  for await (const { directory, problems } of checkStores(root)) t.same(problems, [], directory);
});
