// Publications: manifests, publishers that are killed or meet each other, the removal of old generations, copies.
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { StorageError } from '../../../protocols/errors.js';
import { testBlobs } from '../../../storage/blobs/conformance.js';
import { digestOf } from '../../../storage/blobs/sources.js';
import { collectOld } from '../../../storage/publishing/collect-old.js';
import { fetchTree } from '../../../storage/publishing/fetch-tree.js';
import { FileCopies } from '../../../storage/publishing/file-copies.js';
import {
  decodeManifest,
  encodeManifest,
  filesPrefix,
  listManifests,
  manifestKey,
  newestManifest,
  type PublicationManifest,
  type PublicationPlace,
} from '../../../storage/publishing/manifest.js';
import { publishFiles } from '../../../storage/publishing/publish-files.js';
import { Replica, type ReplicaGeneration, type ReplicaOptions } from '../../../storage/publishing/replica.js';
import { ManualClock, timerOf } from '../../helpers/manual-clock.js';
import { type BlobCall, MemoryBlobs, MemoryBucket } from '../../helpers/memory-blobs.js';
import { assertProperty } from '../../helpers/property.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

const AREA = 'generations';
const place = (store: MemoryBlobs): PublicationPlace => ({ store, area: AREA });
type Content = Readonly<Record<string, string>>;

async function write(directory: string, content: Content): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(content)) await writeFile(join(directory, name), text);
  return directory;
}

/** What a reader gets: the newest generation as a whole. */
async function read(store: MemoryBlobs): Promise<Content | undefined> {
  const manifest = await newestManifest(place(store));
  if (manifest === undefined) return undefined;
  const content: Record<string, string> = {};
  for (const { name, key, size, sha256 } of manifest.files) {
    const pieces: Uint8Array[] = [];
    for await (const piece of store.read(key)) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const digest = await digestOf(
      (async function* () {
        yield bytes;
      })(),
    );
    if (digest.size !== size || digest.sha256 !== sha256) throw new Error(`${name} is another file`);
    content[name] = String(bytes);
  }
  return content;
}

async function filesIn(directory: string): Promise<Content> {
  const names = (await readdir(directory)).sort();
  const texts = await Promise.all(
    names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')]),
  );
  return Object.fromEntries(texts);
}

const names = fc.constantFrom('000005.ldb', '000007.ldb', 'CURRENT', 'MANIFEST-000004', 'SUMS');
const contents = fc.dictionary(names, fc.string({ maxLength: 30 }), { minKeys: 1 });

t.test('the store of these tests', async (t) => {
  const buckets = new Map<string, MemoryBucket>();
  testBlobs({
    test: (name, run) => t.test(name, run),
    name: 'memory',
    open: async (name) => {
      const bucket = buckets.get(name) ?? new MemoryBucket();
      buckets.set(name, bucket);
      return new MemoryBlobs(bucket);
    },
  });
});

t.test('manifests', async (t) => {
  const file = fc.record(
    {
      name: fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,20}$/),
      size: fc.nat(),
      sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
      key: fc.stringMatching(/^[a-z0-9-]{1,10}\/[a-z0-9-]{1,10}$/),
    },
    { noNullPrototype: true },
  );
  const manifest: fc.Arbitrary<PublicationManifest> = fc.record(
    {
      number: fc.integer({ min: 1, max: 999_999_999_999_999 }),
      id: fc.stringMatching(/^[0-9a-f]{32}$/),
      files: fc.uniqueArray(file, { selector: ({ name }) => name, maxLength: 10 }),
    },
    { noNullPrototype: true },
  );
  assertProperty(
    fc.property(manifest, (value) => {
      t.strictSame(decodeManifest(encodeManifest(value)), value);
    }),
  );
  await t.test('damaged ones are refused, and never read as another', async (t) => {
    assertProperty(
      fc.property(manifest, fc.nat(), fc.nat({ max: 255 }), (value, at, byte) => {
        const bytes = encodeManifest(value);
        bytes[at % bytes.length] = byte;
        try {
          const read = decodeManifest(bytes);
          t.ok(read.files.every(({ name }) => !name.startsWith('/') && !name.split('/').includes('..')));
        } catch (error) {
          t.ok(error instanceof StorageError, 'refused with a sentence');
        }
      }),
    );
    for (const length of [0, 1, 50]) {
      const cut = encodeManifest({ number: 1, id: '0'.repeat(32), files: [] }).subarray(0, length);
      t.throws(() => decodeManifest(cut), { code: 'ERR_STORAGE' });
    }
  });
  t.throws(() => decodeManifest(Buffer.from('{"format":"harvest-publication","version":2}')), {
    message: 'it is of version 2, and this program reads up to 1',
  });
  const twice = { name: 'a', size: 1, sha256: '0'.repeat(64), key: 'k' };
  t.throws(() => decodeManifest(encodeManifest({ number: 1, id: '0'.repeat(32), files: [twice, twice] })), {
    message: 'it names a file twice',
  });
  for (const name of ['..', '.', '/a', 'a/', 'a//b', 'a/../b', '', 'a\0'])
    t.throws(() =>
      decodeManifest(encodeManifest({ number: 1, id: '0'.repeat(32), files: [{ ...twice, name }] })),
    );
  const keys = [1, 9, 10, 999, 999_999_999_999_999].map((number) => manifestKey(AREA, number));
  t.same([...keys].sort(), keys, 'keys are in the order of the numbers');
});

t.test('what is published is read, and sent once', async (t) => {
  const directory = await temporaryDirectory(t);
  const store = new MemoryBlobs();
  const first = { a: 'alpha', b: 'beta', LOCK: '' };
  t.match(await publishFiles(place(store), await write(directory, first)), {
    number: 1,
    isNew: true,
    sentFiles: 2,
  });
  t.same(await read(store), { a: 'alpha', b: 'beta' });
  t.match(
    await publishFiles(place(store), directory),
    { number: 1, isNew: false, sentFiles: 0 },
    'the same files',
  );
  await write(directory, { a: 'alpha', c: 'gamma', d: 'gamma' });
  t.match(await publishFiles(place(store), directory), {
    number: 2,
    isNew: true,
    sentFiles: 1,
    sentBytes: 5,
  });
  t.same(await read(store), { a: 'alpha', c: 'gamma', d: 'gamma' }, 'two files of one content are one blob');
  await t.rejects(publishFiles(place(store), join(directory, 'no-such')), { message: /cannot be published/ });
});

t.test('a store that replaces what exists is refused', async (t) => {
  const directory = await write(await temporaryDirectory(t), { a: '1' });
  const bucket = new MemoryBucket();
  const store = new MemoryBlobs(bucket);
  store.fault = ({ method, key }) => {
    if (method === 'putIfAbsent') bucket.blobs.delete(key);
    return undefined;
  };
  await t.rejects(publishFiles(place(store), directory), { message: /replaces blobs that exist/ });
});

t.test('a publisher that is killed at any call leaves one whole generation', async (t) => {
  const directory = await temporaryDirectory(t);
  await assertProperty(
    fc.asyncProperty(
      fc.array(fc.record({ content: contents, killAt: fc.nat({ max: 25 }), after: fc.boolean() }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.integer({ min: 1, max: 3 }),
      async (publications, keepGenerations) => {
        const bucket = new MemoryBucket();
        const reader = new MemoryBlobs(bucket);
        let former: Content | undefined;
        for (const { content, killAt, after } of publications) {
          await write(join(directory, 'files'), content);
          const publisher = new MemoryBlobs(bucket);
          let calls = 0;
          let isDead = false;
          publisher.fault = async () => {
            const seen = await read(reader);
            if (seen !== undefined) {
              const isOneOfBoth = [former, content].some((one) => same(one, seen));
              if (!isOneOfBoth) throw new Error(`a reader sees ${JSON.stringify(seen)}`);
            }
            if (isDead) return { error: new Error('killed') };
            if (calls++ < killAt) return undefined;
            isDead = true;
            return { error: new Error('killed'), after };
          };
          const options = { keepGenerations, holdSeconds: 0, holdUnnamedSeconds: 100 };
          await publishFiles(place(publisher), join(directory, 'files'), options).catch((error: Error) => {
            if (error.message !== 'killed') throw error;
          });
          bucket.time += 60;
          const seen = await read(reader);
          t.ok(seen === undefined ? former === undefined : same(seen, former) || same(seen, content));
          former = seen;
        }
        // The next one that lives removes what the others left.
        await write(join(directory, 'files'), { last: 'whole' });
        bucket.time += 1000;
        await publishFiles(place(reader), join(directory, 'files'), {
          keepGenerations: 1,
          holdSeconds: 0,
          holdUnnamedSeconds: 100,
        });
        t.same(await read(reader), { last: 'whole' });
        const rest = [...bucket.blobs.keys()].filter((key) => key.startsWith(filesPrefix(AREA)));
        t.equal(rest.length, 1, 'only its own file remains');
      },
    ),
    { numRuns: 40 },
  );
});

t.test('publishers at the same time: each generation is whole, and none is lost', async (t) => {
  const directory = await temporaryDirectory(t);
  const bucket = new MemoryBucket();
  const writers = await Promise.all(
    Array.from({ length: 5 }, async (_, i) =>
      write(join(directory, String(i)), { common: 'same', own: `writer ${i}` }),
    ),
  );
  const results = await Promise.all(
    writers.map((path) => publishFiles(place(new MemoryBlobs(bucket)), path, { keepGenerations: 100 })),
  );
  const store = new MemoryBlobs(bucket);
  const numbers = results.map(({ number }) => number);
  t.equal(new Set(numbers).size, 5, 'each has a number of its own');
  const last = numbers.indexOf(Math.max(...numbers));
  t.same(await read(store), { common: 'same', own: `writer ${last}` });
  t.equal((await listManifests(place(store))).at(-1)?.number, Math.max(...numbers));
});

t.test('a number that was removed and is free again is not the newest', async (t) => {
  const directory = await temporaryDirectory(t);
  const bucket = new MemoryBucket();
  const slow = new MemoryBlobs(bucket);
  const fast = new MemoryBlobs(bucket);
  await publishFiles(place(fast), await write(join(directory, 'a'), { shared: 'old', a: '1' }));
  let isHeld = true;
  slow.fault = async ({ method, key }: BlobCall) => {
    if (method !== 'putIfAbsent' || !key.includes('/manifests/') || !isHeld) return undefined;
    isHeld = false;
    // Meanwhile others publish twice, and everything before is removed.
    for (const name of ['b', 'c', 'd']) {
      await publishFiles(place(fast), await write(join(directory, name), { [name]: name }));
      bucket.time += 10;
    }
    await collectOld(place(fast), { keepGenerations: 1, holdSeconds: 0 });
    return undefined;
  };
  const published = await publishFiles(
    place(slow),
    await write(join(directory, 'e'), { shared: 'old', e: '2' }),
  );
  t.equal(published.number, 5);
  t.same(await read(fast), { shared: 'old', e: '2' }, 'the file of the removed generation was sent again');
});

t.test('old generations stay as long as readers may fetch them', async (t) => {
  const directory = await temporaryDirectory(t);
  const bucket = new MemoryBucket();
  const store = new MemoryBlobs(bucket);
  const options = { keepGenerations: 2, holdSeconds: 100, holdUnnamedSeconds: 1000 };
  for (let i = 1; i <= 5; i++) {
    await publishFiles(place(store), await write(directory, { always: 'x', own: `file ${i}` }), options);
    bucket.time += 50;
  }
  // When the fifth was published, the second had been replaced for 100 seconds, the third for 50.
  const numbers = async () => (await listManifests(place(store))).map(({ number }) => number);
  t.same(await numbers(), [3, 4, 5]);
  t.match(await collectOld(place(store), options), { generations: 1, files: 1 });
  t.same(await numbers(), [4, 5]);
  bucket.time += 5000;
  t.match(
    await collectOld(place(store), options),
    { generations: 0, files: 0 },
    'old files that are named stay',
  );
  t.same(await read(store), { always: 'x', own: 'file 5' });
});

t.test('copies', async (t) => {
  const directory = await temporaryDirectory(t);
  const bucket = new MemoryBucket();
  const publisher = place(new MemoryBlobs(bucket));
  const publish = async (content: Content) =>
    publishFiles(publisher, await write(join(directory, 'source'), content));
  const copies = join(directory, 'copies');
  const store = new MemoryBlobs(bucket);
  const generations: ReplicaGeneration[] = [];
  const failures: string[] = [];
  let recoveries = 0;
  const open = (options: Partial<ReplicaOptions> = {}) =>
    Replica.open({
      from: 'memory',
      area: AREA,
      directory: copies,
      open: async () => store,
      onGeneration: (generation) => generations.push(generation),
      onFailure: (error) => failures.push(String(error)),
      onRecovery: () => recoveries++,
      ...options,
    });
  const current = async (): Promise<Content> => {
    const number = (await readFile(join(copies, AREA, 'CURRENT'), 'utf8')).trim();
    return await filesIn(join(copies, AREA, number));
  };

  await t.test('nothing is published yet', async (t) => {
    await using replica = await open();
    t.equal(await replica.refresh(), true);
    t.equal(replica.number, undefined);
  });

  await t.test('a generation and the next one', async (t) => {
    await using replica = await open();
    await publish({ a: 'alpha', b: 'beta' });
    t.equal(await replica.refresh(), true);
    t.same(await current(), { a: 'alpha', b: 'beta' });
    await publish({ a: 'alpha', c: 'gamma!' });
    await replica.refresh();
    t.same(await current(), { a: 'alpha', c: 'gamma!' });
    t.match(generations, [
      { number: 1, local: 1, fetchedBytes: 9 },
      { number: 2, local: 2, fetchedBytes: 6 },
    ]);
    await replica.refresh();
    t.equal(generations.length, 2, 'it is copied once');
  });

  await t.test('the next start has it, and the store may be down', async (t) => {
    await using replica = await open();
    store.calls.length = 0;
    t.equal(replica.number, 2);
    store.fault = () => ({ error: new StorageError('memory does not answer') });
    t.equal(await replica.refresh(), false);
    t.equal(await replica.refresh(), false);
    t.equal(replica.failure, 'memory does not answer');
    t.same(failures, ['StorageError: memory does not answer'], 'it is told once');
    t.same(await current(), { a: 'alpha', c: 'gamma!' });
    store.fault = () => undefined;
    t.equal(await replica.refresh(), true);
    t.equal(replica.failure, undefined);
    t.equal(recoveries, 1);
    t.notOk(
      store.calls.some(({ key }) => key.includes('/files/')),
      'no file is fetched again',
    );
  });

  await t.test('a damaged copy is fetched again', async (t) => {
    await writeFile(join(copies, AREA, '2', 'c'), 'gamma?');
    await using replica = await open();
    t.equal(replica.number, undefined);
    await replica.refresh();
    t.same(await current(), { a: 'alpha', c: 'gamma!' });
    t.match(generations.at(-1), { number: 2, local: 3 });
    await writeFile(join(copies, AREA, '3', 'a'), 'alphA');
    await publish({ a: 'alpha', d: 'delta' });
    await replica.refresh();
    t.same(await current(), { a: 'alpha', d: 'delta' }, 'a copy that was damaged meanwhile is not linked');
  });

  await t.test('a file that is damaged in the store is refused', async (t) => {
    await using replica = await open();
    const before = await current();
    const { number } = await publish({ e: 'epsilon' });
    const [key] = [...bucket.blobs.keys()].filter((key) => key.endsWith('/e'));
    bucket.blobs.set(key!, { content: Buffer.from('epsilom'), written: 0 });
    t.equal(await replica.refresh(), false);
    t.match(replica.failure, /\/e is damaged: it does not match its digest/);
    t.same(await current(), before);
    bucket.blobs.set(key!, { content: Buffer.from('epsilon'), written: 0 });
    t.equal(await replica.refresh(), true);
    t.equal(replica.number, number);
  });

  await t.test('a generation that is removed while it is copied', async (t) => {
    await using replica = await open();
    await publish({ f: 'removed' });
    let isFirst = true;
    store.fault = async ({ method, key }) => {
      if (method !== 'read' || !key.endsWith('/f') || !isFirst) return undefined;
      isFirst = false;
      await publish({ g: 'newer' });
      bucket.time += 10;
      await publish({ h: 'newest' });
      bucket.time += 10;
      await collectOld(publisher, { keepGenerations: 1, holdSeconds: 0 });
      return undefined;
    };
    t.equal(await replica.refresh(), true);
    store.fault = () => undefined;
    t.same(await current(), { h: 'newest' });
  });

  await t.test('the place is emptied and filled anew', async (t) => {
    await using replica = await open();
    const before = await current();
    bucket.blobs.clear();
    t.equal(await replica.refresh(), true);
    t.same(await current(), before, 'what is here stays');
    await publish({ i: 'anew' });
    await replica.refresh();
    t.equal(replica.number, 1);
    t.same(await current(), { i: 'anew' });
  });

  await t.test('old copies are removed', async (t) => {
    await using replica = await open();
    for (let i = 0; i < 3; i++) {
      await publish({ j: `content ${i}` });
      await replica.refresh();
    }
    const left = (await readdir(join(copies, AREA))).filter((name) => /^\d+$/.test(name));
    t.equal(left.length, 2);
    t.same(await current(), { j: 'content 2' });
  });

  await t.test('follows the place by the clock', async (t) => {
    const clock = new ManualClock();
    let onGeneration: (generation: ReplicaGeneration) => void = () => undefined;
    const copied = new Promise<ReplicaGeneration>((resolve) => {
      onGeneration = resolve;
    });
    await using replica = await open({ clock, pollIntervalMs: 5000, onGeneration });
    replica.follow();
    const { number } = await publish({ k: 'followed' });
    await timerOf(clock, 5000);
    clock.advance(5000);
    t.equal((await copied).number, number);
    t.same(await current(), { k: 'followed' });
  });

  await t.test('directories that belong to others', async (t) => {
    const busy = join(directory, 'busy');
    await mkdir(busy, { recursive: true });
    await writeFile(join(busy, `.copied-${AREA}.pid`), `${process.ppid}\n`);
    await t.rejects(open({ directory: busy }), {
      message: /is in use by process \d+: another server copies/,
    });
    await writeFile(join(busy, `.copied-${AREA}.pid`), 'garbage');
    await (await open({ directory: busy })).close();
    const other = join(directory, 'other');
    await mkdir(join(other, AREA), { recursive: true });
    await writeFile(join(other, AREA, 'CURRENT'), '1\n');
    await t.rejects(open({ directory: other }), {
      message: /was not copied from memory: use another directory/,
    });
    const elsewhere = new MemoryBlobs();
    Object.assign(elsewhere, { address: 's3://other' });
    await t.rejects(open({ open: async () => elsewhere }), {
      message: /has copies of memory, not of s3:\/\/other: use another directory/,
    });
  });
});

t.test('a tree is brought back as it was', async (t) => {
  const directory = await temporaryDirectory(t);
  const source = join(directory, 'source');
  await mkdir(join(source, 'a', 'b'), { recursive: true });
  await mkdir(join(source, 'empty'), { mode: 0o700 });
  await writeFile(join(source, 'a', 'b', 'with a blank, and ä'), 'deep');
  await writeFile(join(source, 'run.sh'), '#!/bin/sh', { mode: 0o755 });
  await writeFile(join(source, 'secret'), 'x', { mode: 0o600 });
  await chmod(join(source, 'a', 'b'), 0o500);
  t.teardown(() => chmod(join(source, 'a', 'b'), 0o700));
  const store = new MemoryBlobs();
  const tree = { store, area: 'backups' };
  t.match(await publishFiles(tree, source, { tree: true }), { number: 1, sentFiles: 3 });
  t.match(await publishFiles(tree, source, { tree: true }), { number: 1, isNew: false });
  await chmod(join(source, 'secret'), 0o640);
  t.match(await publishFiles(tree, source, { tree: true }), { number: 2, isNew: true, sentFiles: 0 });

  const target = join(directory, 'target');
  t.match(await fetchTree(tree, target), { number: 2 });
  t.teardown(() => chmod(join(target, 'a', 'b'), 0o700));
  t.same(await readFile(join(target, 'a', 'b', 'with a blank, and ä'), 'utf8'), 'deep');
  const modes = async (root: string) =>
    Promise.all(
      ['a', 'a/b', 'empty', 'run.sh', 'secret'].map(
        async (name) => (await stat(join(root, name))).mode & 0o777,
      ),
    );
  t.same(await modes(target), await modes(source));
  const first = join(directory, 'first');
  await fetchTree(tree, first, { number: 1 });
  t.teardown(() => chmod(join(first, 'a', 'b'), 0o700));
  t.equal((await stat(join(first, 'secret'))).mode & 0o777, 0o600);
  await t.rejects(fetchTree(tree, join(directory, 'x'), { number: 9 }), {
    message: /there is nothing with the number 9/,
  });
  await t.rejects(fetchTree({ store, area: 'none' }, join(directory, 'y')), {
    message: 'memory/none: there is nothing',
  });
  await t.rejects(fetchTree(tree, target), { code: 'EEXIST' }, 'nothing is overwritten');
});

t.test('finished files while their place is down', async (t) => {
  const directory = await temporaryDirectory(t);
  const store = new MemoryBlobs();
  const problems: string[] = [];
  const copies = new FileCopies({
    open: async () => ({ store, area: 'archive' }),
    directory,
    isFinished: (name) => name.endsWith('.warc'),
    onProblem: (sentence) => problems.push(sentence),
  });
  const sent = async () => {
    const keys: string[] = [];
    for await (const page of store.list('archive/')) keys.push(...page.map(({ key }) => key));
    return keys;
  };
  let tried = 0;
  store.fault = ({ method }) => {
    if (method !== 'list') tried++;
    return { error: new StorageError('memory does not answer') };
  };
  const names = ['a.warc', 'b.warc', 'c.warc', 'd.warc'];
  for (const name of names) await writeFile(join(directory, name), name);
  // All are waiting before the first one fails.
  for (const name of names) copies.add(name);
  await copies.settled();
  t.equal(tried, 1, 'not each file waits for it');
  t.match(problems, [/a\.warc cannot be sent to the place of Publish: memory does not answer/, /d\.warc/]);
  store.fault = () => undefined;
  await writeFile(join(directory, 'open.part'), 'x');
  await writeFile(join(directory, 'e.warc'), 'e.warc');
  copies.add('e.warc');
  await copies[Symbol.asyncDispose]();
  t.same(
    await sent(),
    ['a', 'b', 'c', 'd', 'e'].map((name) => `archive/${name}.warc`),
    'all are sent later',
  );
});

function same(a: Content | undefined, b: Content | undefined): boolean {
  const sorted = (content: Content | undefined): string =>
    JSON.stringify(Object.entries(content ?? {}).sort(([x], [y]) => (x < y ? -1 : 1)));
  return sorted(a) === sorted(b);
}
