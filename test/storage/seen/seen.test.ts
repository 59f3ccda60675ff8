// The seen filters: the conformance suite for each kind, their files, sizes and false positive rate.
import { appendFile, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { uriKey } from '../../../protocols/urls/index.js';
import { Level } from '../../../storage/level/level.js';
import { seenFilterConformance } from '../../../storage/seen/conformance.js';
import {
  bloomBits,
  LevelFilter,
  type OpenSeenOptions,
  openSeenFilter,
  SEEN_KINDS,
  type SeenFilter,
  type SeenKind,
} from '../../../storage/seen/index.js';
import { KeyTable } from '../../../storage/seen/key-table.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

/** Opens a filter with limits so small that a test causes merges and runs. */
function open(
  kind: SeenKind,
  directory: string,
  options: Partial<OpenSeenOptions> = {},
): Promise<SeenFilter> {
  return openSeenFilter({ kind, directory, bloomCapacity: 100_000, pendingKeys: 50, ...options });
}

/** Returns the URIs with the numbers `from` to `to` - 1. */
function uris(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `http://h${(from + i) % 7}.example/${from + i}`);
}

/** Adds URIs; returns how many of them are new. */
async function countNew(filter: SeenFilter, batch: readonly string[]): Promise<number> {
  return (await filter.add(batch)).reduce((sum, flag) => sum + flag, 0);
}

for (const kind of SEEN_KINDS)
  seenFilterConformance({
    test: (name, run) => t.test(name, run),
    name: kind,
    open: (directory) => open(kind, directory, { pendingKeys: 20, maxUncommitted: 100 }),
  });

t.test('CRAWL-4.4 the memory kinds need no directory, the other kinds do', async (t) => {
  for (const kind of ['memory-set', 'memory-merge', 'bloom'] as const) {
    await using filter = await openSeenFilter({ kind, bloomCapacity: 1000 });
    t.equal(await countNew(filter, ['a', 'a']), 1);
    t.equal(filter.uncommitted, 0);
  }
  await t.rejects(openSeenFilter({}), TypeError, 'level is the default and needs a directory');
  await t.rejects(openSeenFilter({ kind: 'disk-merge' }), TypeError);
});

t.test('a torn log loses only its last record; an unknown file is rejected', async (t) => {
  for (const kind of ['memory-set', 'disk-merge'] as const) {
    const directory = await temporaryDirectory(t);
    const first = await open(kind, directory);
    await first.add(['a']);
    await first.commit();
    await first.add(['b', 'c']);
    await first.close();
    const log = (await readdir(directory)).find((name) => name.includes('log'))!;
    // Magic, a record of one key, a record of two: 8 + 20 + 28 bytes.
    await truncate(join(directory, log), 55);
    const second = await open(kind, directory);
    t.equal(second.count, 1);
    t.equal(await countNew(second, ['a', 'b', 'c']), 2);
    await second.close();
    await appendFile(join(directory, log), Buffer.alloc(40, 1));
    const third = await open(kind, directory);
    t.equal(third.count, 3);
    await third.close();
    await writeFile(join(directory, log), 'something else');
    await t.rejects(open(kind, directory), { code: 'ERR_STORAGE' });
  }
});

t.test('CRAWL-4.8 memory-merge merges pending URIs into the list, with about 8 bytes each', async (t) => {
  await using filter = await openSeenFilter({ kind: 'memory-merge' });
  for (let first = 0; first < 60_000; first += 6000)
    t.equal(await countNew(filter, uris(first, first + 6000)), 6000);
  t.equal(await countNew(filter, uris(0, 60_000)), 0);
  t.ok(filter.memoryBytes < 60_000 * 16, `${filter.memoryBytes} bytes`);
  await filter.forget(uris(5, 8));
  t.equal(filter.count, 59_997);
  t.equal(await countNew(filter, uris(0, 60_001)), 4);
});

t.test('disk-merge merges runs, removes leftover files and reports damage', async (t) => {
  const directory = await temporaryDirectory(t);
  const filter = await open('disk-merge', directory);
  for (let first = 0; first < 5000; first += 50) {
    await filter.add(uris(first, first + 50));
    await filter.commit();
  }
  const files = await readdir(directory);
  const runs = files.filter((name) => name.startsWith('run-'));
  t.ok(runs.length <= 12, `100 runs became ${runs.length}`);
  t.equal(files.length, runs.length + 2, 'the other files are manifest and log');
  await filter.close();
  await writeFile(join(directory, 'run-99999'), 'left by a crash');
  const again = await open('disk-merge', directory);
  t.notOk((await readdir(directory)).includes('run-99999'));
  t.equal(await countNew(again, uris(0, 5001)), 1);
  await again.close();
  await truncate(join(directory, runs[0]!), 8);
  await t.rejects(open('disk-merge', directory), { code: 'ERR_STORAGE' });
});

t.test('CRAWL-4.7 a Bloom filter has the specified size and about the stated error rate', async (t) => {
  // 125 000 000 · 22 / ln 2 = 3 967 411 361.2..., in words of 64 bits; about 496 MB.
  t.equal(bloomBits(125_000_000, 22), 3_967_411_392);
  t.equal(bloomBits(1, 1), 64);
  const filter = await openSeenFilter({ kind: 'bloom', bloomCapacity: 200_000, bloomHashes: 7 });
  await filter.add(uris(0, 200_000));
  const lost = 10_000 - (await countNew(filter, uris(1_000_000, 1_010_000)));
  // 2^-7 of 10 000 is 78; the filter fills up a little more during the loop. The texts are the same in every
  // run.
  t.ok(lost > 40 && lost < 180, `${lost} of 10 000 were lost`);
  await t.rejects(openSeenFilter({ kind: 'bloom', bloomCapacity: 1e9 }), RangeError);
});

t.test('CRAWL-3.8, 4.6 level uses the rows of the store and writes in the batch of its owner', async (t) => {
  await using level = await Level.open(await temporaryDirectory(t), { kind: 'gatherer' });
  const row = (uri: string): Uint8Array => Uint8Array.of(0x55, ...uriKey(uri));
  await level.write([{ key: row('http://a/known'), value: new Uint8Array(0) }]);
  const filter = await LevelFilter.open(level);
  t.equal(filter.count, 1, 'the rows of the store are counted');
  t.same([...(await filter.add(['http://a/known', 'http://a/new']))], [0, 1]);
  t.equal(
    await level.get(row('http://a/new')),
    undefined,
    'a new row is not written before the batch of the owner',
  );
  const { rows, written } = filter.takeChanges();
  await level.write(rows);
  written();
  t.ok(await level.get(row('http://a/new')));
  // CRAWL-3.10: the key of "a" is 60aadf90ae15793d, its top bit inverted e0aadf90ae15793d.
  await filter.add(['a']);
  await filter.commit();
  t.ok(await level.get(Buffer.from('55e0aadf90ae15793d', 'hex')));
  await filter.close();
  t.ok(await level.get(row('http://a/new')), 'only the owner closes the store');
});

t.test('a table of keys behaves as a set', async () => {
  const word = fc.integer({ min: 0, max: 3 });
  const change = fc.record({ add: fc.boolean(), low: word, high: word });
  assertProperty(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const table = new KeyTable();
      const model = new Set<string>();
      for (const { add, low, high } of changes) {
        const name = `${low} ${high}`;
        const wasPresent = model.has(name);
        if (add) model.add(name);
        else model.delete(name);
        const changed = add ? table.add(low, high) : table.delete(low, high);
        if (changed !== (add ? !wasPresent : wasPresent) || table.size !== model.size) throw new Error(name);
        if (table.has(low, high) !== add) throw new Error(name);
      }
      if (table.keys().length !== 2 * model.size) throw new Error('the number of keys is wrong');
    }),
  );
});
