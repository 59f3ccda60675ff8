// The test suite of the contract of BlobStore, for the stores of this package and for others.
import assert from 'node:assert/strict';
import { type BlobListOptions, type BlobSource, type BlobStore, isMissingBlob } from './contract.js';
import { bytesSource, digestOf, readBlob, sha256Of } from './sources.js';

/** The `test` function of node:test, of tap, or of another runner. */
type TestRunner = (name: string, run: () => Promise<void>) => unknown;

export interface BlobsConformance {
  readonly test: TestRunner;
  /** The start of the tests' names. */
  readonly name: string;
  /** Opens the blobs of a place, which the tests name `1`, `2` and so on; a new place is empty. */
  readonly open: (place: string) => Promise<BlobStore>;
  /** Bytes of a blob that is sent in parts, if the store does so. Default 300 000. */
  readonly largeBytes?: number;
  /**
   * Whether callers race for a key. Default true. False for a store that looks for a key and then writes it, as s3proxy
   * does over a directory: more than one publisher at a time may lose generations there.
   */
  readonly isAtomic?: boolean;
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

async function textOf(store: BlobStore, key: string, start?: number, end?: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  const range = { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
  for await (const piece of store.read(key, range)) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

async function keysOf(store: BlobStore, prefix: string, options?: BlobListOptions): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.list(prefix, options)) keys.push(...page.map(({ key }) => key));
  return keys;
}

/** Bytes that differ everywhere, made as they are read. */
function patternSource(size: number, step = 7919): BlobSource {
  return {
    size,
    async *open(start, end) {
      for (let at = start; at < end; at += 65536) {
        const piece = Buffer.alloc(Math.min(65536, end - at));
        for (let i = 0; i < piece.length; i++) piece[i] = ((at + i) * step) >>> 5;
        yield piece;
      }
    },
  };
}

/** Registers the tests: a store that passes them can carry what the kit publishes. */
export function testBlobs({
  test,
  name,
  open,
  largeBytes = 300_000,
  isAtomic = true,
}: BlobsConformance): void {
  let places = 0;
  const check = (what: string, run: (store: BlobStore, place: string) => Promise<void>): void => {
    test(`${name}: ${what}`, async () => {
      const place = String(++places);
      await using store = await open(place);
      await run(store, place);
    });
  };

  check('reads what was written, and the later content of a key', async (store, place) => {
    assert.equal(await store.head('a/b.txt'), undefined);
    await store.put('a/b.txt', bytesSource(bytes('first')));
    await store.put('a/c', bytesSource(bytes('')));
    assert.equal(await textOf(store, 'a/b.txt'), 'first');
    assert.equal(await textOf(store, 'a/c'), '', 'an empty blob is one');
    const found = await store.head('a/b.txt');
    assert.deepEqual([found?.key, found?.size], ['a/b.txt', 5]);
    assert.ok(found !== undefined && found.ageSeconds >= 0 && found.ageSeconds < 3600, 'a new blob is young');
    await store.put('a/b.txt', bytesSource(bytes('the second')));
    await using again = await open(place);
    assert.equal(await textOf(again, 'a/b.txt'), 'the second', 'seen by another reader');
    assert.equal((await again.head('a/c'))?.size, 0);
  });

  check('parts of a blob', async (store) => {
    await store.put('digits', bytesSource(bytes('0123456789')));
    assert.equal(await textOf(store, 'digits', 0, 1), '0');
    assert.equal(await textOf(store, 'digits', 3, 7), '3456');
    assert.equal(await textOf(store, 'digits', 7), '789');
    assert.equal(await textOf(store, 'digits', 8, 100), '89', 'the end is at most the size');
    assert.equal(await textOf(store, 'digits', 10), '', 'nothing is after the end');
    assert.equal(await textOf(store, 'digits', 5, 5), '');
  });

  check('what does not exist', async (store) => {
    assert.equal(await store.head('no/such'), undefined);
    assert.equal(await readBlob(store, 'no/such', 10), undefined);
    await assert.rejects(textOf(store, 'no/such'), (error) => isMissingBlob(error));
    await assert.rejects(textOf(store, 'no/such', 2, 5), (error) => isMissingBlob(error));
    await store.delete('no/such');
    assert.deepEqual(await keysOf(store, ''), []);
  });

  check('deletes', async (store) => {
    await store.put('x/1', bytesSource(bytes('1')));
    await store.put('x/2', bytesSource(bytes('2')));
    await store.delete('x/1');
    assert.deepEqual(await keysOf(store, 'x/'), ['x/2']);
    assert.equal(await store.head('x/1'), undefined);
    assert.equal(await store.putIfAbsent('x/1', bytes('again')), true, 'the key is free');
  });

  check('lists by prefix, in the order of bytes, after a key', async (store) => {
    const keys = ['a-1', 'a.1', 'a/1', 'a/10', 'a/2', 'a/b/c', 'a0', 'aZ', 'b/1'];
    for (const key of [...keys].reverse()) await store.put(key, bytesSource(bytes(key)));
    assert.deepEqual(await keysOf(store, ''), keys);
    assert.deepEqual(await keysOf(store, 'a/'), ['a/1', 'a/10', 'a/2', 'a/b/c']);
    assert.deepEqual(await keysOf(store, 'a/', { after: 'a/10' }), ['a/2', 'a/b/c']);
    assert.deepEqual(await keysOf(store, 'a/1'), ['a/1', 'a/10'], 'a prefix may end anywhere');
    assert.deepEqual(await keysOf(store, 'c'), []);
    for await (const page of store.list('b/')) assert.deepEqual([page[0]?.key, page[0]?.size], ['b/1', 3]);
  });

  check('a key that exists is not written again', async (store) => {
    assert.equal(await store.putIfAbsent('lock/1', bytes('mine')), true);
    assert.equal(await store.putIfAbsent('lock/1', bytes('yours')), false);
    assert.equal(await textOf(store, 'lock/1'), 'mine');
  });

  const race = isAtomic ? check : () => undefined;
  race('of many that write one key one succeeds', async (store) => {
    const callers = Array.from({ length: 8 }, (_, i) => `caller ${i}`);
    const won = await Promise.all(callers.map((content) => store.putIfAbsent('race/1', bytes(content))));
    assert.equal(won.filter(Boolean).length, 1);
    assert.equal(await textOf(store, 'race/1'), callers[won.indexOf(true)]);
  });

  check('writes many blobs at the same time, at places that are new', async (store) => {
    const keys = Array.from({ length: 12 }, (_, i) => `new/${i % 2}/place/${String(i).padStart(2, '0')}`);
    await Promise.all(keys.map((key) => store.put(key, bytesSource(bytes(key)))));
    assert.deepEqual(await keysOf(store, ''), [...keys].sort());
    for (const key of keys) assert.equal(await textOf(store, key), key);
  });

  check('a large blob, whole and in parts', async (store) => {
    const source = patternSource(largeBytes);
    const expected = await digestOf(source.open(0, largeBytes));
    await store.put('large', { ...source, sha256: expected.sha256 });
    assert.equal((await store.head('large'))?.size, largeBytes);
    assert.deepEqual(await digestOf(store.read('large')), expected);
    const middle = { start: Math.floor(largeBytes / 2) - 1000, end: Math.floor(largeBytes / 2) + 1000 };
    assert.deepEqual(
      await digestOf(store.read('large', middle)),
      await digestOf(source.open(middle.start, middle.end)),
    );
  });

  check('of a content that breaks off nothing is stored', async (store) => {
    const source = patternSource(largeBytes);
    const broken: BlobSource = {
      size: source.size,
      async *open(start, end) {
        for await (const piece of source.open(start, end)) {
          yield piece;
          throw new Error('the disk is gone');
        }
      },
    };
    await store.put('kept', bytesSource(bytes('former')));
    await assert.rejects(store.put('broken', broken), /the disk is gone/);
    await assert.rejects(store.put('kept', broken), /the disk is gone/);
    assert.equal(await store.head('broken'), undefined);
    assert.deepEqual(await keysOf(store, ''), ['kept']);
    assert.equal(await textOf(store, 'kept'), 'former');
  });

  check('an aborted call throws the reason of the signal', async (store) => {
    const reason = new Error('stopped');
    const signal = AbortSignal.abort(reason);
    await assert.rejects(store.put('a', bytesSource(bytes('a')), { signal }), reason);
    await assert.rejects(store.head('a', { signal }), reason);
    assert.equal(await store.head('a'), undefined);
  });

  check('names that are no keys are refused', async (store) => {
    for (const key of [
      '',
      '/a',
      'a/',
      'a//b',
      '.',
      '../a',
      'a/../b',
      'a b',
      'é',
      'a\0',
      'a?b',
      'x'.repeat(900),
    ])
      await assert.rejects(store.put(key, bytesSource(bytes('x'))), /cannot be the key/, JSON.stringify(key));
    await store.put('A.b-c_d/..x/0', bytesSource(bytes('x')));
    assert.deepEqual(await keysOf(store, ''), ['A.b-c_d/..x/0']);
  });

  check('a reader that stops early leaves the store usable', async (store) => {
    const source = patternSource(largeBytes);
    await store.put('large', source);
    for (let i = 0; i < 20; i++)
      for await (const piece of store.read('large')) {
        assert.ok(piece.length > 0);
        break;
      }
    assert.equal(
      sha256Of(bytes(await textOf(store, 'large', 0, 100))),
      (await digestOf(source.open(0, 100))).sha256,
    );
  });
}
