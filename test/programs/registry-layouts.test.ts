// REG-34: one layout of objects in everything that the kit writes, any layout in what it reads; imports that
// import nothing fail.
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { objectPath, oidOfPath } from '../../servers/broker/index.js';
import { BrokerStore } from '../../storage/index.js';
import { ObjectFiles } from '../../storage/indexers/glimpse/object-files.js';
import { objectFilePath } from '../../storage/original-registry/index.js';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { words } from '../helpers/words.js';
import { handFile, handRecord } from '../storage/original-registry/helpers.js';
import { LAYOUTS, objectOf, writeObjects, writeOriginal } from '../storage/original-registry/takeover.js';

// Each test starts processes, which takes long on a busy machine.
const OBJECTS = 57;

t.test('REG-34: exported directories, 125 URLs, pages and engines have one layout', async (t) => {
  const files = new ObjectFiles('/o/objects', '/o/scratch');
  for (const oid of [1, 99, 100, 1217, 4_294_967_295]) {
    const name = `objects/${oid % 100}/OBJ${oid}`;
    t.equal(objectFilePath('/o', oid), `/o/${name}`, 'an exported directory');
    t.equal(files.pathOf(oid), `/o/${name}`, 'the files of Glimpse');
    t.equal(objectPath('b', oid), `/Harvest/brokers/b/${name}`, 'a 125 URL, and the page of an object');
    t.equal(oidOfPath('b', `/Harvest/brokers/b/${name}`), oid);
  }
  t.equal(oidOfPath('b', '/Harvest/brokers/b/objects/1/OBJ1217'), undefined);
  t.equal(oidOfPath('b', '/Harvest/brokers/b/objects/96/OBJ4294967296'), undefined);
});

t.test('REG-34: the files of an engine in an earlier layout are moved to their places', async (t) => {
  const top = await temporaryDirectory(t);
  const files = new ObjectFiles(join(top, 'objects'), top);
  for (const [name, text] of Object.entries({ '1/OBJ1217': 'old', '0/OBJ5': 'old', '0/OBJ100': 'kept' })) {
    mkdirSync(join(top, 'objects', name, '..'), { recursive: true });
    writeFileSync(join(top, 'objects', name), text);
  }
  await files.write(5, Buffer.from('new'));
  await files.moveIntoPlace();
  t.same([...(await files.all()).toArray()], [5, 100, 1217]);
  for (const oid of [5, 100, 1217]) t.ok(existsSync(files.pathOf(oid)), `object ${oid}`);
  t.same(readdirSync(join(top, 'objects', '0')), ['OBJ100']);
});

t.test('REG-34: import and check find the objects in every layout', async (t) => {
  const top = await temporaryDirectory(t);
  await Promise.all(
    Object.entries(LAYOUTS).map(async ([name, layout], i) => {
      const from = writeObjects(join(top, `from-${i}`), OBJECTS, layout);
      const data = join(top, `data-${i}`);
      const imported = await cli('registry', 'import', '--from', from, '--data', data);
      t.match(
        imported,
        { code: 0, stderr: '', stdout: /^registry import: 57 imported, 0 known, 0 sk/ },
        name,
      );
      t.match(await cli('registry', 'check', from), { code: 0, stdout: / 0 problems/ }, name);
      await using store = await BrokerStore.open(join(data, 'store'), { create: false });
      t.equal(store.count, OBJECTS, name);
    }),
  );
});

t.test('REG-34: links are followed, once; of several files of an object the right one counts', async (t) => {
  const top = await temporaryDirectory(t);
  const from = writeObjects(join(top, 'from'), 3, LAYOUTS['number modulo 100']);
  renameSync(join(from, 'objects', '2'), join(top, 'other-disk'));
  symlinkSync(join(top, 'other-disk'), join(from, 'objects', '2'));
  symlinkSync('..', join(from, 'objects', '1', 'loop'));
  writeOriginal(from, handFile([1, 2, 3].map((oid) => handRecord(oid))), {
    // An older copy, one about another URL in the place, and the right one deeper.
    'backup/OBJ1': objectOf(1, { 'Update-Time': '700000000', Title: 'old copy' }),
    '3/OBJ3': objectOf(9),
    'deep/er/OBJ3': objectOf(3),
  });
  const { code, stdout, stderr } = await cli(
    ...words`registry import --from ${from} --data ${join(top, 'data')}`,
  );
  t.equal(code, 0, stderr);
  t.match(stdout, /3 imported, 0 known, 0 skipped, 0 missing/);
  t.match(stderr, /backup\/OBJ1 is one of several files of object 1/);
  await using store = await BrokerStore.open(join(top, 'data', 'store'), { create: false });
  const [first] = await store.objects([1]);
  t.match(Buffer.from(first!).toString(), /object 1/);
});

t.test('REG-34: an import of nothing is a failure with status 1', async (t) => {
  const top = await temporaryDirectory(t);
  const cases: Record<string, readonly [() => string, RegExp]> = {
    'no files': [
      () => writeOriginal(join(top, 'a'), handFile([handRecord(1), handRecord(2)]), {}),
      /0 of 2 objects imported from .*: 2 have no file OBJ<number> below objects/,
    ],
    'files with other names': [
      () => writeObjects(join(top, 'b'), OBJECTS, (oid) => `SUMMARY${oid}`),
      /0 of 57 objects imported from .*: 57 have no file/,
    ],
    'all are skipped': [
      () => writeOriginal(join(top, 'c'), handFile([handRecord(1)]), { OBJ1: Buffer.from('x') }),
      /0 of 1 objects imported from .*: 1 were skipped/,
    ],
    'an empty Registry beside objects': [
      () => writeOriginal(join(top, 'd'), handFile([]), { OBJ1: objectOf(1), OBJ2: objectOf(2) }),
      /the Registry names none, but there are 2 object files; `harvest registry repair`/,
    ],
    'an unknown version': [
      () => writeOriginal(join(top, 'e'), handFile([handRecord(1)], undefined, 9), { OBJ1: objectOf(1) }),
      /records of version 9 are not known \(REG-9\); `harvest registry repair`/,
    ],
  };
  for (const [name, [write, message]] of Object.entries(cases)) {
    const data = join(top, 'data', name);
    const { code, stdout, stderr } = await cli('registry', 'import', '--from', write(), '--data', data);
    t.equal(code, 1, name);
    t.equal(stdout, '', name);
    t.match(stderr, message, name);
    t.notOk(existsSync(join(top, 'data')), `${name}: no directory is left`);
  }
  const empty = writeOriginal(join(top, 'empty'), handFile([]), {});
  const nothing = await cli('registry', 'import', '--from', empty, '--data', join(top, 'fresh'));
  t.match(nothing, { code: 0, stdout: /^registry import: 0 imported/ }, 'there is nothing to import');
  const from = writeObjects(join(top, 'known'), 3);
  for (const counts of [/3 imported, 0 known/, /0 imported, 3 known/]) {
    const again = await cli('registry', 'import', '--from', from, '--data', join(top, 'fresh'));
    t.match(again, { code: 0, stdout: counts });
  }
});
