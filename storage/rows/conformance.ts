// The test suite of the contract of Rows, for the databases of this package and for others.
import assert from 'node:assert/strict';
import type { Row, RowChange, RowReader, Rows } from './contract.js';
import { countRows, pagesOf, pagesOfKeys } from './pages.js';

/** The `test` function of node:test, of tap, or of another runner. */
type TestRunner = (name: string, run: () => Promise<void>) => unknown;

export interface RowsConformance {
  readonly test: TestRunner;
  /** The start of the tests' names. */
  readonly name: string;
  /**
   * Opens the rows of a place, which the tests name `1`, `2` and so on; a new place is empty, and one may be opened
   * again after the close. Rows that are shared may be opened while they are open.
   */
  readonly open: (place: string) => Promise<Rows>;
}

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const textOf = (value: Uint8Array | undefined): string | undefined =>
  value && Buffer.from(value).toString('latin1');
const put = (key: string, value: string): RowChange => ({ key: bytes(key), value: bytes(value) });
const remove = (key: string): RowChange => ({ key: bytes(key) });
const texts = (rows: readonly Row[]): string[] =>
  rows.map(([key, value]) => `${textOf(key)}=${textOf(value)}`);
/** All keys of the tests. */
const ALL = { gte: Uint8Array.of(0x01), lt: Uint8Array.of(0xff, 0xff) };

async function contents(rows: RowReader): Promise<string[]> {
  const found: string[] = [];
  for await (const page of pagesOf(rows, ALL, { limit: 3 })) found.push(...texts(page));
  return found;
}

/** Registers the tests: an engine that passes them can be the database of a store. */
export function testRows({ test, name, open }: RowsConformance): void {
  let places = 0;
  const check = (what: string, run: (rows: Rows, place: string) => Promise<void>): void => {
    test(`${name}: ${what}`, async () => {
      const place = String(++places);
      await using rows = await open(place);
      await run(rows, place);
    });
  };

  check('reads what was written, in the order of the keys asked for', async (rows) => {
    await rows.write([put('b', '2'), put('a', '1'), put('c', '')]);
    assert.equal(textOf(await rows.get(bytes('a'))), '1');
    assert.equal(textOf(await rows.get(bytes('c'))), '', 'an empty value is one');
    assert.equal(await rows.get(bytes('d')), undefined);
    const many = await rows.getMany(['c', 'x', 'a', 'c'].map(bytes));
    assert.deepEqual(many.map(textOf), ['', undefined, '1', '']);
    assert.deepEqual(await rows.getMany([]), []);
  });

  check('keeps every byte of keys and values, and orders keys by them', async (rows) => {
    const keys = Array.from({ length: 256 }, (_, i) => Uint8Array.of(0x41, 255 - i));
    await rows.write(keys.map((key) => ({ key, value: Uint8Array.of(0, key[1]!, 0x5c, 0x27, 0xff) })));
    const page = await rows.page({ gte: Uint8Array.of(0x41), lt: Uint8Array.of(0x42) });
    assert.deepEqual(
      page.map(([key, value]) => [...key, ...value]),
      Array.from({ length: 256 }, (_, i) => [0x41, i, 0, i, 0x5c, 0x27, 0xff]),
    );
  });

  check('the later of two changes of a row counts', async (rows) => {
    await rows.write([put('a', '1'), remove('a'), put('b', '1'), put('b', '2'), remove('c'), put('c', '3')]);
    assert.deepEqual(await contents(rows), ['b=2', 'c=3']);
    await rows.write([put('b', '4'), remove('b'), remove('never')]);
    assert.deepEqual(await contents(rows), ['c=3']);
  });

  check('pages: ranges, limits, after, reverse', async (rows) => {
    await rows.write(['a', 'b', 'c', 'd', 'e'].map((key) => put(key, key)));
    const range = { gte: bytes('b'), lt: bytes('e') };
    assert.deepEqual(texts(await rows.page(range)), ['b=b', 'c=c', 'd=d']);
    assert.deepEqual(texts(await rows.page(range, { limit: 2 })), ['b=b', 'c=c']);
    assert.deepEqual(texts(await rows.page(range, { after: bytes('b') })), ['c=c', 'd=d']);
    assert.deepEqual(texts(await rows.page(range, { reverse: true, limit: 2 })), ['d=d', 'c=c']);
    assert.deepEqual(texts(await rows.page(range, { reverse: true, after: bytes('d') })), ['c=c', 'b=b']);
    assert.deepEqual((await rows.pageOfKeys(range, { after: bytes('c') })).map(textOf), ['d']);
    assert.deepEqual((await rows.pageOfKeys(range, { reverse: true, limit: 1 })).map(textOf), ['d']);
    assert.deepEqual(await rows.page({ gte: bytes('x'), lt: bytes('z') }), []);
    assert.equal(await countRows(rows, range), 3);
    const keys: (string | undefined)[] = [];
    for await (const page of pagesOfKeys(rows, ALL, { limit: 2 })) keys.push(...page.map(textOf));
    assert.deepEqual(keys, ['a', 'b', 'c', 'd', 'e']);
  });

  check('a page ends with the row that exceeds its bytes', async (rows) => {
    await rows.write(Array.from({ length: 20 }, (_, i) => put(`k${10 + i}`, 'x'.repeat(1000))));
    const page = await rows.page(ALL, { bytes: 2500 });
    assert.ok(page.length >= 1 && page.length <= 4, `${page.length} rows`);
    assert.equal((await rows.page(ALL, { bytes: 1 })).length >= 1, true, 'one row at least');
    let count = 0;
    for await (const some of pagesOf(rows, ALL, { bytes: 2500 })) count += some.length;
    assert.equal(count, 20);
  });

  check('long keys and large values', async (rows) => {
    const long = (tail: string): string => `L${'u'.repeat(5000)}${tail}`;
    const large = 'v'.repeat(1 << 20);
    await rows.write([put(long('1'), 'one'), put(long('2'), 'two'), put('K', large)]);
    assert.equal(textOf(await rows.get(bytes(long('2')))), 'two');
    assert.equal(textOf(await rows.get(bytes('K'))), large);
    const range = { gte: bytes('L'), lt: bytes('M') };
    const keys = (await rows.pageOfKeys(range)).map(textOf);
    assert.deepEqual(keys.sort(), [long('1'), long('2')]);
    let walked = 0;
    for await (const page of pagesOfKeys(rows, range, { limit: 1 })) walked += page.length;
    assert.equal(walked, 2);
    await rows.write([remove(long('1'))]);
    assert.equal(await rows.get(bytes(long('1'))), undefined);
  });

  check('clear deletes a range', async (rows) => {
    await rows.write(['a', 'b', 'c', 'd'].map((key) => put(key, key)));
    await rows.clear({ gte: bytes('b'), lt: bytes('d') });
    assert.deepEqual(await contents(rows), ['a=a', 'd=d']);
  });

  check('a snapshot keeps what is replaced and deleted', async (rows) => {
    await rows.write([put('a', '1'), put('b', '1')]);
    const snapshot = await rows.snapshot();
    await rows.write([put('a', '2'), remove('b'), put('c', '2')]);
    const read = async (key: string): Promise<string | undefined> => textOf(await snapshot.get(bytes(key)));
    assert.deepEqual([await read('a'), await read('b'), await read('c')], ['1', '1', undefined]);
    assert.deepEqual(texts(await snapshot.page(ALL)), ['a=1', 'b=1']);
    assert.deepEqual(texts(await snapshot.page(ALL, { limit: 1, after: bytes('a') })), ['b=1']);
    await snapshot.close();
    await snapshot.close();
    assert.deepEqual(await contents(rows), ['a=2', 'c=2']);
  });

  check('a change sees what it wrote, and its result is returned', async (rows) => {
    const result = await rows.exclusive(async (change) => {
      await change.write([put('a', '1')]);
      await change.write([put('b', '2')]);
      await change.clear({ gte: bytes('a'), lt: bytes('b') });
      const snapshot = await change.snapshot();
      const seen = textOf(await snapshot.get(bytes('b')));
      await snapshot.close();
      return [seen, await contents(change)];
    });
    assert.deepEqual(result, ['2', ['b=2']]);
    assert.deepEqual(await contents(rows), ['b=2']);
  });

  check('what fails in a change is thrown, and of a shared one nothing is written', async (rows) => {
    const failure = new Error('of the caller');
    const change = rows.exclusive(async (change) => {
      await change.write([put('a', '1')]);
      throw failure;
    });
    await assert.rejects(change, (error) => error === failure);
    if (rows.isShared) assert.deepEqual(await contents(rows), []);
    await rows.write([put('b', '2')]);
    assert.equal(textOf(await rows.get(bytes('b'))), '2', 'the next change is not hindered');
  });

  check('a claim has rows to itself, and creates those that do not exist', async (rows) => {
    await rows.write([put('a', '1')]);
    const keys = ['b', 'a', 'c'].map(bytes);
    const values = await rows.claim(keys, bytes('new'), async (change, claimed) => {
      await change.write([put('a', '2'), put('b', '2')]);
      return claimed.map(textOf);
    });
    assert.deepEqual(values, ['new', '1', 'new']);
    assert.deepEqual((await contents(rows)).slice(0, 2), ['a=2', 'b=2']);
    assert.deepEqual(await rows.claim([], bytes('new'), async (_, claimed) => claimed), []);
    const asHolder = await rows.claim(
      ['a', 'x'].map(bytes),
      bytes('new'),
      async (_, claimed) => claimed.map(textOf),
      { asHolder: true },
    );
    assert.deepEqual(asHolder, ['2', undefined]);
  });

  check('a claim that fails changes nothing, and hinders no other one', async (rows) => {
    const failure = new Error('of the caller');
    const claim = rows.claim([bytes('a')], bytes('new'), () => Promise.reject(failure));
    await assert.rejects(claim, (error) => error === failure);
    const claimed = await rows.claim([bytes('a')], bytes('new'), async (_, values) => values.map(textOf));
    assert.deepEqual(claimed, ['new']);
  });

  check('claims of the same rows: each has them alone', async (rows) => {
    let inside = 0;
    const counts = await Promise.all(
      Array.from({ length: 6 }, () =>
        rows.claim([bytes('a')], bytes('0'), async (change, [value]) => {
          if (value === undefined) return 0;
          assert.equal(++inside, 1);
          await change.write([put('a', String(Number(textOf(value)) + 1))]);
          inside--;
          return 1;
        }),
      ),
    );
    const done = counts.reduce<number>((sum, count) => sum + count, 0);
    assert.ok(done >= 1);
    assert.equal(textOf(await rows.get(bytes('a'))), String(done));
  });

  check('rows that a change holds are claimed by their holder, and by others after it', async (rows) => {
    await rows.write([put('a', '1'), put('b', '1')]);
    const claim = (asHolder: boolean): Promise<(string | undefined)[]> =>
      rows.claim(['a', 'b'].map(bytes), bytes('0'), async (_, values) => values.map(textOf), { asHolder });
    const early: Promise<(string | undefined)[]>[] = [];
    await rows.exclusive(async (change) => {
      assert.deepEqual((await change.hold(['x', 'a'].map(bytes))).map(textOf), [undefined, '1']);
      assert.deepEqual(await change.hold([]), []);
      // Shared rows: neither waits for the change, and one after the other, as each skips what the other has. Others:
      // both wait.
      for (const asHolder of [false, true]) {
        const claimed = claim(asHolder);
        early.push(claimed);
        if (rows.isShared) await claimed;
      }
      await change.write([put('c', '1')]);
    });
    const [other, holder] = await Promise.all(early);
    assert.deepEqual(other, rows.isShared ? [undefined, '1'] : ['1', '1']);
    assert.deepEqual(holder, ['1', '1']);
    assert.deepEqual(await claim(false), ['1', '1']);
  });

  check('the time never runs backwards, in changes neither', async (rows) => {
    const before = await rows.time();
    const within = await rows.exclusive((change) => change.time());
    const after = await rows.time();
    assert.ok(Number.isSafeInteger(before) && before > 0, String(before));
    assert.ok(before <= within && within <= after, `${before} ${within} ${after}`);
  });

  check('flushed and closed rows are there again', async (rows, place) => {
    await rows.write([put('a', '1')], true);
    await rows.flush();
    await rows.compact();
    await rows.close();
    await using again = await open(place);
    assert.deepEqual(await contents(again), ['a=1']);
  });

  check('a secret is the same for all owners, and replaced when that is asked for', async (rows, place) => {
    if (rows.secret === undefined) return;
    await using other = await open(place);
    assert.equal(textOf(await rows.secret(bytes('one'))), 'one');
    assert.equal(textOf(await other.secret?.(bytes('two'))), 'one');
    assert.equal(textOf(await other.secret?.(bytes('two'), true)), 'two');
    assert.equal(textOf(await rows.secret(bytes('three'))), 'two');
    assert.deepEqual(await contents(rows), [], 'it is not a row');
  });

  check('shared rows: the changes of several owners follow each other', async (rows, place) => {
    if (!rows.isShared) return;
    await using other = await open(place);
    const increment = (owner: Rows): Promise<void> =>
      owner.exclusive(async (change) => {
        const count = Number(textOf(await change.get(bytes('count'))) ?? 0);
        await change.write([put('count', String(count + 1))]);
      });
    await Promise.all(Array.from({ length: 20 }, (_, i) => increment(i % 2 === 0 ? rows : other)));
    assert.equal(textOf(await other.get(bytes('count'))), '20');
  });
}
