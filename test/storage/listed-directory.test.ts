// The list of the files of a data directory: any damage is named, before and after a program that was killed, and what
// programs and people do is not a damage.
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openFileList, readFileList } from '../../storage/files/file-list.js';
import { compareFiles } from '../../storage/files/list-files.js';
import { ListedDirectory, sealFiles } from '../../storage/files/listed-directory.js';
import { readLiveFiles } from '../../storage/level/verify/live-files.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';

const NAMES = [
  'working/CURRENT',
  'working/000005.ldb',
  'working/LOGIN-KEY',
  'generations/CURRENT',
  'generations/1/SUMS',
  'index/1/state.json',
  'admin/broker.conf',
  'crawl/logs/crawl.log.cp00001-20261129',
  'log.errors',
  'web.log',
];

function fill(directory: string): void {
  for (const name of NAMES) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), `the content of ${name}`);
  }
}

/** What a check says. */
async function check(directory: string): Promise<string[]> {
  const list = await readFileList(directory);
  if (list === undefined) return ['FILES is missing'];
  if (typeof list === 'string') return [`FILES ${list}`];
  const changed = await compareFiles(directory, list);
  return changed.map(({ name, problem }) => `${name} ${problem}`);
}

/** What a program says that starts, and ends in good order. */
async function start(directory: string): Promise<string[]> {
  const sentences: string[] = [];
  await using listed = await ListedDirectory.open(
    directory,
    (sentence) => sentences.push(sentence),
    readLiveFiles,
  );
  await listed.start();
  return sentences.map((sentence) => sentence.replace(`${directory}/`, ''));
}

/** Damages a file. */
const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  missing: (path) => rmSync(path),
  cut: (path) => truncateSync(path, 5),
  empty: (path) => truncateSync(path, 0),
  flipped: (path) => {
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(path, bytes);
  },
  zeros: (path) => writeFileSync(path, Buffer.alloc(readFileSync(path).length)),
  swapped: (path) => copyFileSync(join(path, '..', '..', 'other'), path),
};

t.test('every file, damaged in every way, is named by the check', async (t) => {
  const directory = await temporaryDirectory(t);
  fill(directory);
  for (const place of ['', 'working', 'generations', 'index', 'crawl', 'admin', 'generations/1'])
    writeFileSync(join(directory, place, 'other'), 'the content of anotherfile');
  await sealFiles(directory);
  t.same(await check(directory), []);
  for (const name of [...NAMES, 'FILES']) {
    const path = join(directory, name);
    const bytes = readFileSync(path);
    for (const [damage, make] of Object.entries(DAMAGES)) {
      if (damage === 'swapped' && (!name.includes('/') || name.split('/').length > 2)) continue;
      make(path);
      const found = await check(directory);
      t.match(found, [new RegExp(`^${name} `)], `${name}: ${damage}`);
      writeFileSync(path, bytes);
    }
  }
  for (const name of ['unknown.bin', 'working/999999.ldb', 'generations/1/unknown', 'crawl/new/unknown']) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), 'x');
    t.same(await check(directory), [`${name} was added: it is not in the list of files`]);
    rmSync(join(directory, name));
  }
  t.same(await check(directory), []);
});

t.test('logs may grow, and what systems and processes leave is no damage', async (t) => {
  const directory = await temporaryDirectory(t);
  fill(directory);
  await sealFiles(directory);
  appendFileSync(join(directory, 'log.errors'), 'a line of another process');
  appendFileSync(join(directory, 'web.log'), 'a line');
  for (const name of ['gatherd.log', 'gatherd.pid', '.nfs0001', 'working/LOG', 'readers'])
    writeFileSync(join(directory, name), 'x');
  t.same(await check(directory), []);
  writeFileSync(join(directory, 'log.errors'), 'another beginning of the file, as long as the former one');
  t.same(await check(directory), ['log.errors is not as it was written']);
});

t.test(
  'a start says what a check says, except for what people edit, and lists what there is then',
  async (t) => {
    const directory = await temporaryDirectory(t);
    t.same(await start(directory), [], 'a new directory');
    fill(directory);
    rmSync(join(directory, 'FILES'));
    t.match(await start(directory), [/^FILES is missing, as in the data of an earlier version/]);
    t.same(await start(directory), []);
    rmSync(join(directory, 'generations/CURRENT'));
    appendFileSync(join(directory, 'admin/broker.conf'), 'edited');
    truncateSync(join(directory, 'working/LOGIN-KEY'), 0);
    t.same(await start(directory), [
      'generations/CURRENT is missing',
      'working/LOGIN-KEY has 0 bytes instead of 32',
    ]);
    t.same(await check(directory), []);
    t.same(await start(directory), []);
  },
);

t.test('a program that does not start changes no list', async (t) => {
  const directory = await temporaryDirectory(t);
  fill(directory);
  await sealFiles(directory);
  rmSync(join(directory, 'working/CURRENT'));
  {
    await using _listed = await ListedDirectory.open(directory, () => undefined, readLiveFiles);
  }
  t.same(await check(directory), ['working/CURRENT is missing']);
});

t.test(
  'after a program that was killed, files that never change are compared, the key must be there',
  async (t) => {
    const directory = await temporaryDirectory(t);
    fill(directory);
    await sealFiles(directory);
    const killed = `${directory}-killed`;
    t.teardown(() => rmSync(killed, { recursive: true, force: true }));
    await openFileList(directory);
    cpSync(directory, killed, { recursive: true });
    // What a run does.
    rmSync(join(killed, 'generations/1'), { recursive: true });
    writeFileSync(join(killed, 'generations/CURRENT'), '2\n');
    writeFileSync(join(killed, 'working/000007.ldb'), 'new');
    renameSync(join(killed, 'web.log'), join(killed, 'web.log.1'));
    t.same(await check(killed), []);
    truncateSync(join(killed, 'working/000005.ldb'), 3);
    rmSync(join(killed, 'working/LOGIN-KEY'));
    t.same(await check(killed), [
      'working/000005.ldb has 3 bytes instead of 33',
      'working/LOGIN-KEY is missing',
    ]);
  },
);

t.test(
  'a file that nothing touched is not read again, so that its damage is noticed later, too',
  async (t) => {
    const directory = await temporaryDirectory(t);
    fill(directory);
    await sealFiles(directory);
    const list = await readFileList(directory);
    t.ok(typeof list === 'object');
    if (typeof list !== 'object') return;
    const listed = new Map(list.files);
    listed.set('web.log', { ...listed.get('web.log')!, crc32: 1 });
    await sealFiles(directory, listed);
    t.same(await check(directory), ['web.log is not as it was written']);
  },
);
