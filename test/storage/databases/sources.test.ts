// The sources that the database tools read: GDBM files and dumps, SOIF streams, data directories, stores.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { DatabaseFile, openLookup, publishDirectory, readStream } from '../../../storage/databases/index.js';
import { GathererStore } from '../../../storage/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { put, summary } from '../helpers.js';
import { BARE, databaseOf, ONE, readAll, TWO, textOf, twoMembers, wrapped } from './helpers.js';

/**
 * The output of `gdbm_dump`, written by hand: two records with ONE and with BARE and a NUL, and `k3` with a
 * number.
 */
const DUMP = `# GDBM dump file created by GDBM version 1.23. 04/02/2022 on Sat Nov 21 15:34:36 2026
#:version=1.1
#:file=t.gdbm
#:format=standard
# End of header
#:len=10
aHR0cDovL2gvMQ==
#:len=76
QEZJTEUgeyBodHRwOi8vaC8xClVwZGF0ZS1UaW1lezR9OgkxMDAwClRpbWUtdG8tTGl2ZXsyfToJ
NTAKVGl0bGV7M306CW9uZQp9Cg==
#:len=13
aHR0cDovL2gvYmFyZQ==
#:len=40
QEZJTEUgeyBodHRwOi8vaC9iYXJlClRpdGxlezR9OgliYXJlCn0KAA==
#:len=2
azM=
#:len=4
MTIzNA==
#:count=3
# End of data
`;

/** Writes a shell script in place of gdbm_dump. */
function fakeDump(directory: string, script: string): string {
  const path = join(directory, 'dump.sh');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const GDBM_FILE = Buffer.concat([Buffer.from([0xcf, 0x9a, 0x57, 0x13]), Buffer.alloc(100)]);

t.test('G-135: an original GDBM database is read through gdbm_dump', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'PRODUCTION.gdbm');
  writeFileSync(path, GDBM_FILE);
  writeFileSync(join(directory, 'dump'), DUMP);
  const gdbmDump = fakeDump(directory, `[ "$1 $2" = "--format=ascii ${path}" ] && cat ${directory}/dump`);
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  t.equal(await readAll(path, { gdbmDump, onWarning }), ONE + BARE);
  t.match(warnings, [/k3: skipped/], 'a value that is not an object is skipped');
  t.equal(await readAll(join(directory, 'dump')), ONE + BARE, 'a dump file is read without the program');

  await t.rejects(
    readAll(path, { gdbmDump: join(directory, 'no-such-program') }),
    /which reads it, is not installed \(Debian: gdbmtool\)/,
  );
  const failing = fakeDump(directory, 'echo "gdbm_dump: cannot open" >&2; exit 1');
  await t.rejects(readAll(path, { gdbmDump: failing }), /cannot be read by .*gdbm_dump: cannot open/);
  writeFileSync(path, Buffer.concat([Buffer.from([0x13, 0x57, 0x9a, 0xcf]), Buffer.alloc(100)]));
  await t.rejects(readAll(path), /another byte order; dump it there/);
});

t.test('a dump with a wrong length, count or end is rejected', async (t) => {
  const directory = await temporaryDirectory(t);
  const cases: readonly [string, string, RegExp][] = [
    ['length', DUMP.replace('#:len=76', '#:len=77'), /does not have the 77 bytes/],
    ['huge', DUMP.replace('#:len=76', '#:len=999999999999999'), /does not have the 9{15} bytes/],
    ['count', DUMP.replace('#:count=3', '#:count=4'), /announces 4 records and has 3/],
    ['cut', DUMP.slice(0, 400), /does not have|ends too early/],
    ['end', DUMP.replace('# End of data\n', ''), /ends too early/],
    ['header', DUMP.replace('# End of header', 'x'), /only the text format is read/],
    ['binary', '!\r\n! GDBM FLAT FILE DUMP -- THIS IS NOT A TEXT FILE\r\n', /only the text format is read/],
    ['stray', DUMP.replace('#:len=10\n', ''), /data without a length/],
  ];
  for (const [name, text, message] of cases) {
    writeFileSync(join(directory, name), text);
    await t.rejects(readAll(join(directory, name)), message, name);
  }
  writeFileSync(
    join(directory, 'index'),
    `${DUMP.slice(0, DUMP.indexOf('#:len'))}#:len=2\nazM=\n#:len=4\nMTIzNA==\n#:count=1\n# End of data\n`,
  );
  await t.rejects(readAll(join(directory, 'index')), /none of its 1 records is a SOIF object/);
  writeFileSync(join(directory, 'whole'), DUMP);
  const warnings: string[] = [];
  const options = { maxObjectBytes: 60, onWarning: (message: string): void => void warnings.push(message) };
  t.equal(await readAll(join(directory, 'whole'), options), BARE, 'a value beyond the limit is skipped');
  t.match(warnings[0], /a record of http:\/\/h\/1 has more than 60 bytes/);
});

t.test('SOIF-8.9, GATHERD-10.2: a stream may be wrapped or compressed and arrive byte by byte', async (t) => {
  const directory = await temporaryDirectory(t);
  const text = wrapped({ deleted: ONE, refreshed: BARE, updated: TWO });
  const expected = `delete ${ONE}refresh ${BARE}${TWO}`;
  const streams: readonly [string, Buffer, string][] = [
    ['plain', Buffer.from(ONE + TWO), ONE + TWO],
    ['wrapped', Buffer.from(text), expected],
    ['gzip', gzipSync(text), expected],
    ['two members', twoMembers(text), expected],
    ['empty sections', Buffer.from(wrapped({})), ''],
    ['nothing', Buffer.alloc(0), ''],
  ];
  for (const [name, bytes, objects] of streams) {
    writeFileSync(join(directory, 'stream'), bytes);
    t.equal(await readAll(join(directory, 'stream')), objects, name);
    const byteStream = Readable.from([...bytes].map((byte) => Buffer.of(byte)));
    t.equal(await textOf(readStream(byteStream, 'test')), objects, `${name}, byte by byte`);
  }
  const warnings: string[] = [];
  const broken = Readable.from([Buffer.from(`Dear reader,\n${TWO}@FILE { http://h/x\nTitle{9}:\tcut`)]);
  await textOf(readStream(broken, 'test', { onWarning: (message) => void warnings.push(message) }));
  t.match(warnings.at(-1), /^test: .*SOIF-/, 'the warning names the rule');
  const dos = Readable.from([Buffer.from(ONE.replaceAll('}:\t', '}: '))]);
  t.equal(await textOf(readStream(dos, 'test')), ONE, 'another layout is converted');
});

t.test('anything that is not a source is rejected', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  await t.rejects(readAll(file('text', 'Dear reader,\nthere is nothing here.\n')), /has no SOIF object/);
  await t.rejects(readAll(file('cut.gz', gzipSync(ONE).subarray(0, 40))), /is broken gzip/);
  await t.rejects(
    readAll(file('bad.gz', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8]))),
    /broken gzip/,
  );
  await t.rejects(readAll(join(directory, 'none')), /there is no /);
  await t.rejects(readAll(directory), /without generations, PRODUCTION.gdbm or All-Templates.gz/);
});

t.test('G-140: a data directory and the original names in it are resolved', async (t) => {
  const directory = await temporaryDirectory(t);
  writeFileSync(join(directory, 'All-Templates.gz'), gzipSync(wrapped({ updated: BARE })));
  t.equal(await readAll(directory), BARE, 'All-Templates.gz is read if there is no other source');
  await databaseOf(join(directory, 'PRODUCTION.gdbm'), ONE, TWO);
  t.equal(await readAll(directory), ONE + TWO, 'PRODUCTION.gdbm is preferred to All-Templates.gz');
  await publishDirectory(directory, { now: 3000 });
  writeFileSync(join(directory, 'PRODUCTION.gdbm'), ONE);
  t.equal(await readAll(directory), ONE + TWO, 'the generations are preferred to PRODUCTION.gdbm');
  t.equal(await readAll(join(directory, 'generations')), ONE + TWO);
  t.equal(await readAll(join(directory, 'PRODUCTION.gdbm')), ONE, 'a path of a file reads this file');

  const gathererDirectory = join(directory, 'gatherer');
  mkdirSync(gathererDirectory);
  {
    await using store = await GathererStore.open(join(gathererDirectory, 'working'));
    await put(store, ...['http://w/1', 'http://w/2'].map((url) => summary(url, 7)));
    await store.publish(join(gathererDirectory, 'generations'));
    await store.batch().deleteSummary('http://w/2').commit();
  }
  t.match(
    await readAll(join(gathererDirectory, 'PRODUCTION.gdbm')),
    /w\/1[\s\S]*w\/2/,
    'without such a file the generations are read',
  );
  const working = await readAll(join(gathererDirectory, 'WORKING.gdbm'));
  t.match(working, /w\/1/, 'WORKING.gdbm is the working store');
  t.notMatch(working, /w\/2/);
  await t.rejects(readAll(join(gathererDirectory, 'INDEX.gdbm')), /there is no /);
});

t.test('every kind of source allows look-ups by URL', async (t) => {
  const directory = await temporaryDirectory(t);
  writeFileSync(join(directory, 'soif'), TWO + ONE + TWO.replace('two', 'due'));
  await using stream = await openLookup(join(directory, 'soif'));
  t.equal(stream.database.count, 2);
  t.match(
    Buffer.from(stream.database.get('http://h/2')?.soif ?? []).toString(),
    /due/,
    'the last object of a URL wins',
  );
  await databaseOf(join(directory, 'db'), ONE);
  await using file = await openLookup(join(directory, 'db'));
  t.equal(file.database.path, join(directory, 'db'), 'a database file is opened directly');
  t.throws(() => file.database.clear());
});

t.test('an aborted read rejects with the reason of the abort', async (t) => {
  const path = join(await temporaryDirectory(t), 'a');
  await databaseOf(path, ONE, TWO);
  const stop = new AbortController();
  stop.abort(new Error('stopped'));
  await t.rejects(readAll(path, { signal: stop.signal }), { message: 'stopped' });
  using database = DatabaseFile.open(path);
  t.equal(database.count, 2);
});
