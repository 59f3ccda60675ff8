// Database files of summaries: records, iteration, expiry, transactions, and files of other kinds.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import t from 'tap';
import { StateError, StorageError } from '../../../protocols/errors.js';
import { decodeSoif, SoifObject } from '../../../protocols/soif/index.js';
import {
  DatabaseFile,
  type DatabaseRecord,
  loadObjects,
  openSource,
  recordOf,
} from '../../../storage/databases/index.js';
import { pluck } from '../../helpers/pluck.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { BARE, contentOf, databaseOf, ONE, TWO } from './helpers.js';

/** Returns the record of an object. */
function record(soif: string): DatabaseRecord {
  const bytes = Buffer.from(soif);
  return recordOf(decodeSoif(bytes), bytes);
}

t.test('G-113: a record has the URL and the object in its wire format', async (t) => {
  const path = join(await temporaryDirectory(t), 'a.gdbm');
  using database = DatabaseFile.open(path, { create: true });
  for (const soif of [TWO, ONE, BARE]) database.put(record(soif));
  t.equal(database.count, 3);
  t.match(database.get('http://h/1'), { updateTime: 1000, timeToLive: 50 });
  t.match(
    database.get('http://h/2'),
    { updateTime: 2000, timeToLive: 2_419_200 },
    'SOIF-6.2: the default of four weeks',
  );
  t.equal(database.get('http://h/bare')?.updateTime, undefined);
  t.equal(database.get('http://h/3'), undefined);
  t.equal(Buffer.from(database.get('http://h/1')?.soif ?? []).toString(), ONE);
  database.put(record(ONE.replace('one', 'uno')));
  t.equal(database.count, 3, 'a second record of a URL replaces the first');
  t.ok(database.delete('http://h/1'));
  t.notOk(database.delete('http://h/1'));
  t.notOk(database.has('http://h/1'));
});

t.test('G-114, G-140: a closed database is one file, which can be renamed', async (t) => {
  const directory = await temporaryDirectory(t);
  await databaseOf(join(directory, 'a'), ONE, TWO);
  t.same(readdirSync(directory), ['a']);
  writeFileSync(join(directory, 'b'), readFileSync(join(directory, 'a')));
  t.equal(contentOf(join(directory, 'b')), ONE + TWO);
});

t.test('an iteration is in the byte order of URLs, in pages of bounded size, from any URL on', async (t) => {
  const directory = await temporaryDirectory(t);
  let fileNumber = 0;
  const urls = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), {
    maxLength: 60,
  });
  await assertProperty(
    fc.asyncProperty(urls, fc.integer({ min: 1, max: 400 }), async (names, pageBytes) => {
      const model = new Map<string, string>();
      using database = DatabaseFile.open(join(directory, `${fileNumber++}`), { create: true });
      await database.transaction(() => {
        for (const name of names) {
          const object = SoifObject.of('FILE', `http://h/${encodeURIComponent(name)}`, [['Title', name]]);
          database.put(recordOf(object));
          model.set(object.url, name);
        }
      });
      const order = [...model.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      t.same(pluck([...database.entries({ pageBytes })], 'url'), order);
      t.same([...database.urls()].flat(), order);
      const after = order[Math.floor(order.length / 2)] ?? '';
      t.same(
        pluck([...database.entries({ pageBytes, after })], 'url'),
        order.filter((url) => url > after),
      );
      for (const page of database.pages({ pageBytes })) {
        const bytes = page.reduce((sum, { soif }) => sum + soif.length, 0);
        t.ok(page.length === 1 || bytes <= pageBytes);
      }
    }),
    { numRuns: 25 },
  );
});

t.test('an iteration continues while records are deleted and replaced', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  using database = DatabaseFile.open(path, { create: true });
  await database.transaction(() => {
    for (let i = 0; i < 3000; i++) {
      database.put(
        recordOf(SoifObject.of('FILE', `http://h/${String(i).padStart(4, '0')}`, [['N', `${i}`]])),
      );
    }
  });
  let seen = 0;
  await database.transaction(() => {
    for (const { url } of database.entries({ pageBytes: 5000 })) {
      if (seen++ % 2 === 0) database.delete(url);
      else database.put(recordOf(SoifObject.of('FILE', url, [['N', 'again']])));
    }
  });
  t.equal(seen, 3000);
  t.equal(database.count, 1500);
});

t.test('G-103, SOIF-6.7, SOIF-6.8: expired records are deleted', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  const forever = '@FILE { http://h/0\nUpdate-Time{1}:\t1\nTime-to-Live{1}:\t0\n}\n';
  await databaseOf(path, ONE, TWO, BARE, forever);
  using database = DatabaseFile.open(path);
  t.equal(database.deleteExpired(1050), 0, 'at Update-Time + Time-to-Live a record is still valid');
  t.equal(database.deleteExpired(1051), 1);
  t.equal(database.deleteExpired(2000 + 2_419_200), 0, 'SOIF-6.2: four weeks by default');
  t.equal(database.deleteExpired(2001 + 2_419_200), 1);
  t.same(
    [...database.urls()].flat(),
    ['http://h/0', 'http://h/bare'],
    'a record with 0 or without Update-Time never expires',
  );
});

t.test('a transaction is atomic for the process and for other processes', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  await databaseOf(path, ONE);
  using database = DatabaseFile.open(path);
  using reader = DatabaseFile.open(path, { readOnly: true });
  await t.rejects(
    database.transaction(async () => {
      database.put(record(TWO));
      t.equal(reader.count, 1, 'other processes do not see the open transaction');
      await t.rejects(
        database.transaction(() => undefined),
        StateError,
      );
      throw new Error('no');
    }),
    { message: 'no' },
  );
  t.equal(database.count, 1);
  t.throws(() => reader.put(record(TWO)), StorageError, 'a reader does not write');
  await database.transaction(async () => {
    using other = DatabaseFile.open(path, { busyTimeoutMs: 1 });
    await t.rejects(
      other.transaction(() => undefined),
      /in use by another process/,
    );
    database.put(record(TWO));
  });
  t.equal(reader.count, 2);
  database.clear();
  database.reorganize();
  t.equal(database.count, 0);
});

t.test('a file of another kind is rejected with a message that names the kind', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const magic = (bytes: readonly number[]): Buffer => Buffer.concat([Buffer.from(bytes), Buffer.alloc(60)]);
  const cases: readonly [string, RegExp][] = [
    [file('soif', ONE), /is not a database file, but a text, perhaps a SOIF stream/],
    [file('gz', Buffer.from([0x1f, 0x8b, 8, 0])), /but a gzip file/],
    [file('gdbm', magic([0xcf, 0x9a, 0x57, 0x13])), /but an original GDBM database/],
    [file('gdbm-32', magic([0xce, 0x9a, 0x57, 0x13])), /but an original GDBM database/],
    [file('gdbm-other', magic([0x13, 0x57, 0x9a, 0xce])), /of a machine with another byte order/],
    [file('dump', '# GDBM dump file created by GDBM version 1.23.\n'), /the output of gdbm_dump/],
    [file('nothing', ''), /an empty file/],
    [directory, /is a directory/],
    [join(directory, 'missing'), /there is no /],
    [file('cut', 'SQLite format 3\0'), /is damaged/],
  ];
  for (const [path, message] of cases) t.throws(() => DatabaseFile.open(path), message);
  const foreign = join(directory, 'foreign');
  const other = new Database(foreign);
  other.exec('CREATE TABLE t(x)');
  other.close();
  t.throws(() => DatabaseFile.open(foreign), /a SQLite file, but not a database of summaries/);
  const newer = join(directory, 'newer');
  await databaseOf(newer, ONE);
  const raised = new Database(newer);
  raised.exec('PRAGMA user_version = 99');
  raised.close();
  t.throws(() => DatabaseFile.open(newer), /version 99/);
  t.notOk(readdirSync(directory).includes('missing'), 'a failed open creates no file');
});

t.test('SOIF-2.9: a URL is the key byte for byte; one that readers cut is named, left out', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  const urls = [
    'http://h/\xe9',
    'http://h/\xc3\xa9',
    'http://h/%C3%A9',
    'http://h/{',
    'http://h/%7B',
    'http://h/\xff',
  ];
  const objects = urls.map((url) => `@FILE { ${url}\nTitle{1}:\tx\n}\n`);
  const lost = ['@FILE { http://h/a\0b\nTitle{1}:\tx\n}\n', '@FILE { http://h/a b\nTitle{1}:\tx\n}\n'];
  const source = `${path}.soif`;
  writeFileSync(source, [...objects, ...lost].join(''), 'latin1');
  const warnings: string[] = [];
  {
    using database = DatabaseFile.open(path, { create: true });
    await loadObjects(database, openSource(source, { onWarning: (text) => warnings.push(text) }));
    t.equal(database.count, urls.length);
    for (const [i, url] of urls.entries())
      t.equal(Buffer.from(database.get(url)?.soif ?? []).toString('latin1'), objects[i], JSON.stringify(url));
    t.ok(database.delete('http://h/\xe9'));
    t.ok(database.has('http://h/\xc3\xa9'), 'the other spelling stays');
  }
  for (const name of ['http://h/a\\u0000b', 'http://h/a b'])
    t.ok(
      warnings.some((text) => text.includes(name) && text.includes('SOIF-2.9')),
      name,
    );
});
