// Takeover of damaged directories of original Brokers: repair and check agree, and no object is lost silently.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { KitError } from '../../protocols/errors.js';
import { BrokerStore } from '../../storage/index.js';
import { checkRegistry, importRegistry, repairRegistry } from '../../storage/original-registry/index.js';
import { cli } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { EXAMPLE, handFile, handRecord } from '../storage/original-registry/helpers.js';
import { LAYOUTS, objectOf, writeOriginal } from '../storage/original-registry/takeover.js';

const OBJECTS = 12;
const OIDS = Array.from({ length: OBJECTS }, (_, i) => i + 1);
const registryOf = (directory: string): string => join(directory, 'admin', 'Registry');

/** A directory with 12 objects and a deleted one. */
function write(directory: string, layout = LAYOUTS['two levels']!): string {
  const records = [...OIDS.map((oid) => handRecord(oid)), handRecord(13, { flag: 2 })];
  return writeOriginal(
    directory,
    handFile(records),
    Object.fromEntries(OIDS.map((oid) => [layout(oid), objectOf(oid)])),
  );
}

function withVersion(bytes: Buffer, version: number): Buffer {
  bytes.writeUInt32BE(version, 4);
  return bytes;
}

/** The URLs of the objects that an import of the directory stores. */
async function importedFrom(t: Test, directory: string, told: string[] = []): Promise<Set<string>> {
  const store = join(await temporaryDirectory(t), 'store');
  const counts = await importRegistry(directory, store, { onWarning: (line) => told.push(line) });
  await using opened = await BrokerStore.open(store, { create: false });
  const urls = new Set<string>();
  for await (const page of opened.all()) for (const { url } of page) urls.add(url);
  if (urls.size !== counts.imported) throw new Error(`${counts.imported} counted, ${urls.size} stored`);
  return urls;
}

t.test('REG-9, REG-35, REG-38, REG-39: repair ends with 0 if check does; no object is lost', async (t) => {
  const zeros = (bytes: Buffer, from: number, length: number) => bytes.fill(0, from, from + length);
  const size = handRecord(1).length;
  const cases: Record<string, (bytes: Buffer) => Buffer> = {
    'a doubled OID': () => handFile([...OIDS, 3].map((oid) => handRecord(oid))),
    'an OID of another object': () =>
      handFile(OIDS.map((oid) => handRecord(oid === 5 ? 3 : oid, { url: `http://a/${oid}` }))),
    'an OID that no file has': () =>
      handFile(OIDS.map((oid) => handRecord(oid === 5 ? 4_000_000_000 : oid, { url: `http://a/${oid}` }))),
    'the OID 0': () =>
      handFile(OIDS.map((oid) => handRecord(oid === 5 ? 0 : oid, { url: `http://a/${oid}` }))),
    'version 9': (bytes) => withVersion(bytes, 9),
    'version 2 instead of 1': (bytes) => withVersion(bytes, 2),
    'an emptied URL': () => handFile(OIDS.map((oid) => handRecord(oid, oid === 5 ? { url: '' } : {}))),
    'another URL': () => handFile(OIDS.map((oid) => handRecord(oid, oid === 5 ? { url: 'http://a/x' } : {}))),
    'a zero block': (bytes) => zeros(bytes, 20 + 2 * size + 7, 2 * size),
    'a zero block at the end': (bytes) => zeros(bytes, bytes.length - 3 * size, 3 * size),
    'a zeroed header': (bytes) => zeros(bytes, 0, 20),
    'a zeroed file': (bytes) => zeros(bytes, 0, bytes.length),
    'an empty file': () => Buffer.alloc(0),
    'no header': (bytes) => bytes.subarray(20),
    'half a header': (bytes) => bytes.subarray(0, 9),
    'a header only': () => handFile([]),
    'another file': () => Buffer.from('GDBM and more bytes than a header has, but no records at all'),
    'a cut record': (bytes) => bytes.subarray(0, bytes.length - size - 5),
  };
  const top = await temporaryDirectory(t);
  for (const [name, damage] of Object.entries(cases)) {
    const directory = write(join(top, 'original'));
    const damaged = damage(readFileSync(registryOf(directory)));
    writeFileSync(registryOf(directory), damaged);
    t.ok((await checkRegistry(registryOf(directory), {}, directory)).problems > 0, `${name}: found`);
    const repaired = await repairRegistry(registryOf(directory), {}, directory);
    t.equal(repaired.remaining, 0, `${name}: repaired`);
    t.equal((await checkRegistry(registryOf(directory), {}, directory)).problems, 0, `${name}: check agrees`);
    t.same(readFileSync(repaired.kept ?? ''), damaged, `${name}: the old file is kept`);
    t.equal((await importedFrom(t, directory)).size, OBJECTS, `${name}: all objects`);
    rmSync(directory, { recursive: true });
  }
});

t.test('the exit statuses of check and repair agree; what cannot be repaired ends with 1', async (t) => {
  const top = await temporaryDirectory(t);
  const directory = write(join(top, 'original'));
  const path = registryOf(directory);
  writeFileSync(path, '');
  t.match(await cli('registry', 'check', directory), { code: 1 });
  t.match(await cli('registry', 'repair', '--dry-run', directory), { code: 1 }, 'nothing is repaired');
  t.equal(readFileSync(path).length, 0);
  t.match(await cli('registry', 'repair', path), { code: 0, stdout: / 0 remaining, 12 rebuilt/ });
  t.match(await cli('registry', 'check', path), { code: 0 });
  // Another version without the layout of this one, and no objects.
  const bare = join(top, 'Registry');
  writeFileSync(bare, handFile([Buffer.concat([EXAMPLE.subarray(0, 40)])], undefined, 9));
  t.match(await cli('registry', 'repair', bare), { code: 1, stderr: /problems remain/ });
  t.match(await cli('registry', 'check', bare), { code: 1 });
  // All object files are gone, e.g. not mounted: the records stay, and the status says so.
  rmSync(join(directory, 'objects'), { recursive: true });
  const before = readFileSync(path);
  t.match(await cli('registry', 'repair', directory), { code: 1, stderr: /12 problems remain/ });
  t.same(readFileSync(path), before);
});

t.test('REG-38: files of deleted records and files without an object are set aside, not lost', async (t) => {
  const directory = write(join(await temporaryDirectory(t), 'original'));
  writeOriginal(directory, readFileSync(registryOf(directory)), {
    OBJ13: objectOf(13),
    'x/OBJ20': Buffer.from('?'),
  });
  const repaired = await repairRegistry(registryOf(directory), {}, directory);
  t.match(repaired, { setAside: 2, remaining: 0, rebuilt: 0 });
  t.same(readdirSync(join(directory, 'unreferenced')).sort(), ['OBJ13', 'OBJ20']);
  t.equal((await importedFrom(t, directory)).size, OBJECTS);
});

/** A generator of numbers that a seed repeats. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

/** Flips, truncates, duplicates or zeroes a part of some bytes. */
function damageOf(bytes: Buffer, random: (below: number) => number): Buffer {
  if (bytes.length === 0) return Buffer.from([random(256)]);
  const at = random(bytes.length);
  const length = 1 + random(Math.min(bytes.length - at, 150));
  switch (random(4)) {
    case 0:
      bytes[at] = bytes[at]! ^ (1 << random(8));
      return bytes;
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
    default:
      return bytes.fill(0, at, at + length);
  }
}

t.test('random damage: repair and check agree, counts are true, no whole object is lost', async (t) => {
  const top = await temporaryDirectory(t);
  const layouts = Object.values(LAYOUTS);
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomOf(seed);
    const layout = layouts[random(layouts.length)]!;
    const directory = write(join(top, 'original'), layout);
    const lost = new Set<number>();
    for (let n = 1 + random(3); n > 0; n--) {
      const path = registryOf(directory);
      writeFileSync(path, damageOf(readFileSync(path), random));
    }
    if (random(3) === 0) {
      const oid = 1 + random(OBJECTS);
      const path = join(directory, 'objects', layout(oid));
      lost.add(oid);
      if (random(2) === 0) rmSync(path);
      else truncateSync(path, random(60));
    }
    const before = join(top, 'before');
    cpSync(directory, before, { recursive: true });
    try {
      const path = registryOf(directory);
      const found = (await checkRegistry(path, {}, directory)).problems;
      const repaired = await repairRegistry(path, {}, directory);
      const after = (await checkRegistry(path, {}, directory)).problems;
      if (repaired.problems !== found) throw new Error(`check finds ${found}, repair ${repaired.problems}`);
      if (repaired.remaining !== after || after !== 0)
        throw new Error(`${repaired.remaining} remain, check: ${after}`);
      const told: string[] = [];
      const urls = await importedFrom(t, directory, told);
      for (const oid of OIDS) {
        if (lost.has(oid) || urls.has(`http://a/${oid}`)) continue;
        // A flipped flag looks like a deletion that was interrupted: the file is kept beside.
        if (existsSync(join(directory, 'unreferenced', `OBJ${oid}`))) continue;
        // A record with an unknown flag is kept as it is, and told (REG-14).
        if (
          told.some((line) => /unknown flag/.test(line)) &&
          told.some((line) => line.includes(`object ${oid} `))
        )
          continue;
        throw new Error(`object ${oid} is lost: ${told.join('; ')}`);
      }
      await importUnrepaired(t, before);
    } catch (error) {
      t.fail(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`);
    }
    rmSync(directory, { recursive: true });
    rmSync(before, { recursive: true });
  }
  t.notOk(existsSync(join(top, 'original')));
});

/**
 * Imports a damaged directory: it fails with a sentence, or each object is counted, and each that is missing
 * was told.
 */
async function importUnrepaired(t: Test, directory: string): Promise<void> {
  const told: string[] = [];
  const store = join(await temporaryDirectory(t), 'store');
  try {
    const counts = await importRegistry(directory, store, { onWarning: (line) => told.push(line) });
    const files = readdirSync(join(directory, 'objects'), { recursive: true }).filter((name) =>
      /OBJ\d+$/.test(String(name)),
    );
    const missing = files.length - counts.imported;
    if (missing > told.length) throw new Error(`${missing} objects missing, ${told.length} told`);
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
  }
}
