// The test suite of the Broker's store, whatever its database.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { encodeSoif, readRange, SoifObject } from '../../protocols/soif/index.js';
import type { RegistryEntry, Removal } from '../records/records.js';
import type { BrokerStore, BrokerStoreOptions } from './broker-store.js';
import type { ApplyCounts, CollectedChange } from './registry-apply.js';

/** The `test` function of node:test, of tap, or of another runner. */
type TestRunner = (name: string, run: () => Promise<void>) => unknown;

export interface BrokerStoreConformance {
  readonly test: TestRunner;
  /** The start of the tests' names. */
  readonly name: string;
  /**
   * Opens the store of a place, which the tests name `1`, `2` and so on. A new place is empty; the same one is opened
   * again after the close, or beside if {@link isShared}.
   */
  readonly open: (place: string, options: BrokerStoreOptions) => Promise<BrokerStore>;
  /** Whether several owners may have a store open. */
  readonly isShared: boolean;
}

const START = 1_000_000_000;
/** Update-Times of the tests begin here. */
const BEGIN = START - 2000;
const MIB = 1 << 20;
const ALL = { after: 0, upTo: 4_000_000_000 };

function change(
  kind: CollectedChange['kind'],
  url: string,
  updateTime?: number,
  attributes: Readonly<Record<string, string>> = {},
): CollectedChange {
  const object = SoifObject.of('FILE', url, [
    ['Gatherer-Name', 'G'],
    ['Gatherer-Host', 'g.test'],
    ['Gatherer-Version', '1.0'],
    ...(updateTime === undefined ? [] : [['Update-Time', String(BEGIN + updateTime)] as const]),
    ...Object.entries(attributes),
  ]);
  return { kind, object, bytes: encodeSoif(object) };
}

/** The counts of a result that are not 0. */
function countsOf(result: ApplyCounts): Record<string, number> {
  const names = ['added', 'updated', 'refreshed', 'deleted', 'duplicates', 'absent', 'rejected'] as const;
  return Object.fromEntries(names.filter((name) => result[name] > 0).map((name) => [name, result[name]]));
}

async function flat<T>(pages: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

const urlsOf = (items: readonly (RegistryEntry | Removal)[]): string[] => items.map(({ url }) => url).sort();

/** Registers the tests: a store that passes them can be a Broker's. */
export function testBrokerStore({ test, name, open, isShared }: BrokerStoreConformance): void {
  let places = 0;
  interface Opened {
    readonly store: BrokerStore;
    readonly place: string;
    readonly clock: { now: number };
    readonly again: () => Promise<BrokerStore>;
  }
  const check = (what: string, run: (opened: Opened) => Promise<void>): void => {
    test(`${name}: ${what}`, async () => {
      const place = String(++places);
      const clock = { now: START };
      const again = (): Promise<BrokerStore> => open(place, { now: () => clock.now });
      await using store = await again();
      await run({ store, place, clock, again });
    });
  };

  check('SOIF-6.5, 6.6, 8.4 what each change does', async ({ store }) => {
    const first = await store.apply([
      change('update', 'http://a.test/', 10),
      change('update', 'http://b.test/', 10),
      change('update', 'http://c.test/'),
      change('refresh', 'http://d.test/', 10),
      change('delete', 'http://e.test/'),
    ]);
    assert.deepEqual(countsOf(first), { added: 2, absent: 1, rejected: 1 });
    assert.equal(first.unknown.length, 1, 'a refresh of an unknown object is returned');
    const second = await store.apply([
      change('update', 'http://a.test/', 10),
      change('update', 'http://a.test/', 9),
      change('update', 'http://a.test/', 12, { Title: 'new' }),
      change('refresh', 'http://b.test/', 13),
      change('update', 'http://a.test/', 12, { 'Gatherer-Name': 'Another' }),
    ]);
    assert.deepEqual(countsOf(second), { added: 1, updated: 1, refreshed: 1, duplicates: 2 });
    const entries = await store.byUrl('http://a.test/');
    assert.deepEqual(entries.map(({ oid, updateTime }) => [oid, updateTime]).sort(), [
      [1, BEGIN + 12],
      [3, BEGIN + 12],
    ]);
    assert.deepEqual(countsOf(await store.apply([change('delete', 'http://b.test/')])), { deleted: 1 });
    assert.equal(store.count, 2);
    assert.equal(store.removals, 1);
    const [bytes, missing] = await store.objects([1, 2]);
    assert.match(Buffer.from(bytes ?? []).toString(), /Title\{3\}:\tnew/);
    assert.equal(missing, undefined);
  });

  check('the change log, and what a follower has seen', async ({ store }) => {
    await store.apply([change('update', 'a', 1), change('update', 'b', 1)]);
    await store.apply([change('update', 'a', 2), change('delete', 'b')]);
    const log = await store.changesAfter(0, 100);
    assert.deepEqual(
      log.map(({ sequence, oid, kind }) => [sequence, oid, kind]),
      [
        [1, 1, 'put'],
        [2, 2, 'put'],
        [3, 1, 'put'],
        [4, 2, 'remove'],
      ],
    );
    assert.deepEqual(await store.changesAfter(1, 2), log.slice(1, 3));
    await store.trimChanges(3);
    assert.deepEqual(await store.changesAfter(0, 100), log.slice(3));
    assert.deepEqual([store.trimmedSequence, store.lastSequence], [3, 4]);
  });

  check(
    'GATHERD-13.6 the state of a point is stored with its changes, and all is there again',
    async ({ store, again }) => {
      const mark = { origin: 'database', sequence: 7 };
      await store.apply([change('update', 'a', 5)], { key: 'g.test:8500', last: 5, mark });
      await store.flush();
      await store.close();
      await using reopened = await again();
      assert.deepEqual(await reopened.points.get('g.test:8500'), { last: 5, ...mark });
      assert.deepEqual([reopened.count, reopened.lastSequence, reopened.lastChange], [1, 1, START]);
      assert.deepEqual(urlsOf(await flat(reopened.all())), ['a']);
      await reopened.resetPoints();
      assert.ok(
        Number((await reopened.points.get('g.test:8500'))?.last) <= 1,
        'everything is requested again',
      );
    },
  );

  check('BT-4, BT-5 what changed since a time', async ({ store, clock }) => {
    await store.apply([change('update', 'a', 10), change('update', 'b', 10), change('update', 'c', 10)]);
    clock.now += 5;
    await store.apply([change('refresh', 'a', 11), change('delete', 'c')]);
    assert.deepEqual(urlsOf(await flat(store.copiesSince({ after: START, upTo: ALL.upTo }))), ['a']);
    assert.deepEqual(urlsOf(await flat(store.copiesSince({ after: START - 1, upTo: ALL.upTo }))), ['a', 'b']);
    assert.deepEqual(urlsOf(await flat(store.removalsSince({ after: START, upTo: ALL.upTo }))), ['c']);
    clock.now -= 1000;
    assert.equal(await store.moment(), START + 5, "the store's time never decreases");
  });

  check('SOIF-6.8 expired objects are removed', async ({ store, clock }) => {
    await store.apply([
      change('update', 'a', 1900, { 'Time-to-Live': '50' }),
      change('update', 'b', 1900, { 'Time-to-Live': '500' }),
      change('update', 'c', 1900, { 'Time-to-Live': '0' }),
    ]);
    assert.equal(await store.countExpired(clock.now), 1);
    assert.equal(await store.nextExpiry(clock.now), START + 401);
    const valid = await flat(store.valid(clock.now));
    assert.equal(valid.length, 2);
    assert.equal(await store.expire(clock.now), 1);
    assert.deepEqual(urlsOf(await flat(store.all())), ['b', 'c']);
    assert.equal(store.removals, 0, 'an expired object leaves none');
  });

  check('objects of more than a mebibyte', async ({ store }) => {
    const large = change('update', 'large', 10, { Body: randomBytes(3 * MIB).toString('hex') });
    await store.apply([change('update', 'small', 10), large]);
    const whole = Buffer.from(large.bytes as Uint8Array);
    assert.deepEqual(Buffer.from((await store.objects([2]))[0] ?? []), whole);
    const parts = await store.large(2);
    assert.ok(parts !== undefined);
    await store.apply([change('update', 'large', 11, { Body: 'short' })]);
    const range = await readRange(parts, 2 * MIB - 5, 2 * MIB + 5);
    assert.deepEqual(
      Buffer.from(range),
      whole.subarray(2 * MIB - 5, 2 * MIB + 5),
      'as it was when it was opened',
    );
    await parts[Symbol.asyncDispose]();
    assert.equal(await store.large(2), undefined);
    assert.equal((await flat(store.valid(START))).length, 2);
  });

  check('many objects: walks in pages, a walk from a time, neighbors', async ({ store }) => {
    const changes = Array.from({ length: 1200 }, (_, i) =>
      change('update', `http://h.test/${1000 + i}`, i + 1),
    );
    await store.apply(changes);
    assert.equal((await flat(store.all())).length, 1200);
    assert.equal((await flat(store.all({ since: BEGIN + 1191 }))).length, 10);
    assert.deepEqual(await store.beside('http://h.test/1005', 14, 3), [7, 8, 9]);
    const oids = Array.from({ length: 1100 }, (_, i) => i + 1);
    assert.equal(await store.remove(oids), 1100);
    assert.equal(store.count, 100);
    assert.equal((await flat(store.stored())).length, 100);
    await store.compress();
    await store.clear();
    assert.deepEqual([store.count, store.removals], [0, 0]);
    assert.equal(store.lastSequence, 2400, 'sequences continue to rise');
  });

  if (!isShared) return;

  check(
    'changes of several owners at once: none is lost, no OID is given twice',
    async ({ store, again }) => {
      await using other = await again();
      const batches = Array.from({ length: 20 }, (_, i) => {
        const owner = i % 2 === 0 ? store : other;
        return owner.apply([change('update', `u${i}`, 10), change('update', 'same', 100 + i)]);
      });
      await Promise.all(batches);
      await Promise.all([store.refresh(), other.refresh()]);
      assert.deepEqual([store.count, other.count], [21, 21]);
      assert.deepEqual([store.lastSequence, other.lastSequence], [store.lastSequence, store.lastSequence]);
      const entries = await flat(other.all());
      assert.equal(new Set(entries.map(({ oid }) => oid)).size, 21);
      assert.equal((await store.byUrl('same')).length, 1);
      assert.equal((await store.byUrl('same'))[0]?.updateTime, BEGIN + 119);
      const log = await store.changesAfter(0, 1000);
      assert.deepEqual(
        log.map(({ sequence }) => sequence),
        log.map((_, i) => i + 1),
      );
    },
  );

  check('the log is kept for the slowest follower', async ({ store, again, clock }) => {
    await using other = await again();
    await store.apply([change('update', 'a', 1), change('update', 'b', 1), change('update', 'c', 1)]);
    await other.trimChanges(1, 'other');
    await store.trimChanges(3, 'one');
    assert.equal(store.trimmedSequence, 1, 'the other one has seen the first change only');
    await other.trimChanges(2, 'other');
    assert.equal(other.trimmedSequence, 2);
    clock.now += 8 * 86_400;
    await store.trimChanges(3, 'one');
    assert.equal(store.trimmedSequence, 3, 'a follower that is gone for a week does not hold it');
  });
}
