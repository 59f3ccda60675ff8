// The file format of the original Registry: changes, compression, crashes, checks and repair.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { ProtocolError, StateError, StorageError } from '../../../protocols/errors.js';
import type { RegistryReading } from '../../../protocols/registry/index.js';
import { RECORD_STATES } from '../../../protocols/registry/states.js';
import {
  checkRegistry,
  isCompressionDue,
  type LocatedRecord,
  type OpenRandomFile,
  openRandomFile,
  RegistryFile,
  type RegistryProblem,
  repairRegistry,
} from '../../../storage/original-registry/index.js';
import { assertProperty } from '../../helpers/property.js';
import { rowsOf, watchTable } from '../../helpers/state-machine.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { handFile, handRecord, recordOf } from './helpers.js';

const LENGTH = handRecord(1).length;

/** Returns the OIDs of the records in a state. */
async function oidsOf(path: string, state = 'valid'): Promise<number[]> {
  await using registry = await RegistryFile.open(path);
  const oids: number[] = [];
  for await (const entry of registry.records()) if (entry.state === state) oids.push(entry.record?.oid ?? 0);
  return oids;
}

async function located(registry: RegistryFile): Promise<LocatedRecord[]> {
  const found: LocatedRecord[] = [];
  for await (const entry of registry.records()) found.push(entry);
  return found;
}

/** Checks a file; returns the summary, the problems, and their rules. */
async function check(path: string, reading?: RegistryReading) {
  const problems: RegistryProblem[] = [];
  const options = reading === undefined ? {} : { reading };
  const summary = await checkRegistry(path, {
    ...options,
    onProblem: (problem) => void problems.push(problem),
  });
  return { ...summary, rules: problems.map(({ rule }) => rule), found: problems };
}

t.test('hint 1, REG-23, REG-24, REG-25: writing, deleting, changing keep counts, order, bytes', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  {
    await using registry = await RegistryFile.create(path);
    t.same(readFileSync(path), handFile([]));
    const offsets = await registry.append([recordOf(1), recordOf(2), recordOf(3)]);
    t.same(offsets, [20, 20 + LENGTH, 20 + 2 * LENGTH]);
    t.same(readFileSync(path), handFile([handRecord(1), handRecord(2), handRecord(3)]));
    t.equal(await registry.markDeleted(offsets[1]!), true);
    t.equal(await registry.markDeleted(offsets[1]!), false, 'the record is no longer valid');
    await registry.change(offsets[0]!, recordOf(4));
    t.same(registry.counts, { records: 4, deleted: 2, valid: 2 });
    t.equal(registry.nextOid, 5, 'REG-35');
    await t.rejects(registry.markDeleted(21), ProtocolError, 'no record starts there');
  }
  const expected = handFile([
    handRecord(1, { flag: 2 }),
    handRecord(2, { flag: 2 }),
    handRecord(3),
    handRecord(4),
  ]);
  t.same(readFileSync(path), expected);
  t.same(await oidsOf(path), [3, 4]);
  await using reader = await RegistryFile.open(path);
  t.same(reader.problems, []);
  await t.rejects(reader.append([recordOf(9)]), StateError, 'the file is open read-only');
  await t.rejects(RegistryFile.create(path), StorageError, 'the file exists');
});

t.test('hint 2, REG-14, REG-21, REG-26, REG-28: compress keeps order, flags, trailing bytes', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'Registry');
  const kept = [handRecord(1, { rest: 'more' }), handRecord(3, { flag: 9 }), handRecord(4)];
  writeFileSync(path, handFile([kept[0]!, handRecord(2, { flag: 2 }), kept[1]!, kept[2]!]));
  await using registry = await RegistryFile.open(path, { writable: true });
  t.same(registry.counts, { records: 4, deleted: 1, valid: 2 });
  t.equal(await registry.compress(), 1);
  t.same(readFileSync(path), handFile(kept));
  await registry.append([recordOf(5)]);
  t.same(readFileSync(path), handFile([...kept, handRecord(5)]), 'later appends go to the new file');
  t.same(readdirSync(directory), ['Registry']);
});

t.test('REG-27: compression is due when half of the records, and at least 100, are deleted', async (t) => {
  t.equal(isCompressionDue({ records: 200, deleted: 100, valid: 100 }), true);
  t.equal(isCompressionDue({ records: 201, deleted: 100, valid: 101 }), false);
  t.equal(isCompressionDue({ records: 99, deleted: 99, valid: 0 }), false);
  t.equal(isCompressionDue({ records: 1000, deleted: 100, valid: 900 }, 10), true);
});

t.test('hint 4, REG-13: the reading (a, b or c) of a file is detected', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  for (const [reading, counted] of [
    ['a', 0],
    ['b', 12],
    ['c', 8],
  ] as const) {
    for (const oids of [[1], [1, 2, 3]]) {
      writeFileSync(path, handFile(oids.map((oid) => handRecord(oid, { counted }))));
      await using registry = await RegistryFile.open(path, { writable: true });
      t.equal(registry.reading, reading);
      await registry.append([recordOf(9)]);
      t.same(readFileSync(path), handFile([...oids, 9].map((oid) => handRecord(oid, { counted }))));
    }
  }
});

t.test('hint 5, REG-6, REG-10: wrong counts are reported, and corrected by a writer', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const records = [handRecord(1), handRecord(2, { flag: 2 }), handRecord(3, { flag: 5 })];
  writeFileSync(path, handFile(records, [7, 0, 7]));
  {
    await using reader = await RegistryFile.open(path);
    t.match(reader.problems, [{ rule: 'REG-10' }]);
  }
  t.same(readFileSync(path), handFile(records, [7, 0, 7]), 'a reader writes nothing');
  await (await RegistryFile.open(path, { writable: true })).close();
  t.same(readFileSync(path), handFile(records, [3, 1, 1]));
});

t.test('hint 5, REG-29: a file truncated at any byte opens with its complete records', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const records = [handRecord(1), handRecord(2, { flag: 2 }), handRecord(3)];
  const whole = handFile(records);
  for (let length = 0; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    if (length < 20) {
      await t.rejects(RegistryFile.open(path, { writable: true }), ProtocolError);
      continue;
    }
    await (await RegistryFile.open(path, { writable: true })).close();
    const complete = Math.floor((length - 20) / LENGTH);
    t.same(readFileSync(path), handFile(records.slice(0, complete)), `truncated at ${length}`);
  }
});

t.test('REG-15: a damaged file is read up to the damage and not written', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const bytes = handFile([handRecord(1), handRecord(2), handRecord(3)]);
  bytes.writeUInt32BE(0, 20 + LENGTH + 4);
  writeFileSync(path, bytes);
  await t.rejects(RegistryFile.open(path, { writable: true }), StorageError);
  t.same(readFileSync(path), bytes);
  await using reader = await RegistryFile.open(path);
  const seen: number[] = [];
  const walk = async () => {
    for await (const { record } of reader.records()) seen.push(record?.oid ?? 0);
  };
  await t.rejects(walk(), { name: 'ProtocolError', rule: 'REG-15', offset: 20 + LENGTH });
  t.same(seen, [1]);
});

/** Opens files that fail like after a power failure when `budget.bytes` bytes are written. */
function failingAfter(budget: { bytes: number }): OpenRandomFile {
  return async (path, mode) => {
    const file = await openRandomFile(path, mode);
    const write = async (bytes: Uint8Array, position: number): Promise<void> => {
      const written = bytes.subarray(0, Math.max(0, budget.bytes));
      budget.bytes -= bytes.length;
      if (written.length > 0) await file.write(written, position);
      if (written.length < bytes.length) throw new Error('power failure');
    };
    // A killed process cannot truncate the file either.
    const truncate = (length: number) => (budget.bytes < 0 ? Promise.resolve() : file.truncate(length));
    return { ...file, write, truncate };
  };
}

t.test('REG-25, REG-28, REG-29: after a kill at any byte of any write no change is lost', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'Registry');
  let finished = false;
  for (let bytes = 0; !finished; bytes++) {
    writeFileSync(path, handFile([handRecord(1), handRecord(2)]));
    const registry = await RegistryFile.open(path, { writable: true, open: failingAfter({ bytes }) });
    let resolved = 0;
    try {
      await registry.append([recordOf(3)]);
      resolved = 1;
      await registry.markDeleted(20);
      resolved = 2;
      await registry.change(20 + LENGTH, recordOf(4));
      resolved = 3;
      await registry.compress();
      finished = true;
    } catch (error) {
      if (!(error instanceof Error) || error.message !== 'power failure') throw error;
    }
    await registry.close();
    await using repaired = await RegistryFile.open(path, { writable: true });
    const valid: number[] = [];
    for await (const { state, record } of repaired.records())
      if (state === 'valid') valid.push(record?.oid ?? 0);
    const oids = valid.join(' ');
    const allowed = [['1 2', '1 2 3'], ['1 2 3', '2 3'], ['2 3', '2 3 4', '3 4'], ['3 4']][resolved] ?? [];
    if (!allowed.includes(oids)) t.fail(`after ${bytes} bytes and ${resolved} changes: ${oids}`);
    if ((await check(path)).problems > 0) t.fail(`after ${bytes} bytes: the file has problems`);
  }
  t.same(readFileSync(path), handFile([handRecord(3), handRecord(4)]));
  t.same(readdirSync(directory), ['Registry']);
});

t.test('REG-15, REG-38: check reports each problem with its offset and rule', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  writeFileSync(path, handFile([handRecord(1), handRecord(2)]));
  t.match(await check(path), { problems: 0, lost: 0, reading: 'a', version: 1 });
  writeFileSync(
    path,
    handFile([handRecord(1), handRecord(1), handRecord(0), handRecord(5, { url: '' })], [1, 1, 1]),
  );
  t.same((await check(path)).rules, ['REG-35', 'REG-35', 'REG-39', 'REG-10']);
  const short = handRecord(2).subarray(0, LENGTH - 3);
  short.writeUInt32BE(short.length - 12, 0);
  writeFileSync(path, handFile([handRecord(1), short, handRecord(3)]));
  t.match((await check(path)).found[0], { rule: 'REG-21', offset: 20 + LENGTH, lost: LENGTH - 3 });
  writeFileSync(path, 'GDBM');
  t.match((await check(path)).found[0], { rule: 'REG-5', offset: 4 });
  writeFileSync(path, handFile([], undefined, 7));
  t.same((await check(path)).rules, ['REG-9']);
});

/** Writes a number of 32 bits into bytes and returns them. */
function with32(bytes: Buffer, offset: number, value: number): Buffer {
  bytes.writeUInt32BE(value, offset);
  return bytes;
}

t.test('REG-15: repair keeps every readable record', async (t) => {
  const directory = await temporaryDirectory(t);
  const path = join(directory, 'Registry');
  const records = [1, 2, 3, 4].map((oid) => handRecord(oid));
  const second = 20 + LENGTH;
  const cases: Record<string, readonly [(bytes: Buffer) => Buffer, readonly number[]]> = {
    'wrong record magic': [(b) => with32(b, second + 4, 0), [1, 2, 3, 4]],
    'size too large': [(b) => with32(b, second, 0xffff_fff0), [1, 2, 3, 4]],
    'size that swallows the next': [(b) => with32(b, second, LENGTH + 30), [1, 2, 3, 4]],
    'size too small': [(b) => with32(b, second, 3), [1, 2, 3, 4]],
    'last size beyond the end': [(b) => with32(b, 20 + 3 * LENGTH, 5000), [1, 2, 3, 4]],
    'first size beyond the end': [(b) => with32(b, 20, 5000), [1, 2, 3, 4]],
    'file magic': [(b) => with32(b, 0, 0), [1, 2, 3, 4]],
    'header gone': [(b) => b.subarray(20), [1, 2, 3, 4]],
    'text length': [(b) => with32(with32(b, second + 12, 0xffff_ffff), second, 1), [1, 3, 4]],
    'zeros inside': [(b) => b.fill(0, second, second + LENGTH), [1, 3, 4]],
    'zeros at the end': [(b) => Buffer.concat([b, Buffer.alloc(100)]), [1, 2, 3, 4]],
    cut: [(b) => b.subarray(0, b.length - 1), [1, 2, 3]],
    'garbage inside': [
      (b) => Buffer.concat([b.subarray(0, second), Buffer.from('HBRR'), b.subarray(second)]),
      [1, 2, 3, 4],
    ],
  };
  for (const [name, [damage, oids]] of Object.entries(cases)) {
    const damaged = damage(handFile(records));
    writeFileSync(path, damaged);
    const dry = await repairRegistry(path, { dryRun: true });
    t.ok(dry.problems > 0, `${name}: problems are found`);
    t.same(readFileSync(path), damaged, `${name}: a dry run writes nothing`);
    const { kept, problems } = await repairRegistry(path);
    t.equal(problems, dry.problems, name);
    t.same(readFileSync(path), handFile(oids.map((oid) => handRecord(oid))), name);
    t.same(readFileSync(kept!), damaged, `${name}: the old file is kept`);
    t.match(await repairRegistry(path), { problems: 0, kept: undefined }, `${name}: no problems remain`);
  }
  t.ok(existsSync(`${path}.damaged.1`));
});

t.test('REG-14, REG-23 to REG-26: records and counts change as the table says (property)', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const reached = new Set<string>();
  t.teardown(watchTable(RECORD_STATES, (state, event) => reached.add(`${state}: ${event}`)));
  const step = fc.record({
    kind: fc.constantFrom('append', 'delete', 'change', 'compress'),
    index: fc.nat(5),
  });
  const all = ['append', 'delete', 'change', 'compress'].map((kind) => ({ kind, index: 0 }));
  await assertProperty(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      // The third record has an unknown flag.
      writeFileSync(path, handFile([1, 2, 3].map((oid) => handRecord(oid, { flag: oid === 3 ? 9 : 1 }))));
      const states = new Map<number, 'valid' | 'deleted' | 'unknown'>([
        [1, 'valid'],
        [2, 'valid'],
        [3, 'unknown'],
      ]);
      await using registry = await RegistryFile.open(path, { writable: true });
      for (const { kind, index } of steps) {
        const oid = registry.nextOid;
        const found = await located(registry);
        const old = found[index % found.length];
        if (kind === 'append') await registry.append([recordOf(oid)]);
        else if (kind === 'compress') await registry.compress();
        else if (old !== undefined && kind === 'delete') await registry.markDeleted(old.offset);
        else if (old !== undefined) await registry.change(old.offset, recordOf(oid));
        const appends = kind === 'append' || (kind === 'change' && old !== undefined);
        const oldOid = old?.record?.oid ?? 0;
        if (kind === 'delete' || kind === 'change')
          if (states.get(oldOid) === 'valid') states.set(oldOid, 'deleted');
        if (appends) states.set(oid, 'valid');
        if (kind === 'compress')
          for (const [one, state] of states) if (state === 'deleted') states.delete(one);
      }
      const expected = [...states].map(([oid, state]) => `${oid} ${state}`);
      const text = (await located(registry)).map(({ record, state }) => `${record?.oid} ${state}`);
      const count = (wanted: string) => [...states.values()].filter((state) => state === wanted).length;
      const counts = { records: states.size, deleted: count('deleted'), valid: count('valid') };
      if (text.join() !== expected.join()) throw new Error(`${text.join()} instead of ${expected.join()}`);
      if (JSON.stringify(registry.counts) !== JSON.stringify(counts))
        throw new Error(`${JSON.stringify(registry.counts)} instead of ${JSON.stringify(counts)}`);
    }),
    { numRuns: 60, examples: [[all]] },
  );
  t.same(
    rowsOf(RECORD_STATES).filter((row) => !reached.has(row)),
    [],
    'every row is reached',
  );
});

t.test('REG-13, REG-14: repair keeps the reading and unknown flags', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const records = [1, 2, 3, 4].map((oid) => handRecord(oid, { counted: 12, flag: oid === 3 ? 9 : 1 }));
  const bytes = handFile(records);
  bytes.writeUInt32BE(1, 20);
  writeFileSync(path, bytes);
  t.equal((await repairRegistry(path)).reading, 'b');
  t.same(readFileSync(path), handFile(records));
});

t.test('REG-15: damage to one record loses at most that record (property)', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const oids = [1, 2, 3, 4, 5];
  await t.resolves(
    assertProperty(
      fc.asyncProperty(
        fc.nat(4),
        fc.uint8Array({ minLength: 1, maxLength: 24 }),
        fc.nat(),
        async (i, damage, offset) => {
          const bytes = handFile(oids.map((oid) => handRecord(oid)));
          bytes.set(damage, 20 + i * LENGTH + (offset % (LENGTH - damage.length)));
          writeFileSync(path, bytes);
          await repairRegistry(path);
          const found = new Set(await oidsOf(path));
          for (const oid of oids)
            if (oid !== i + 1 && !found.has(oid)) throw new Error(`object ${oid} is lost`);
          await rm(`${path}.damaged`, { force: true });
        },
      ),
      { numRuns: 100 },
    ),
    'no intact object is lost',
  );
});

t.test('REG-15: a size that ends where a later record ends does not hide the records between', async (t) => {
  for (const last of [1, 2, 4]) {
    const path = join(await temporaryDirectory(t), 'Registry');
    const oids = [1, 2, 3, 4, 5];
    const bytes = handFile(oids.map((oid) => handRecord(oid)));
    bytes.writeUInt32BE(LENGTH - 12 + last * LENGTH, 20);
    writeFileSync(path, bytes);
    await t.rejects(RegistryFile.open(path, { writable: true }), { message: /REG-11|covers/ });
    const problems: RegistryProblem[] = [];
    await checkRegistry(path, { onProblem: (problem) => void problems.push(problem) });
    t.match(problems, [{ rule: 'REG-11', offset: 20, message: /its size is wrong/ }]);
    await repairRegistry(path);
    t.same(await oidsOf(path), oids, `covered up to record ${last + 1}`);
  }
});

t.test('REG-21: surplus bytes that only resemble a record are kept', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const record = handRecord(1);
  const surplus = Buffer.concat([record, Buffer.from('\0\0\0\x10HBRR and more')]);
  surplus.writeUInt32BE(surplus.length - 12, 0);
  writeFileSync(path, handFile([surplus, handRecord(2)]));
  t.match(await checkRegistry(path), { problems: 0, counts: { records: 2 } });
});

t.test('REG-16: all records of a file of many blocks are read; a size above the limit is not', async (t) => {
  const path = join(await temporaryDirectory(t), 'Registry');
  const description = 'd'.repeat(100_000);
  const records = Array.from({ length: 300 }, (_, i) => handRecord(i + 1, { description }));
  writeFileSync(path, handFile(records));
  t.ok(statSync(path).size > 30_000_000);
  await using registry = await RegistryFile.open(path);
  let count = 0;
  for await (const { record } of registry.records()) count += record?.description.length === 100_000 ? 1 : 0;
  t.equal(count, 300);
  t.equal(registry.nextOid, 301);
  await t.rejects(RegistryFile.open(path, { writable: true, maxRecordBytes: 1000 }), StorageError);
});
