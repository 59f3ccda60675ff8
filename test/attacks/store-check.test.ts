// `harvest store check` finds what no checksum covers: the pointer to the newest generation, and things that
// are not files.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkStores } from '../../storage/check/check.js';
import { sealFiles } from '../../storage/files/listed-directory.js';
import { GathererStore, Generations } from '../../storage/index.js';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { summary } from '../storage/helpers.js';

/** Every problem and advice. */
async function check(directory: string): Promise<string> {
  let found = '';
  for await (const { problems, advice } of checkStores(directory))
    for (const problem of problems) found += `${problem}; ${advice}\n`;
  return found;
}

async function publishThree(directory: string): Promise<string> {
  const generations = join(directory, 'generations');
  await using store = await GathererStore.open(join(directory, 'store'));
  for (let round = 0; round < 3; round++) {
    const batch = store.batch();
    batch.putSummary(summary(`http://${round}.test/`, 1000 + round));
    await batch.commit();
    await store.publish(generations);
  }
  return generations;
}

t.test('CURRENT of the generations', async (t) => {
  const directory = await temporaryDirectory(t);
  const generations = await publishThree(directory);
  const pointer = join(generations, 'CURRENT');
  t.equal(await check(directory), '');
  writeFileSync(pointer, '2\n');
  t.equal(await check(directory), '', 'a crash before the file is written');
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['missing', () => undefined, /CURRENT is missing/],
    ['empty', () => writeFileSync(pointer, ''), /CURRENT does not contain a generation's number/],
    [
      'an older number',
      () => writeFileSync(pointer, '1\n'),
      /CURRENT names generation 1, the newest one is 3/,
    ],
    [
      'a later number',
      () => writeFileSync(pointer, '9\n'),
      /CURRENT names generation 9, the newest one is 3/,
    ],
    ['a directory', () => mkdirSync(pointer), /CURRENT cannot be read: .*not a regular file/],
    ['a FIFO', () => execFileSync('mkfifo', [pointer]), /CURRENT cannot be read: .*not a regular file/],
    ['a loop of links', () => symlinkSync(pointer, pointer), /CURRENT cannot be read: ELOOP/],
  ];
  for (const [name, make, says] of cases) {
    rmSync(pointer, { recursive: true, force: true });
    make();
    const found = await check(directory);
    t.match(found, says, name);
    t.match(found, /`rm -rf \S+CURRENT`/, name);
    rmSync(pointer, { recursive: true, force: true });
    await using snapshot = await new Generations(generations).open();
    t.equal(snapshot.count, 3, 'after the command the newest generation is served');
  }
  writeFileSync(pointer, '');
  const says = /DAMAGED \(generations.*\n {2}CURRENT .*\n {2}What to do: /;
  t.match(await cli('store', 'check', directory), { code: 1, stdout: says });
});

t.test('a FIFO in the place of any file of a store', async (t) => {
  const directory = await temporaryDirectory(t);
  const generations = await publishThree(directory);
  for (const place of [join(directory, 'store'), join(generations, '3')]) {
    for (const name of readdirSync(place)) {
      if (/^(?:LOCK|LOG|LOG\.old|LENGTHS)$/.test(name)) continue;
      const path = join(place, name);
      const bytes = readFileSync(path);
      rmSync(path);
      execFileSync('mkfifo', [path]);
      t.match(await check(directory), /regular file; (?:`harvest store repair|the next publication)/, path);
      rmSync(path);
      writeFileSync(path, bytes);
    }
  }
});

t.test('a table that was added beside the list of files is named, and hides no store', async (t) => {
  const directory = await temporaryDirectory(t);
  await publishThree(directory);
  await sealFiles(directory);
  t.equal(await check(directory), '');
  for (const name of ['999999.ldb', 'store/999999.ldb', 'generations/3/999999.ldb']) {
    writeFileSync(join(directory, name), 'strange');
    t.match(await check(directory), `${name} was added`);
    rmSync(join(directory, name));
  }
  rmSync(join(directory, 'store', 'SEAL'));
  t.match(await check(directory), 'store/SEAL is missing');
});
