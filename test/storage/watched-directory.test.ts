// The list of a data directory while its program runs, and after kill -9: what the program made, replaced and removed
// is known, so that anything else is named.
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { checkStores } from '../../storage/check/check.js';
import { readFileList } from '../../storage/files/file-list.js';
import { compareFiles } from '../../storage/files/list-files.js';
import { ListedDirectory, sealFiles } from '../../storage/files/listed-directory.js';
import { removeNoted } from '../../storage/files/note-change.js';
import { replaceContent, replaceFile } from '../../storage/files/replace-file.js';
import { WatchedFiles } from '../../storage/files/watched-files.js';
import { GathererStore } from '../../storage/index.js';
import { readLiveFiles } from '../../storage/level/verify/live-files.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { put as putSummaries, summary } from './helpers.js';

function put(directory: string, name: string, content = `the content of ${name}\n`): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), content);
}

/** What a check says. */
async function check(directory: string): Promise<string[]> {
  const list = await readFileList(directory);
  if (typeof list !== 'object') return [list === undefined ? 'FILES is missing' : `FILES ${list}`];
  return (await compareFiles(directory, list)).map(({ name, problem }) => `${name} ${problem}`);
}

/** A directory whose program runs. */
async function running(t: Test) {
  const directory = await temporaryDirectory(t);
  for (const name of [
    'web.log',
    'index/CURRENT',
    'index/1/state.json',
    'working/LENGTHS',
    'working/LOGIN-KEY',
    'reserve',
  ])
    put(directory, name);
  await sealFiles(directory);
  const sentences: string[] = [];
  const listed = await ListedDirectory.open(
    directory,
    (sentence) => sentences.push(sentence.replace(`${directory}/`, '')),
    readLiveFiles,
  );
  await listed.start();
  return { directory, listed, sentences };
}

/** As {@link running}, with what a run leaves; then it is killed. */
async function killed(t: Test): Promise<string> {
  const { directory, listed, sentences } = await running(t);
  put(directory, 'log.errors');
  appendFileSync(join(directory, 'web.log'), 'a line\n');
  put(directory, 'generations/1/SEAL');
  put(directory, 'crawl/warc/a.warc.gz');
  mkdirSync(join(directory, 'crawl', 'reports'));
  for (const round of [1, 2]) {
    await replaceContent(join(directory, 'index/1/state.json'), `state ${round}\n`);
    await replaceContent(join(directory, 'generations/CURRENT'), `${round}\n`);
    await replaceFile(
      join(directory, 'crawl/reports/hosts-report.txt'),
      async (draft) => writeFileSync(draft, `report ${round}\n`),
      { force: true },
    );
    await listed.look();
  }
  t.same(sentences, []);
  const copy = `${directory}-killed`;
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(directory, copy, { recursive: true });
  return copy;
}

const NAMES = [
  'web.log',
  'log.errors',
  'index/CURRENT',
  'index/1/state.json',
  'generations/CURRENT',
  'generations/1/SEAL',
  'crawl/warc/a.warc.gz',
  'crawl/reports/hosts-report.txt',
  'working/LOGIN-KEY',
  'reserve',
];

const DAMAGES: Readonly<Record<string, (path: string, bytes: Buffer) => void>> = {
  missing: (path) => rmSync(path),
  'cut by a byte': (path, bytes) => truncateSync(path, bytes.length - 1),
  empty: (path) => truncateSync(path, 0),
  'flipped at the begin': (path, bytes) => writeFileSync(path, flipped(bytes, 0)),
  'flipped at the end': (path, bytes) => writeFileSync(path, flipped(bytes, bytes.length - 1)),
  'an older version': (path, bytes) =>
    writeFileSync(path, bytes.toString('latin1').replace('2', '1').slice(0, -2)),
  'a directory': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  'a link': (path) => {
    rmSync(path);
    symlinkSync('/etc/hostname', path);
  },
};

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}

t.test('after kill -9 every file, damaged in every way, is named', async (t) => {
  const directory = await killed(t);
  t.same(await check(directory), [], 'the kill itself is no damage');
  for (const name of NAMES) {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    for (const [damage, make] of Object.entries(DAMAGES)) {
      make(path, bytes);
      t.match(await check(directory), [new RegExp(`^${name} `)], `${name}: ${damage}`);
      rmSync(path, { recursive: true, force: true });
      writeFileSync(path, bytes);
    }
    if (/log/.test(name)) continue;
    appendFileSync(path, 'x');
    t.match(await check(directory), [new RegExp(`^${name} `)], `${name}: longer`);
    writeFileSync(path, bytes);
  }
  rmSync(join(directory, 'working/LENGTHS'));
  t.same(await check(directory), ['working/LENGTHS is missing']);
});

t.test('an older version of a file that was replaced', async (t) => {
  const directory = await killed(t);
  writeFileSync(join(directory, 'index/1/state.json'), 'state 1\n');
  writeFileSync(join(directory, 'generations/CURRENT'), '1\n');
  t.same(
    await check(directory),
    ['generations/CURRENT is not as it was written', 'index/1/state.json is not as it was written'].sort(
      (a, b) => Number(a.startsWith('gen')) - Number(b.startsWith('gen')),
    ),
  );
});

t.test('after kill -9 a file that no program made is named', async (t) => {
  const directory = await killed(t);
  for (const name of ['unknown.bin', '999999.ldb', 'working/unknown', 'index/unknown', 'admin.old.txt']) {
    put(directory, name);
    t.same(await check(directory), [`${name} was added: it is not in the list of files`]);
    rmSync(join(directory, name));
  }
  for (const name of ['new.log', 'working/000009.ldb', 'generations/2/SUMS', 'broker.conf', 'web.log.1.gz'])
    put(directory, name);
  t.same(await check(directory), [], 'what a program may have made right before');
});

t.test('the list itself, cut off after kill -9', async (t) => {
  const directory = await killed(t);
  const path = join(directory, 'FILES');
  const bytes = readFileSync(path);
  for (let length = bytes.length - 1; length >= 0; length -= 1 + (length >> 3)) {
    truncateSync(path, length);
    t.match(
      await check(directory),
      [/^FILES (?:is damaged|was cut off)/],
      `${length} of ${bytes.length} bytes`,
    );
    writeFileSync(path, bytes);
  }
  for (let at = 0; at < bytes.length; at += 7) {
    writeFileSync(path, flipped(bytes, at));
    t.not((await check(directory)).length, 0, `a bit of byte ${at}`);
  }
});

t.test('what its programs do is no damage', async (t) => {
  const { directory, listed, sentences } = await running(t);
  renameSync(join(directory, 'web.log'), join(directory, 'web.log.1'));
  put(directory, 'web.log', 'a new log\n');
  put(directory, 'generations/1/SUMS');
  await listed.look();
  rmSync(join(directory, 'generations/1'), { recursive: true });
  put(directory, 'generations/2/SUMS');
  put(directory, 'index/1/index.sqlite');
  await listed.look();
  appendFileSync(join(directory, 'index/1/index.sqlite'), 'more');
  put(directory, 'admin/broker.conf');
  await removeNoted(join(directory, 'reserve'));
  await listed.look();
  await listed.look();
  t.same(sentences, []);
  t.same(await check(directory), []);
  await listed[Symbol.asyncDispose]();
  t.same(await check(directory), []);
});

t.test('damage while the program runs is reported, and named by a check after its end', async (t) => {
  const { directory, listed, sentences } = await running(t);
  put(directory, 'crawl/warc/a.warc.gz');
  await listed.look();
  await listed.look();
  rmSync(join(directory, 'web.log'));
  writeFileSync(join(directory, 'index/CURRENT'), '9\n');
  writeFileSync(join(directory, 'crawl/warc/a.warc.gz'), 'other');
  put(directory, 'working/unknown');
  await listed.look();
  await listed.look();
  const expected = [
    'crawl/warc/a.warc.gz has 5 bytes instead of 36',
    'index/CURRENT has 2 bytes instead of 29',
    'web.log is missing',
    'working/unknown was added: it is not in the list of files',
  ];
  t.same(sentences.toSorted(), expected);
  await listed[Symbol.asyncDispose]();
  t.same((await check(directory)).toSorted(), expected);
});

t.test('what was damaged while the program runs and is as it was is told, too', async (t) => {
  const { directory, listed, sentences } = await running(t);
  put(directory, 'crawl/warc/a.warc.gz');
  await listed.look();
  await listed.look();
  const damaged = ['crawl/warc/a.warc.gz', 'index/CURRENT', 'web.log', 'working/LENGTHS'];
  rmSync(join(directory, 'web.log'));
  rmSync(join(directory, 'working/LENGTHS'));
  writeFileSync(join(directory, 'index/CURRENT'), '9\n');
  writeFileSync(join(directory, 'crawl/warc/a.warc.gz'), 'other');
  put(directory, 'working/unknown');
  await listed.look();
  t.equal(sentences.length, 5);
  sentences.length = 0;
  await listed.look();
  t.same(sentences, []);
  for (const name of damaged) put(directory, name);
  rmSync(join(directory, 'working/unknown'));
  await listed.look();
  t.same(
    sentences.toSorted(),
    [...damaged, 'working/unknown'].map((name) => `${name} is whole again`),
  );
  writeFileSync(join(directory, 'index/CURRENT'), '9\n');
  await listed.look();
  t.match(sentences.at(-1), 'index/CURRENT has 2 bytes', 'damage of it is told again');
  put(directory, 'index/CURRENT');
  await listed.look();
  await listed[Symbol.asyncDispose]();
  t.same(await check(directory), []);
});

t.test('a list that is removed while the program runs is reported and written again', async (t) => {
  const { directory, listed, sentences } = await running(t);
  rmSync(join(directory, 'FILES'));
  await listed.look();
  t.same(sentences, ['FILES is missing']);
  t.same(await check(directory), []);
  await listed[Symbol.asyncDispose]();
});

t.test('after kill -9 a program replaces files before it has its own list', async (t) => {
  const directory = await killed(t);
  const sentences: string[] = [];
  await using listed = await ListedDirectory.open(
    directory,
    (sentence) => sentences.push(sentence),
    readLiveFiles,
  );
  // The list of the killed one is active.
  await replaceContent(join(directory, 'generations/CURRENT'), '3\n');
  await listed.start();
  await listed.look();
  t.same(sentences, []);
  t.same(await check(directory), []);
});

t.test('changes without a note, as on a full disk, are found later and are no damage', async (t) => {
  const { directory, listed, sentences } = await running(t);
  mkdirSync(join(directory, 'generations'));
  await replaceContent(join(directory, 'generations/CURRENT'), '1\n');
  await listed.look();
  // What a note that cannot be written leaves.
  const path = join(directory, 'FILES');
  writeFileSync(path, readFileSync(path, 'latin1').replace('1 active', '1 opened'), 'latin1');
  await replaceContent(join(directory, 'generations/CURRENT'), '2\n');
  for (let look = 0; look < 3; look++) await listed.look();
  t.same(sentences, []);
  t.same(await check(directory), []);
  writeFileSync(join(directory, 'generations/CURRENT'), '3\n');
  t.not((await check(directory)).length, 0, 'from then on it is known');
  await listed[Symbol.asyncDispose]();
});

t.test('a directory is read again after many times the time that its files took', async (t) => {
  const { directory } = await running(t);
  put(directory, 'crawl/warc/a.warc.gz');
  let now = 0;
  // Each directory takes a millisecond.
  const watched = new WatchedFiles(directory, new Map(), new Map(), readLiveFiles, () => now++);
  for (const _ of [1, 2, 3]) t.same(await watched.look(true), []);
  rmSync(join(directory, 'crawl/warc/a.warc.gz'));
  rmSync(join(directory, 'web.log'));
  t.same(await watched.look(), [{ name: 'web.log', problem: 'is missing' }], 'the others at once');
  now += 1000;
  t.same(await watched.look(), [{ name: 'crawl/warc/a.warc.gz', problem: 'is missing' }]);
});

t.test('the files of an open store that LevelDB still needs, or has written, are named', async (t) => {
  const directory = await temporaryDirectory(t);
  const working = join(directory, 'working');
  await sealFiles(directory);
  const sentences: string[] = [];
  const listed = await ListedDirectory.open(
    directory,
    (sentence) => sentences.push(sentence.replace(`${directory}/`, '')),
    readLiveFiles,
  );
  const open = async () => await GathererStore.open(working, { writeBufferBytes: 1 << 16 });
  {
    await using store = await open();
    await put100(store, 0);
  }
  await using store = await open();
  await put100(store, 100);
  await listed.start();
  for (const _ of [1, 2]) await listed.look();
  t.same(sentences, []);
  const names = readdirSync(working).filter((name) =>
    /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:ldb|log))$/.test(name),
  );
  t.ok(names.length >= 4, names.join(' '));
  const copy = `${directory}-killed`;
  t.teardown(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(directory, copy, { recursive: true, preserveTimestamps: true });
  for (const name of names) {
    const path = join(copy, 'working', name);
    const bytes = readFileSync(path);
    for (const damaged of [bytes.subarray(0, -1), flipped(bytes, bytes.length - 1), flipped(bytes, 4)]) {
      writeFileSync(path, damaged);
      const said = await checked(copy);
      t.ok(
        said.some((sentence) => sentence.includes(name)),
        `${name}: ${said.join('; ')}`,
      );
    }
    rmSync(path);
    t.ok(
      (await checked(copy)).some((sentence) => sentence.includes(name)),
      `${name} is missing`,
    );
    writeFileSync(path, bytes);
  }
  t.same(await checked(copy), [], 'sound at the end');

  // While it is open, too.
  for (const name of names.filter((name) => name !== 'CURRENT')) {
    const path = join(working, name);
    writeFileSync(path, flipped(readFileSync(path), 4));
  }
  rmSync(join(working, 'CURRENT'));
  await listed.look();
  for (const name of names)
    t.ok(
      sentences.some((sentence) => sentence.includes(`working/${name} `)),
      name,
    );
});

/** What a check of all stores says. */
async function checked(directory: string): Promise<string[]> {
  const said: string[] = [];
  for await (const { problems } of checkStores(directory)) for (const problem of problems) said.push(problem);
  return said;
}

/** Stores summaries, which become a table when the store is opened again. */
async function put100(store: GathererStore, from: number): Promise<void> {
  const summaries = Array.from({ length: 100 }, (_, i) =>
    summary(`http://${from + i}.test/`, 1000, `summary ${from + i}`),
  );
  await putSummaries(store, ...summaries);
}
