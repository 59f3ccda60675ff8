// The export of a generation: All-Templates.gz, its blocks, and the tombstones of deleted objects.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { StorageError } from '../../../protocols/errors.js';
import { ReadyExport } from '../../../storage/generations/export/ready-export.js';
import { BlockCutter, MAX_BLOCK_BYTES } from '../../../storage/generations/export/write-export.js';
import { GathererStore, Generations, type Summary, type SummarySnapshot } from '../../../storage/index.js';
import { pluck } from '../../helpers/pluck.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { collect, put, readExport, soif, summary } from '../helpers.js';

const HEAD = '@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n';

interface Publisher {
  readonly directory: string;
  readonly store: GathererStore;
  publish(): Promise<SummarySnapshot>;
}

/** Opens a store; `publish` publishes a generation and opens it. */
async function publisher(t: Test): Promise<Publisher> {
  const root = await temporaryDirectory(t);
  const directory = join(root, 'generations');
  const store = await GathererStore.open(join(root, 'working'));
  t.teardown(() => store.close());
  return {
    directory,
    store,
    async publish() {
      await store.publish(directory);
      const snapshot = await new Generations(directory).open();
      t.teardown(() => snapshot.close());
      return snapshot;
    },
  };
}

/** Returns text that does not compress well; the same seed gives the same text. */
function prose(seed: number, length: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += `${state.toString(36)} `;
  }
  return text.slice(0, length);
}

t.test('GATHERD-10.2 a generation has All-Templates.gz: the whole stream with its wrappers', async (t) => {
  const { directory, store, publish } = await publisher(t);
  const [b, a] = [summary('http://b.test/', 7), summary('http://a.test/', 9)];
  await put(store, a, b);
  await publish();
  const file = await readFile(join(directory, '1', 'All-Templates.gz'));
  t.equal(gunzipSync(file).toString(), `${HEAD}${b.soif}${a.soif}}\n`);
  await using emptyStore = await GathererStore.open(join(directory, 'other'));
  await emptyStore.publish(join(directory, 'none'));
  const empty = await readFile(join(directory, 'none', '1', 'All-Templates.gz'));
  t.equal(gunzipSync(empty).toString(), `${HEAD}}\n`);
});

t.test('GATHERD-4.3, 4.6 the blocks yield the objects since any time', async (t) => {
  const { store, publish } = await publisher(t);
  const object = fc.record({
    url: fc.integer({ min: 0, max: 60 }).map((n) => `http://${n}.test/`),
    updateTime: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 })),
    size: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 10_000, max: 150_000 })),
  });
  const known = new Map<string, Summary>();
  const property = fc.asyncProperty(fc.array(object, { maxLength: 40 }), async (objects) => {
    const batch = store.batch();
    for (const { url, updateTime, size } of objects) {
      const time: Record<string, string> = updateTime === 0 ? {} : { 'Update-Time': String(updateTime) };
      const bytes = soif(url, { ...time, Body: prose(size, size + 1) });
      const one = { url, updateTime, timeToLive: 1, soif: bytes };
      known.set(url, one);
      batch.putSummary(one);
    }
    await batch.commit();
    const snapshot = await publish();
    const sorted = [...known.values()].sort(
      (x, y) => x.updateTime - y.updateTime || Buffer.compare(Buffer.from(x.url), Buffer.from(y.url)),
    );
    for (const since of [0, 1, 2, 15, 16, 30, 31]) {
      const expected = sorted.filter(({ updateTime }) => updateTime === 0 || updateTime >= since);
      const { text, objects: counts } = await readExport(snapshot.exportSince(since));
      const total = counts.reduce((sum, count) => sum + count, 0);
      if (text !== expected.map(({ soif }) => String(soif)).join('')) throw new Error(`since ${since}`);
      if (total !== expected.length) throw new Error(`${total} of ${expected.length} since ${since}`);
    }
    await snapshot.close();
  });
  await t.resolves(assertProperty(property, { numRuns: 10 }));
});

t.test('GATHERD-6.1 the clear bytes at any position, read in any order and by many at once', async (t) => {
  const { store, directory, publish } = await publisher(t);
  await put(
    store,
    ...Array.from({ length: 60 }, (_, i) => {
      const size = i % 20 === 0 ? 300_000 : i * 400;
      return summary(`http://${i}.test/`, 1 + i, prose(i, size + 1));
    }),
  );
  const snapshot = await publish();
  const whole = Buffer.concat((await collect(snapshot.exportSince(0))).map(({ bytes }) => bytes));
  const range = fc.tuple(fc.nat(whole.length + 10), fc.nat(400_000));
  const check = async (ready: NonNullable<SummarySnapshot['ready']>, ranges: readonly [number, number][]) => {
    await Promise.all(
      ranges.map(async ([position, length]) => {
        const target = Buffer.alloc(length);
        const read = await ready.clear.read(target, position);
        const expected = whole.subarray(position, position + length);
        if (read !== expected.length || !target.subarray(0, read).equals(expected))
          throw new Error(`${length} bytes at ${position}`);
      }),
    );
  };
  const { ready } = snapshot;
  t.ok(ready);
  if (ready === undefined) return;
  t.same(ready.clearRange(ready.blocks), { start: 0, end: whole.length });
  const ranges = fc.array(range, { minLength: 1, maxLength: 8 });
  await assertProperty(
    fc.asyncProperty(ranges, async (some) => check(ready, some)),
    { numRuns: 40 },
  );
  await check(ready, [[0, whole.length]]);
  // Without a place for the file every read inflates.
  const generation = join(directory, String(snapshot.generation));
  const other = await ReadyExport.open(generation);
  await rm(generation, { recursive: true });
  await assertProperty(
    fc.asyncProperty(ranges, async (some) => check(other, some)),
    { numRuns: 10 },
  );
  await other.close();
});

t.test('blocks are bounded in size, and a few changes leave most blocks unchanged', async (t) => {
  const { directory, store, publish } = await publisher(t);
  const objects = Array.from({ length: 1500 }, (_, i) =>
    summary(`http://${i}.test/`, 1000 + i, prose(i, 2000)),
  );
  await put(store, ...objects);
  const first = await publish();
  const count = first.ready!.blocks.end;
  t.ok(count > (1500 * 2000) / MAX_BLOCK_BYTES, `${count} blocks`);
  const before = first.ready!.byDigest();

  const changed = [3, 700, 1400].map((i) => summary(objects[i]!.url, 5000, 'new'));
  await put(store, ...changed);
  const second = await publish();
  const kept = [...second.ready!.byDigest().keys()].filter((digest) => before.has(digest)).length;
  t.ok(kept >= count - 8, `${kept} of ${count} blocks are the same`);
  const rest = objects.filter(({ url }) => !changed.some((one) => one.url === url));
  const expected = [...rest, ...changed].map(({ soif }) => String(soif)).sort();
  const file = gunzipSync(await readFile(join(directory, '2', 'All-Templates.gz'))).toString();
  t.equal(file.length, expected.join('').length + HEAD.length + 2);
  t.same((await readExport(second.exportSince(5000))).objects, [3]);
  for (const one of changed) t.ok(file.includes(String(one.soif)));
});

t.test('a large object has its own block; no block mixes objects with and without a time', (t) => {
  const cutter = new BlockCutter();
  t.equal(cutter.add('a', 0, 10), false, 'the first object starts no block');
  t.equal(cutter.add('b', 0, 10), false);
  t.equal(cutter.add('c', 1, 10), true, 'the first object with a time starts a block');
  t.equal(cutter.add('d', 1, 10 * MAX_BLOCK_BYTES), true, 'an object that is larger than a block starts one');
  t.equal(cutter.add('e', 1, 10), true);
  t.end();
});

t.test('GATHERD-13.9 the export adds the Gatherer identity to objects without one', async (t) => {
  const { directory, store } = await publisher(t);
  const url = 'http://a.test/';
  await put(store, {
    url,
    updateTime: 5,
    timeToLive: 1,
    soif: soif(url, { 'Gatherer-Name': 'mine', 'Update-Time': '5' }),
  });
  await store.publish(directory, {
    gatherer: { gathererName: 'yours', gathererHost: 'gatherer.test', gathererVersion: '1.8' },
  });
  await using snapshot = await new Generations(directory).open();
  const expected =
    '@FILE { http://a.test/\nGatherer-Name{4}:\tmine\nUpdate-Time{1}:\t5\n' +
    'Gatherer-Host{13}:\tgatherer.test\nGatherer-Version{3}:\t1.8\n}\n';
  t.equal((await readExport(snapshot.exportSince(0))).text, expected);
  t.equal(Buffer.from((await snapshot.get(url))!).toString(), expected);
  const [page] = await collect(snapshot.summariesSince(0));
  t.equal(Buffer.from(page![0]!.soif).toString(), expected);
});

t.test('a generation of an earlier publisher is served without an export', async (t) => {
  const { directory, store } = await publisher(t);
  const one = summary('http://a.test/', 5);
  await put(store, one);
  await store.publish(directory);
  await rm(join(directory, '1', 'EXPORT'));
  await rm(join(directory, '1', 'All-Templates.gz'));
  await rm(join(directory, '1', 'SUMS'));
  await using snapshot = await new Generations(directory).open();
  t.equal((await readExport(snapshot.exportSince(0))).text, String(one.soif));
});

t.test('a damaged export is a StorageError for readers and is ignored by the next publisher', async (t) => {
  const { directory, store } = await publisher(t);
  const one = summary('http://a.test/', 5, prose(1, 5000));
  await put(store, one);
  await store.publish(directory);
  await writeFile(join(directory, '1', 'EXPORT'), 'not an index');
  await t.rejects(new Generations(directory).open(), StorageError);
  await store.publish(directory);
  await using snapshot = await new Generations(directory).open();
  t.equal((await readExport(snapshot.exportSince(0))).text, String(one.soif));
  const file = join(directory, '2', 'All-Templates.gz');
  await writeFile(file, (await readFile(file)).subarray(0, 100));
  await t.rejects(readExport(snapshot.exportSince(0)), StorageError);
});

t.test('GATHERD-4.9 the tombstones of deleted objects', async (t) => {
  t.test('a tombstone has the URL, the Gatherer and the time of the deletion', async (t) => {
    const { store, publish } = await publisher(t);
    const url = 'http://a.test/';
    const bytes = soif(url, {
      'Gatherer-Name': 'G',
      'Gatherer-Host': 'h',
      'Gatherer-Version': '1',
      'Update-Time': '100',
      Title: 'secret',
    });
    await put(store, { url, updateTime: 100, timeToLive: 50, soif: bytes });
    await store.batch().deleteSummary(url, 100, { deletedAt: 120 }).commit();
    t.equal(store.summaries.count, 0);
    t.equal(store.tombstones.count, 1);
    const snapshot = await publish();
    const [page] = await collect(snapshot.deletionsSince(120));
    t.equal(
      String(page?.[0]?.soif),
      '@FILE { http://a.test/\nGatherer-Name{1}:\tG\nGatherer-Host{1}:\th\nGatherer-Version{1}:\t1\nUpdate-Time{3}:\t120\n}\n',
    );
    t.equal(page?.[0]?.expires, 150, 'a tombstone expires when its object would have expired');
    t.same(await collect(snapshot.deletionsSince(121)), []);
  });

  t.test('an object that returns or had expired has no tombstone; old tombstones are purged', async (t) => {
    const { store } = await publisher(t);
    const urls = ['http://a.test/', 'http://b.test/', 'http://c.test/', 'http://never.test/'];
    const [a, b, c] = urls.map((url) => ({ ...summary(url, 100), timeToLive: 50 }));
    const never = { ...summary(urls[3]!, 100), timeToLive: 0 };
    await put(store, a!, b!, c!, never);
    await store
      .batch()
      .deleteSummary(a!.url, undefined, { deletedAt: 120 })
      .deleteSummary(b!.url, undefined, { deletedAt: 151 })
      .deleteSummary(c!.url, 100)
      .deleteSummary(never.url, 100, { deletedAt: 130 })
      .deleteSummary('http://unknown.test/', undefined, { deletedAt: 120 })
      .commit();
    const urlsOf = async () => (await collect(store.tombstones.since(0))).flat().map(({ url }) => url);
    t.same(await urlsOf(), [a!.url, never.url]);
    await store.purgeTombstones(150);
    t.same(await urlsOf(), [a!.url, never.url], 'a tombstone is valid in its last second');
    await store.purgeTombstones(151);
    t.same(await urlsOf(), [never.url]);
    await put(store, never);
    t.same(await urlsOf(), []);
    t.equal(store.tombstones.count, 0);
  });

  t.test('a batch applies its changes in order', async (t) => {
    const { store } = await publisher(t);
    const url = 'http://a.test/';
    await store
      .batch()
      .putSummary(summary(url, 5))
      .deleteSummary(url, undefined, { deletedAt: 9 })
      .putSummary(summary(url, 10))
      .deleteSummary(url, undefined, { deletedAt: 11 })
      .commit();
    t.equal(store.summaries.count, 0);
    t.same(pluck((await collect(store.tombstones.since(0))).flat(), 'deletionTime'), [11]);
  });

  t.test('tombstones survive a restart', async (t) => {
    const directory = join(await temporaryDirectory(t), 'working');
    await mkdir(directory);
    const first = await GathererStore.open(directory);
    await put(first, summary('http://a.test/', 5));
    await first.batch().deleteSummary('http://a.test/', 5, { deletedAt: 6 }).commit();
    await first.close();
    await using again = await GathererStore.open(directory);
    t.equal(again.tombstones.count, 1);
    t.equal((await collect(again.tombstones.since(6))).flat().length, 1);
  });
});

t.test('GATHERD-4.4 the store records the time of the last change of content', async (t) => {
  const { store, publish } = await publisher(t);
  await put(store, summary('http://a.test/', 10), { ...summary('http://b.test/', 20), contentTime: 10 });
  t.equal((await store.summaries.get('http://a.test/'))?.contentTime, 10);
  t.equal((await store.summaries.get('http://b.test/'))?.contentTime, 10);
  const { ready } = await publish();
  t.equal(ready?.refreshedIn(ready.blocks), 1);
});
