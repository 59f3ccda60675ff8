// The tools that load, merge, clean and publish databases of summaries.
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import {
  cleanDatabase,
  consolidate,
  DatabaseFile,
  loadObjects,
  mergeDatabases,
  publishDirectory,
  readStream,
  removeBinary,
  storedUrl,
  synchronize,
} from '../../../storage/databases/index.js';
import { replaceFile } from '../../../storage/files/replace-file.js';
import { GathererStore, Generations } from '../../../storage/index.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { collect, put, readExport } from '../helpers.js';
import { BARE, contentOf, databaseOf, ONE, TWO, wrapped } from './helpers.js';

/** Returns an object with an Update-Time and a title, in the layout of SOIF-2.2. */
function titled(url: string, time: number, title: string): string {
  return `@FILE { ${url}\nUpdate-Time{${String(time).length}}:\t${time}\nTitle{${title.length}}:\t${title}\n}\n`;
}

t.test('G-138, SOIF-8.4: an update stream is applied to an earlier copy', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  await databaseOf(path, ONE, TWO);
  const stream = wrapped({
    deleted: '@FILE { http://h/1\n}\n@FILE { http://h/unknown\n}\n',
    refreshed:
      '@FILE { http://h/2\nUpdate-Time{4}:\t9000\n}\n@FILE { http://h/strange\nUpdate-Time{1}:\t1\n}\n',
    updated: BARE + BARE.replace('bare\n}', 'last\n}'),
  });
  using database = DatabaseFile.open(path);
  const counts = await loadObjects(database, readStream(Readable.from([Buffer.from(stream)]), 'test'));
  t.same(counts, { read: 6, added: 1, replaced: 2, deleted: 1 });
  t.equal(
    contentOf(path),
    `@FILE { http://h/2\nUpdate-Time{4}:\t9000\nTitle{3}:\ttwo\n}\n@FILE { http://h/bare\nTitle{4}:\tlast\n}\n`,
  );
  const again = readStream(Readable.from([Buffer.from(ONE)]), 'test');
  t.same(await loadObjects(database, again, { replace: true }), {
    read: 1,
    added: 1,
    replaced: 0,
    deleted: 2,
  });
  t.equal(contentOf(path), ONE);
});

t.test('G-138: a truncated stream leaves the database unchanged', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  await databaseOf(path, ONE);
  using database = DatabaseFile.open(path);
  const failing = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from(TWO.repeat(1000));
    throw Object.assign(new Error('gone'), { code: 'EIO' });
  };
  await t.rejects(
    loadObjects(database, readStream(Readable.from(failing()), 'test')),
    /test cannot be read: gone/,
  );
  t.equal(contentOf(path), ONE);
});

t.test('G-139, G-142, SOIF-5.5: manual values replace automatic ones, the first of them', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = (name: string): string => join(directory, name);
  await databaseOf(
    path('automatic'),
    '@FILE { http://h/1\nUpdate-Time{4}:\t1000\ntitle{4}:\tauto\nKeywords{1}:\tk\n}\n',
    TWO,
  );
  await databaseOf(
    path('first'),
    '@FILE { http://h/1\nTitle{4}:\thand\n}\n',
    '@FILE { http://h/only\nTitle{1}:\tA\n}\n',
  );
  writeFileSync(
    path('second'),
    '@FILE { http://h/1\nTITLE{5}:\tother\nAuthor{2}:\tme\n}\n@FILE { http://h/only\nTitle{1}:\tB\nX{1}:\ty\n}\n',
  );
  const counts = await mergeDatabases(path('production'), path('automatic'), [path('first'), path('second')]);
  t.same(counts, { objects: 3, merged: 1, manualOnly: 1 });
  t.equal(
    contentOf(path('production')),
    `@FILE { http://h/1\nTitle{4}:\thand\nAuthor{2}:\tme\nUpdate-Time{4}:\t1000\nKeywords{1}:\tk\n}\n${TWO}` +
      '@FILE { http://h/only\nTitle{1}:\tA\nX{1}:\ty\n}\n',
  );
  t.same(
    readdirSync(directory).sort(),
    ['automatic', 'first', 'production', 'second'],
    'no other files remain',
  );
});

t.test('G-139: the production database must be new unless replacing is forced', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = (name: string): string => join(directory, name);
  await databaseOf(path('p'), ONE);
  await databaseOf(path('m'), BARE);
  await t.rejects(mergeDatabases(path('p'), path('p'), [path('m')]), /exists already; --force replaces it/);
  await mergeDatabases(path('p'), path('p'), [path('m')], { force: true });
  t.equal(contentOf(path('p')), ONE + BARE, 'the target may be a source');
  await t.rejects(mergeDatabases(path('p'), path('none'), [path('m')], { force: true }), /there is no /);
  t.equal(contentOf(path('p')), ONE + BARE);
  t.same(readdirSync(directory).sort(), ['m', 'p']);
});

t.test('G-116: the journal of a killed tool is not applied to the replacement file', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = (name: string): string => join(directory, name);
  await databaseOf(path('a'), ONE);
  {
    using database = DatabaseFile.open(path('a'), { cacheKiB: 64 });
    await database.transaction(() => {
      for (let i = 0; i < 200; i++) {
        database.put({ url: `u:${i}`, updateTime: 1, timeToLive: 1, soif: Buffer.alloc(10_000) });
      }
      // A kill at this moment leaves a partly changed file and the journal to roll it back.
      copyFileSync(path('a'), path('p'));
      copyFileSync(path('a-journal'), path('p-journal'));
    });
  }
  await databaseOf(path('automatic'), TWO);
  await databaseOf(path('manual'), BARE);
  await mergeDatabases(path('p'), path('automatic'), [path('manual')], { force: true });
  t.notOk(readdirSync(directory).includes('p-journal'));
  t.equal(contentOf(path('p')), TWO + BARE);
});

t.test('G-116: a file is replaced atomically, and what killed processes left is removed', async (t) => {
  const directory = await temporaryDirectory(t);
  // No process has this ID.
  writeFileSync(join(directory, '.p.new-999999999'), 'half');
  writeFileSync(join(directory, '.p.new-999999999-journal'), 'half');
  writeFileSync(join(directory, `.p.new-${process.ppid}`), 'file of a running process');
  await replaceFile(join(directory, 'p'), async (temporary) => writeFileSync(temporary, 'whole'));
  t.same(readdirSync(directory).sort(), [`.p.new-${process.ppid}`, 'p']);
  const missing = join(directory, 'no', 'p');
  await t.rejects(
    replaceFile(missing, async () => undefined),
    /cannot be read: ENOENT/,
  );
});

t.test('G-136: of two objects with one URL the newer is kept, the first if equally new', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = (name: string): string => join(directory, name);
  await databaseOf(path('a'), titled('u:1', 10, 'a'), titled('u:2', 20, 'a'), titled('u:3', 30, 'a'), BARE);
  await databaseOf(path('b'), titled('u:1', 11, 'b'), titled('u:2', 19, 'b'), titled('u:3', 30, 'b'));
  writeFileSync(path('c'), titled('http://h/bare', 1, 'c') + titled('u:4', 1, 'c'));
  using database = DatabaseFile.open(path('a'));
  t.same(await consolidate(database, [path('b'), path('c')]), { read: 5, added: 1, replaced: 2, kept: 2 });
  t.equal(
    contentOf(path('a')),
    titled('http://h/bare', 1, 'c') +
      titled('u:1', 11, 'b') +
      titled('u:2', 20, 'a') +
      titled('u:3', 30, 'a') +
      titled('u:4', 1, 'c'),
  );
});

t.test('G-134: cleandb deletes invalid objects and reports the reason', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  await databaseOf(path, ONE, BARE, '@FILE { http://h/t\nUpdate-Time{5}:\tnever\n}\n');
  using database = DatabaseFile.open(path);
  const raw = (url: string, text: string): void =>
    database.put({ url, updateTime: 1, timeToLive: 1, soif: Buffer.from(text) });
  raw('http://h/cut', ONE.slice(0, 30));
  raw('http://h/two', ONE + TWO);
  raw('http://h/other', ONE);
  raw('http://h/nothing', '');
  const deleted: string[] = [];
  const onDeleted = (url: string, reason: string): void => void deleted.push(`${url} ${reason}`);
  t.same(await cleanDatabase(database, { onDeleted }), { read: 7, deleted: 5, truncated: 0 });
  t.equal(contentOf(path), ONE + BARE);
  t.equal(deleted.length, 5);
  t.match(deleted[2], /^http:\/\/h\/other the object is about http:\/\/h\/1$/);
  t.match(deleted[3], /^http:\/\/h\/t .*\(SOIF-6\.1\)$/);
  t.same(
    await cleanDatabase(database, { complete: true }),
    { read: 2, deleted: 2, truncated: 0 },
    'SOIF-6.5',
  );
});

t.test('G-133, G-134: rmbinary and cleandb -truncate rewrite only what they change', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  const words = 'word\n'.repeat(1638);
  const long = `@FILE { http://h/long\nKeywords{8195}:\t${words}12345\n}\n`;
  const binary = '@FILE { http://h/bin\nTitle{5}:\tab\u0001cd\nData{4}:\t\u0001\u0002\u0003\u0004\n}\n';
  await databaseOf(path, ONE, long, binary);
  using database = DatabaseFile.open(path);
  t.same(await cleanDatabase(database, { truncate: true }), { read: 3, deleted: 0, truncated: 1 });
  t.same(await removeBinary(database), { read: 3, changed: 1 });
  t.equal(
    contentOf(path),
    `${ONE}@FILE { http://h/bin\nTitle{4}:\tabcd\n}\n@FILE { http://h/long\nKeywords{8190}:\t${words}\n}\n`,
  );
  t.same(await removeBinary(database), { read: 3, changed: 0 });
});

t.test('GATHERD-4.4, GATHERD-4.9: mkindex finds new, changed, refreshed and deleted objects', async (t) => {
  const directory = await temporaryDirectory(t);
  const production = join(directory, 'PRODUCTION.gdbm');
  await databaseOf(
    production,
    titled('u:same', 10, 'x'),
    titled('u:gone', 10, 'x'),
    titled('u:refresh', 10, 'x'),
  );
  await databaseOf(production, titled('u:change', 10, 'x'));
  t.same((await publishDirectory(directory, { now: 50 })).changes, {
    objects: 4,
    added: 4,
    changed: 0,
    refreshed: 0,
    deleted: 0,
  });
  {
    using database = DatabaseFile.open(production);
    database.delete('u:gone');
  }
  await databaseOf(
    production,
    titled('u:refresh', 20, 'x'),
    titled('u:change', 20, 'y'),
    titled('u:new', 5, 'z'),
  );
  const published = await publishDirectory(directory, { now: 60 });
  t.same(published.changes, { objects: 4, added: 1, changed: 1, refreshed: 1, deleted: 1 });
  t.equal(published.generation, 2);

  await using snapshot = await new Generations(join(directory, 'generations')).open();
  const { text } = await readExport(snapshot.exportSince(0));
  t.equal(
    text,
    titled('u:new', 5, 'z') +
      titled('u:same', 10, 'x') +
      titled('u:change', 20, 'y') +
      titled('u:refresh', 20, 'x'),
    'GATHERD-4.6 the order of the export',
  );
  const since = (await collect(snapshot.summariesSince(20))).flat();
  t.same(
    since.map(({ url, updateTime, contentTime }) => [url, updateTime, contentTime]),
    [
      ['u:change', 20, 20],
      ['u:refresh', 20, 10],
    ],
  );
  const deletions = (await collect(snapshot.deletionsSince(1))).flat();
  t.same(
    deletions.map(({ url, deletionTime }) => [url, deletionTime]),
    [['u:gone', 60]],
  );
});

t.test('mkindex makes a store equal to the database, whatever it was before', async (t) => {
  const directory = await temporaryDirectory(t);
  await using store = await GathererStore.open(join(directory, 'store'));
  const objects = fc.dictionary(
    fc.constantFrom('u:a', 'u:b', 'u:c', 'u:d', 'u:%C3%A9', 'u:f'),
    fc.record({ time: fc.integer({ min: 1, max: 5 }), title: fc.constantFrom('x', 'y') }),
  );
  let now = 100;
  await assertProperty(
    fc.asyncProperty(objects, async (model) => {
      now++;
      using database = DatabaseFile.open(join(directory, `${now}`), { create: true });
      const texts = Object.entries(model).map(([url, { time, title }]) => ({
        time,
        text: titled(url, time, title),
        url,
      }));
      const stream = readStream(Readable.from([Buffer.from(texts.map(({ text }) => text).join(''))]), 'test');
      if (texts.length > 0) await loadObjects(database, stream);
      const counts = await synchronize(database, store, { now });
      texts.sort((a, b) => a.time - b.time || Buffer.compare(Buffer.from(a.url), Buffer.from(b.url)));
      t.equal(counts.objects, texts.length);
      const stored = (await collect(store.summaries.iterate())).flat();
      t.equal(
        stored.map(({ soif }) => Buffer.from(soif).toString()).join(''),
        texts.map(({ text }) => text).join(''),
      );
    }),
    { numRuns: 30 },
  );
});

t.test('GATHERD-10.5: mkindex fails beside a Gatherer; without sources it publishes its store', async (t) => {
  const directory = await temporaryDirectory(t);
  await t.rejects(publishDirectory(directory, { now: 1 }), /nothing to export/);
  mkdirSync(join(directory, 'generations'));
  {
    await using working = await GathererStore.open(join(directory, 'working'));
    const soif = Buffer.from(ONE);
    await put(working, { url: 'http://h/1', updateTime: 1000, timeToLive: 50, soif });
    await t.rejects(publishDirectory(directory, { now: 1 }), /in use by this process$/);
  }
  const published = await publishDirectory(directory, { now: 1 });
  t.match(published, { generation: 1, objects: 1, source: join(directory, 'working') });
  await databaseOf(join(directory, 'PRODUCTION.gdbm'), TWO);
  t.match(await publishDirectory(directory, { now: 1 }), { generation: 2, changes: { added: 1 } });
});

t.test('GATHERD-13.9: mkindex adds the Gatherer identity to objects without one', async (t) => {
  const directory = await temporaryDirectory(t);
  await databaseOf(join(directory, 'PRODUCTION.gdbm'), BARE);
  const gatherer = { gathererName: 'N', gathererHost: 'h.example', gathererVersion: '1.8' };
  await publishDirectory(directory, { now: 1, gatherer });
  await using snapshot = await new Generations(join(directory, 'generations')).open();
  t.match((await readExport(snapshot.exportSince(0))).text, /Gatherer-Name\{1\}:\tN\n/);
  t.equal(contentOf(join(directory, 'PRODUCTION.gdbm')), BARE, 'the database is unchanged');
});

t.test('SOIF-2.9, G-139: objects are merged by the bytes of their URLs', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = (name: string): string => join(directory, name);
  writeFileSync(path('automatic'), '@FILE { http://h/caf\xe9{1}\nK{1}:\tk\n}\n', 'latin1');
  // An object with CR LF is not in the layout of writers, so it is encoded again.
  writeFileSync(path('manual'), '@FILE { http://h/caf\xe9{1}\r\nT{1}:\tm\r\n}\r\n', 'latin1');
  t.same(await mergeDatabases(path('p'), path('automatic'), [path('manual')]), {
    objects: 1,
    merged: 1,
    manualOnly: 0,
  });
  using database = DatabaseFile.open(path('p'));
  t.equal(
    Buffer.from(database.get('http://h/caf\xe9{1}')?.soif ?? []).toString('latin1'),
    '@FILE { http://h/caf\xe9{1}\nT{1}:\tm\nK{1}:\tk\n}\n',
  );
  t.equal(storedUrl('http://h/caf\u00e9{1}'), 'http://h/caf\xc3\xa9{1}', 'user input is UTF-8');
  t.match(
    await cleanDatabase(database),
    { read: 1, deleted: 0 },
    'the key of each record is the URL of its object',
  );
});
