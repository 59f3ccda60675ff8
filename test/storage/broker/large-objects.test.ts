// Objects that are stored in parts.
import { randomBytes } from 'node:crypto';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { encodeSoif, readRange, SoifObject } from '../../../protocols/soif/index.js';
import { checkStores } from '../../../storage/check/check.js';
import { repairStores } from '../../../storage/check/repair.js';
import { BrokerStore, openObjectReader } from '../../../storage/index.js';
import { Level } from '../../../storage/level/level.js';
import { orderedOidKey, TABLE, tableRange } from '../../../storage/rows/keys.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const NOW = 1_000_000_000;
const MIB = 1 << 20;

function change(n: number, size: number, updateTime = NOW) {
  const object = SoifObject.of('FILE', `http://${n}.test/`, [
    ['Body', randomBytes(size / 2).toString('hex')],
    ['Update-Time', String(updateTime)],
    ['Gatherer-Name', 'G'],
    ['Gatherer-Host', 'g'],
    ['Gatherer-Version', '1'],
  ]);
  return { kind: 'update' as const, object, bytes: encodeSoif(object) };
}

async function withLevel<T>(directory: string, work: (level: Level) => Promise<T>): Promise<T> {
  await using level = await Level.open(directory, { kind: 'broker', create: false });
  return await work(level);
}

const countParts = (directory: string) =>
  withLevel(directory, async (level) => (await level.pageOfKeys(tableRange(TABLE.parts))).length);

async function problems(directory: string): Promise<string[]> {
  const found: string[] = [];
  for await (const store of checkStores(directory)) found.push(...store.problems);
  return found;
}

t.test('large objects are read by every way, replaced and removed with their parts', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  const changes = [change(1, 100), change(2, 5 * MIB), change(3, MIB), change(4, 2 * MIB), change(5, 100)];
  {
    await using store = await BrokerStore.open(directory, { now: () => NOW });
    await store.apply(changes);
    const expected = changes.map(({ bytes }) => Buffer.from(bytes));
    const valid: Uint8Array[] = [];
    for await (const page of store.valid(NOW)) valid.push(...page);
    t.ok(valid.every((bytes, i) => expected[i]?.equals(bytes)) && valid.length === 5, 'the walk of #BULK');
    const stored: Uint8Array[] = [];
    for await (const page of store.stored())
      for (const { bytes } of page)
        stored.push(bytes instanceof Uint8Array ? bytes : await readRange(bytes, 0, bytes.length));
    t.ok(
      stored.every((bytes, i) => expected[i]?.equals(bytes)) && stored.length === 5,
      'the walk with entries',
    );
    const some = await store.objects([4, 1, 2, 9]);
    t.ok(expected[3]?.equals(some[0]!) && expected[0]?.equals(some[1]!) && expected[1]?.equals(some[2]!));
    t.equal(some[3], undefined);
    await using reader = await openObjectReader(directory, (object) => readRange(object, 0, 10));
    t.same(
      (await reader.objects([2, 1, 4])).map((bytes) => bytes?.length),
      [10, expected[0]?.length, 10],
    );
    const newer = change(2, 3 * MIB, NOW + 1);
    await store.apply([newer]);
    t.ok(Buffer.from(newer.bytes).equals((await store.objects([2]))[0]!));
    const refresh = SoifObject.of('FILE', 'http://4.test/', [['Update-Time', String(NOW + 9)]]);
    await store.apply([{ kind: 'refresh', object: refresh, bytes: encodeSoif(refresh) }]);
    t.equal((await store.entries.get(4))?.updateTime, NOW + 9);
    t.equal((await store.objects([4]))[0]?.length, changes[3]?.bytes.length);
  }
  t.same(await problems(directory), []);
  t.equal(
    await countParts(directory),
    4 + 2 + 3,
    'the parts of the objects of 3, 1 and 2 MiB and some bytes',
  );
  {
    await using store = await BrokerStore.open(directory, { now: () => NOW });
    await store.apply([change(2, 100, NOW + 2)]);
    await store.remove([4]);
  }
  t.equal(await countParts(directory), 2);
  {
    await using store = await BrokerStore.open(directory, { now: () => NOW });
    await store.clear();
  }
  t.equal(await countParts(directory), 0);
});

t.test('parts without their batch are deleted at the next opening', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  {
    await using store = await BrokerStore.open(directory, { now: () => NOW });
    await store.apply([change(1, 2 * MIB)]);
  }
  await withLevel(directory, (level) =>
    level.write([{ key: orderedOidKey(TABLE.parts, 2, 0), value: Buffer.alloc(10) }]),
  );
  {
    await using store = await BrokerStore.open(directory, { now: () => NOW });
    t.ok((await store.objects([1]))[0]);
  }
  t.equal(await countParts(directory), 3);
});

t.test('a missing or changed part is told, found and repaired', async (t) => {
  const directory = await temporaryDirectory(t);
  const original = join(directory, 'original');
  {
    await using store = await BrokerStore.open(original, { now: () => NOW });
    await store.apply([change(1, 2 * MIB), change(2, 2 * MIB), change(3, 100)]);
  }
  const key = orderedOidKey(TABLE.parts, 1, 1);
  for (const [name, value] of [
    ['missing', undefined],
    ['changed', Buffer.alloc(MIB)],
  ] as const) {
    const copy = join(directory, 'copy', 'store');
    await rm(join(directory, 'copy'), { recursive: true, force: true });
    await cp(original, copy, { recursive: true });
    await withLevel(copy, (level) => level.write([value === undefined ? { key } : { key, value }]));
    {
      await using store = await BrokerStore.open(copy, { now: () => NOW });
      const message = /is damaged: object 1 .*`harvest store check/;
      await t.rejects(store.objects([1]), { name: 'StorageError', message }, name);
      const walk = async () => {
        for await (const _ of store.valid(NOW));
      };
      await t.rejects(walk(), { name: 'StorageError', message });
      t.ok((await store.objects([2]))[0], 'another object is read');
    }
    t.match((await problems(copy)).join(), /the object of entry 1, .* is missing, damaged/);
    for await (const { dropped } of repairStores(copy, { force: true, replace: true })) t.equal(dropped, 1);
    t.same(await problems(copy), []);
    await using store = await BrokerStore.open(copy, { now: () => NOW });
    t.equal(store.count, 2);
    t.ok((await store.objects([2]))[0], 'its parts are kept');
    t.equal(await store.entries.get(1), undefined);
  }
});

t.test('a batch that refreshes many objects reads them in turn, and changes no more of them', async (t) => {
  const directory = join(await temporaryDirectory(t), 'store');
  await using store = await BrokerStore.open(directory, { now: () => NOW });
  const changes = Array.from({ length: 12 }, (_, n) => change(n + 1, n % 5 === 4 ? 3 * MIB : 900_000));
  await store.apply(changes);
  const refreshes = changes.map(({ object }) => {
    const renewed = SoifObject.of('FILE', object.url, [
      ['Update-Time', String(NOW + 5)],
      ['Gatherer-Name', 'G'],
      ['Gatherer-Host', 'g'],
      ['Gatherer-Version', '1'],
    ]);
    return { kind: 'refresh' as const, object: renewed, bytes: encodeSoif(renewed) };
  });
  t.match(await store.apply(refreshes), { refreshed: 12, rejected: 0 });
  for (const { object } of changes) {
    const [entry] = await store.byUrl(object.url);
    const [bytes] = await store.objects([entry?.oid ?? 0]);
    const expected = encodeSoif(
      object.with([
        ['Gatherer-Version', '1'],
        ['Update-Time', String(NOW + 5)],
      ]),
    );
    t.ok(Buffer.from(expected).equals(bytes ?? Buffer.alloc(0)), object.url);
    t.equal(entry?.length, expected.length);
  }
  t.same(await store.apply(refreshes).then(({ duplicates }) => duplicates), 12);
});
