// Export and import of an original Broker's directory, by the library and by the commands.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { StorageError } from '../../protocols/errors.js';
import { decodeSoif } from '../../protocols/soif/index.js';
import { BrokerStore, type RegistryEntry } from '../../storage/index.js';
import {
  checkRegistry,
  exportRegistry,
  importRegistry,
  RegistryFile,
} from '../../storage/original-registry/index.js';
import { cli, jsonLines } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { soif } from '../storage/helpers.js';
import { EXAMPLE, handFile, handRecord, u32 } from '../storage/original-registry/helpers.js';

// Each test starts processes, which takes long on a busy machine.
const BOOKKEEPING = {
  'Gatherer-Name': 'G',
  'Gatherer-Host': 'h',
  'Gatherer-Version': '1.0',
  'Update-Time': '800000000',
};

/** Stores objects; in a new store their OIDs are 1, 2, ... */
async function fill(store: BrokerStore, objects: readonly Buffer[]): Promise<void> {
  await store.apply(objects.map((bytes) => ({ kind: 'update' as const, object: decodeSoif(bytes), bytes })));
}

/** Reads the objects of a Broker without the times at which its copies changed. */
async function contentOf(directory: string): Promise<unknown[]> {
  await using store = await BrokerStore.open(join(directory, 'store'), { create: false });
  const all: unknown[] = [];
  for await (const page of store.all()) {
    const objects = await store.objects(page.map(({ oid }) => oid));
    page.forEach((entry: RegistryEntry, i) => {
      const { changed: _changed, contentChanged: _content, ...rest } = entry;
      all.push({ ...rest, bytes: Buffer.from(objects[i] ?? []).toString('latin1') });
    });
  }
  return all;
}

/** Writes the directory of an original Broker. Returns its path. */
function writeOriginal(
  directory: string,
  registry: Buffer,
  objects: Readonly<Record<number, Buffer>>,
): string {
  mkdirSync(join(directory, 'admin'), { recursive: true });
  writeFileSync(join(directory, 'admin', 'Registry'), registry);
  for (const [oid, bytes] of Object.entries(objects)) {
    const folder = join(directory, 'objects', String(Number(oid) % 100));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `OBJ${oid}`), bytes);
  }
  return directory;
}

/** Creates the data directory of a Broker with 102 objects and two removed ones. */
async function createBroker(t: Test): Promise<{ readonly root: string; readonly data: string }> {
  const root = await temporaryDirectory(t);
  const data = join(root, 'data');
  mkdirSync(join(data, 'admin'), { recursive: true });
  await using store = await BrokerStore.open(join(data, 'store'));
  const latin = Buffer.from(soif('http://a/latin', { ...BOOKKEEPING, Description: 'caf?' }));
  latin[latin.indexOf('caf?') + 3] = 0xe9;
  await fill(store, [
    soif('http://a/x', BOOKKEEPING),
    soif('http://a/y', {
      ...BOOKKEEPING,
      MD5: 'ABCDEF',
      Description: 'about y',
      'Time-to-Live': '99999999999',
    }),
    latin,
    ...Array.from({ length: 100 }, (_, i) =>
      soif(`http://a/many/${i}`, { ...BOOKKEEPING, Title: `number ${i}` }),
    ),
    soif('http://a/gone', BOOKKEEPING),
  ]);
  await store.remove([50, 104]);
  return { root, data };
}

t.test('3.3, REG-4, REG-22, REG-33 to REG-36: export writes an original directory', async (t) => {
  const { root, data } = await createBroker(t);
  const to = join(root, 'original');
  await using store = await BrokerStore.open(join(data, 'store'));
  const counts = await exportRegistry(store, join(data, 'store'), to);
  t.same(counts, { objects: 102, skipped: 0, unreferenced: 0, filesCopied: 0 });
  const registry = readFileSync(join(to, 'admin', 'Registry'));
  t.same(registry.subarray(0, 20), u32(0x48425247, 1, 103, 1, 102));
  t.same(registry.subarray(20, 20 + EXAMPLE.length), EXAMPLE, 'the example of the specification');
  t.ok(registry.includes(Buffer.concat([u32(6), Buffer.from('abcdef'), u32(7), Buffer.from('about y')])));
  t.ok(registry.includes(u32(2, 800_000_000, 0, 604_800, 4_294_967_295)), 'REG-22: clamped');
  t.ok(registry.includes(Buffer.from('\0\0\0\x04caf\xe9', 'latin1')), 'REG-4: bytes as received');
  t.same(readFileSync(join(to, 'objects', '1', 'OBJ1')), soif('http://a/x', BOOKKEEPING));
  t.ok(existsSync(join(to, 'objects', '0', 'OBJ100')));
  t.notOk(existsSync(join(to, 'objects', '50', 'OBJ50')));
  await using file = await RegistryFile.open(join(to, 'admin', 'Registry'));
  t.equal(file.nextOid, 105, 'REG-35: a used OID is not assigned again');
  await t.rejects(
    exportRegistry(store, join(data, 'store'), to),
    StorageError,
    'existing targets are refused',
  );
  await store.remove([7]);
  const again = await exportRegistry(store, join(data, 'store'), to, { force: true });
  t.same(
    again,
    { objects: 101, skipped: 0, unreferenced: 1, filesCopied: 0 },
    'REG-38: the file of a removed object is unreferenced',
  );
});

t.test('REG-35, REG-40, REG-50: an imported export gives the same objects, however it is read', async (t) => {
  const { root, data } = await createBroker(t);
  const before = await contentOf(data);
  t.equal(before.length, 102);
  const kinds = [
    [1, 'a'],
    [1, 'c'],
    [2, 'b'],
  ] as const;
  for (const [version, reading] of kinds) {
    const to = join(root, `original-${version}-${reading}`);
    const back = join(root, `back-${version}-${reading}`);
    {
      await using store = await BrokerStore.open(join(data, 'store'));
      await exportRegistry(store, join(data, 'store'), to, { version, reading });
    }
    t.match(await checkRegistry(join(to, 'admin', 'Registry'), {}, to), { version, reading, problems: 0 });
    mkdirSync(back);
    const counts = await importRegistry(to, join(back, 'store'));
    t.match(counts, { imported: 102, known: 0, skipped: 0, missing: 0, notValid: 1, unreferenced: 0 });
    t.same(await contentOf(back), before);
    await using store = await BrokerStore.open(join(back, 'store'));
    await fill(store, [soif('http://a/new', BOOKKEEPING)]);
    t.equal((await store.byUrl('http://a/new'))[0]?.oid, 105, 'REG-35: the next OID');
  }
  const ids = readFileSync(join(root, 'original-2-b', 'admin', 'Gatherer-Ids'), 'latin1');
  t.equal(ids, '1\tG\th\t1.0\n');
});

t.test('REG-37, REG-38, REG-40, REG-45: objects that cannot be imported are reported', async (t) => {
  const root = await temporaryDirectory(t);
  const { 'Gatherer-Host': _, ...bare } = BOOKKEEPING;
  const from = writeOriginal(
    join(root, 'original'),
    handFile([
      handRecord(1),
      handRecord(2),
      handRecord(3),
      handRecord(4),
      handRecord(5, { flag: 2 }),
      handRecord(6, { flag: 9 }),
      handRecord(7),
      handRecord(8, { url: 'http://a/1' }),
    ]),
    {
      1: soif('http://a/1', { ...BOOKKEEPING, 'Update-Time': '700000000', Title: 'refreshed since' }),
      3: soif('http://a/3', bare),
      4: soif('http://a/other', BOOKKEEPING),
      7: Buffer.from('no object'),
      8: soif('http://a/1', BOOKKEEPING),
      99: soif('http://a/99', BOOKKEEPING),
    },
  );
  const warnings: string[] = [];
  const options = { onWarning: (sentence: string) => warnings.push(sentence) };
  const counts = await importRegistry(from, join(root, 'store'), options);
  t.same(counts, { imported: 1, known: 0, skipped: 4, missing: 1, notValid: 2, unreferenced: 1 });
  for (const sentence of [
    /^object 2 has no file \(REG-38\)$/,
    /^object 3: skipped: no readable Gatherer-Host \(REG-40\)$/,
    /^object 4: skipped: its file is about http:\/\/a\/other, its record about http:\/\/a\/4$/,
    /^object 7: skipped: its file has no object/,
    /^object 8: skipped: object 1 is about http:\/\/a\/1 too, and not older \(REG-45\)$/,
    /^the file of object 99 has no valid record \(REG-38\)$/,
  ]) {
    t.ok(
      warnings.some((line) => sentence.test(line)),
      sentence.source,
    );
  }
  await using store = await BrokerStore.open(join(root, 'store'));
  t.match(
    await store.entries.get(1),
    { updateTime: 800_000_000, url: 'http://a/1' },
    'the time of the Registry',
  );
  const [bytes] = await store.objects([1]);
  t.match(decodeSoif(bytes!).text('Title'), 'refreshed since');
  t.same((await checkRegistry(join(from, 'admin', 'Registry'), {}, from)).problems, 4);
});

t.test('REG-35: an import that was interrupted is run again', async (t) => {
  const root = await temporaryDirectory(t);
  const oids = Array.from({ length: 40 }, (_, i) => i + 1);
  const objects = Object.fromEntries(oids.map((oid) => [oid, soif(`http://a/${oid}`, BOOKKEEPING)]));
  const from = writeOriginal(join(root, 'original'), handFile(oids.map((oid) => handRecord(oid))), objects);
  rmSync(join(from, 'objects', '30', 'OBJ30'));
  t.match(await importRegistry(from, join(root, 'store')), { imported: 39, missing: 1 });
  writeFileSync(join(from, 'objects', '30', 'OBJ30'), objects[30]!);
  t.match(await importRegistry(from, join(root, 'store')), { imported: 1, known: 39, missing: 0 });
  const controller = new AbortController();
  controller.abort();
  const aborted = importRegistry(from, join(root, 'other'), { signal: controller.signal });
  await t.rejects(aborted, { name: 'AbortError' });
  t.match(
    await importRegistry(from, join(root, 'other')),
    { imported: 40 },
    'the aborted import leaves no lock and no partial state',
  );
  const other = writeOriginal(join(root, 'another'), handFile([handRecord(5, { url: 'http://b/' })]), {
    5: soif('http://b/', BOOKKEEPING),
  });
  await t.rejects(
    importRegistry(other, join(root, 'other')),
    { message: /^0 of 1 objects imported from .*: 1 were skipped$/ },
    'an OID that is in use is skipped',
  );
  const damaged = handFile([handRecord(1), handRecord(2)]);
  damaged.writeUInt32BE(0, 24);
  writeOriginal(other, damaged, {});
  await t.rejects(importRegistry(other, join(root, 'third')), StorageError);
});

t.test('REG-37: an export that was interrupted leaves nothing, and is run again', async (t) => {
  const { root, data } = await createBroker(t);
  const to = join(root, 'original');
  await using store = await BrokerStore.open(join(data, 'store'));
  const controller = new AbortController();
  let written = 0;
  const onObject = () => {
    if (++written === 50) controller.abort();
  };
  const exporting = exportRegistry(store, join(data, 'store'), to, { signal: controller.signal, onObject });
  await t.rejects(exporting, { name: 'AbortError' });
  t.notOk(existsSync(to), 'nothing of it is left');
  t.match(await exportRegistry(store, join(data, 'store'), to), { objects: 102, unreferenced: 0 });
});

t.test('REG-1, REG-17 to REG-20, REG-32, REG-41: the commands registry and dumpregistry', async (t) => {
  const { root, data } = await createBroker(t);
  writeFileSync(join(data, 'admin', 'broker.conf'), 'Broker-Port 8501\n');
  writeFileSync(join(data, 'admin', 'LAST-COLLECTION'), 'h 8501 5 800000000\n');
  const to = join(root, 'original');
  const exported = await cli('registry', 'export', '--data', data, '--to', to, '--json');
  t.match(exported, { code: 0, stderr: '' });
  t.same(JSON.parse(exported.stdout), { objects: 102, skipped: 0, unreferenced: 0, filesCopied: 2 });
  t.equal(readFileSync(join(to, 'admin', 'broker.conf'), 'latin1'), 'Broker-Port 8501\n');

  const [counted, dumped, ours, checked, nothing] = await Promise.all([
    cli('dumpregistry', '-count', to),
    cli('dumpregistry', to),
    cli('dumpregistry', data),
    cli('registry', 'check', to),
    cli('registry', 'check', root),
  ]);
  t.equal(counted.stdout, 'Records: 103\nValid: 102\nDeleted: 1\n');
  t.equal(
    dumped.stdout.slice(0, dumped.stdout.indexOf('\n\n')),
    'OID: 1\nURL: http://a/x\nGatherer-Name: G\nGatherer-Host: h\nGatherer-Version: 1.0\nUpdate-Time: 800000000\n' +
      'Last-Modification-Time: 0\nRefresh-Rate: 604800\nTime-to-Live: 2419200\nMD5:\nDescription:',
  );
  t.equal(dumped.stdout.replace('4294967295', '99999999999'), ours.stdout, 'the same as of the kit');
  t.match(checked, { code: 0, stdout: /^registry check: version 1, reading a, 0 problems, 0 lost/ });

  const registry = join(to, 'admin', 'Registry');
  const bytes = readFileSync(registry);
  bytes.writeUInt32BE(0, 24);
  writeFileSync(registry, bytes);
  const [found, refused] = await Promise.all([
    cli('registry', 'check', '--json', registry),
    cli('dumpregistry', to),
  ]);
  t.equal(found.code, 1);
  t.match(jsonLines(found.stdout)[0], { rule: 'REG-15', offset: 20 });
  t.match(refused, { code: 1, stdout: '', stderr: /REG-15/ });
  const repaired = await cli('registry', 'repair', to, '--json');
  t.match(jsonLines(repaired.stdout).at(-1), { problems: 1, lost: 0, valid: 102 });

  const back = join(root, 'back');
  const imported = await cli('registry', 'import', '--from', to, '--data', back);
  t.match(imported, { code: 0, stdout: /102 imported, 0 known, 0 skipped, .* 2 files copied\n$/ });
  t.same(await contentOf(back), await contentOf(data));
  t.match(nothing, { code: 1, stderr: /^registry check: .* is not a broker's directory/ });
  const none = join(root, 'none');
  t.match(await cli('registry', 'import', '--from', root, '--data', none), { code: 1, stdout: '' });
  t.notOk(existsSync(none), 'a failed import leaves no directory');
});

t.test(
  'REG-8, REG-15: a Registry with other magic numbers is read when they are given, as the messages say',
  async (t) => {
    const root = temporaryDirectory(t);
    const directory = await root;
    const path = join(directory, 'Registry');
    const bytes = handFile([EXAMPLE]);
    const [whole, records] = [Buffer.from(bytes), Buffer.from(bytes)];
    whole.writeUInt32BE(0xcafe0001, 0);
    whole.writeUInt32BE(0x52454344, 24);
    records.writeUInt32BE(0x11223344, 24);
    const remedy =
      'if another broker wrote it, give its numbers: --magic 0xcafe0001 --record-magic 0x52454344';

    writeFileSync(path, whole);
    const [dumped, counted, given, checked] = await Promise.all([
      cli('dumpregistry', path),
      cli('dumpregistry', '-count', path),
      cli('dumpregistry', '--magic', '0xcafe0001', '--record-magic', '0x52454344', path),
      cli('registry', 'check', path),
    ]);
    const sentence = `dumpregistry: ${path}: not a Registry: it begins with 0xcafe0001, not 0x48425247 ("HBRG"); ${remedy} (REG-8)\n`;
    t.match(dumped, { code: 1, stdout: '', stderr: sentence });
    t.match(counted, { code: 1, stdout: '', stderr: sentence });
    t.match(given, { code: 0, stderr: '', stdout: /^OID: / });
    t.match(checked, { code: 1, stderr: `registry check: ${path}: ${remedy}\n` });

    writeFileSync(path, records);
    const other = await cli('dumpregistry', path);
    t.match(other.stderr, /a record's magic number is 0x11223344, not 0x48425252 \("HBRR"\)/);
    t.match(other.stderr, /if another broker wrote it, give its numbers: --record-magic 0x11223344/);

    const middle = handFile([handRecord(1), handRecord(2), handRecord(3)]);
    middle.writeUInt32BE(9, 20 + handRecord(1).length + 4);
    writeFileSync(path, middle);
    const damaged = await cli('dumpregistry', path);
    t.match(damaged, { code: 1, stdout: /^OID: / });
    t.match(
      damaged.stderr,
      /; `harvest registry check` lists what is damaged, `harvest registry repair` mends it/,
    );

    const original = writeOriginal(join(path, '..', 'original'), whole, {});
    const imported = await cli('registry', 'import', '--from', original, '--data', join(path, '..', 'data'));
    t.match(imported, {
      code: 1,
      stderr: /^registry import: .*Registry: not a Registry: .*--record-magic 0x52454344/,
    });

    writeFileSync(path, 'GDBM and more than twenty bytes');
    t.match((await cli('dumpregistry', path)).stderr, /begins with 0x4744424d \("GDBM"\)/);
    const version = Buffer.from(bytes);
    version.writeUInt32BE(9, 4);
    writeFileSync(path, version);
    t.match(await cli('dumpregistry', path), {
      code: 1,
      stdout: '',
      stderr: `dumpregistry: ${path}: records of version 9 are not known (REG-9)\n`,
    });
  },
);
