// The test suite of leases, for the databases of this package and for others that keep the contract of Rows.
import assert from 'node:assert/strict';
import type { RowChange, Rows } from '../rows/contract.js';
import { type Lease, Leases, StaleLeaseError } from './leases.js';
import { rowsWithTime } from './rows-with-time.js';

/** The `test` function of node:test, of tap, or of another runner. */
type TestRunner = (name: string, run: () => Promise<void>) => unknown;

export interface LeasesConformance {
  readonly test: TestRunner;
  /** The start of the tests' names. */
  readonly name: string;
  /** Opens new, empty rows, which the tests name `1`, `2` and so on. */
  readonly open: (place: string) => Promise<Rows>;
}

const LEASE_MS = 1000;
const put = (key: string): RowChange => ({ key: Buffer.from(key), value: Buffer.from('1') });

interface Scene {
  readonly rows: Rows;
  readonly one: Leases;
  readonly other: Leases;
  /** Lets this many milliseconds pass by the database's clock. */
  readonly pass: (milliseconds: number) => void;
}

/** Registers the tests: rows that pass them can have leases. */
export function testLeases({ test, name, open }: LeasesConformance): void {
  let places = 0;
  const check = (what: string, run: (scene: Scene) => Promise<void>): void => {
    test(`${name}: ${what}`, async () => {
      await using opened = await open(String(++places));
      let now = 10_000_000;
      const rows = rowsWithTime(opened, () => now);
      const [one, other] = ['one', 'other'].map((owner) => new Leases(rows, { owner, leaseMs: LEASE_MS }));
      await run({
        rows,
        one: one!,
        other: other!,
        pass: (milliseconds) => {
          now += milliseconds;
        },
      });
    });
  };

  check('a lease belongs to one owner until it is released', async ({ one, other }) => {
    assert.deepEqual(await one.acquire(['a', 'b', 'a']), [
      { name: 'a', epoch: 1 },
      { name: 'b', epoch: 1 },
    ]);
    assert.deepEqual(await one.acquire(['a']), [], 'not again by its owner');
    assert.deepEqual(await other.acquire(['a', 'b', 'c']), [{ name: 'c', epoch: 1 }]);
    assert.deepEqual(await one.release([{ name: 'a', epoch: 1 }]), [{ name: 'a', epoch: 1 }]);
    assert.deepEqual(await one.release([{ name: 'a', epoch: 1 }]), []);
    assert.deepEqual(await other.acquire(['a', 'b']), [{ name: 'a', epoch: 2 }], 'the epoch rises');
  });

  check('at most as many as requested, in the order of the names', async ({ one, other }) => {
    assert.deepEqual(await one.acquire(['d', 'b', 'c', 'a'], 2), [
      { name: 'd', epoch: 1 },
      { name: 'b', epoch: 1 },
    ]);
    assert.deepEqual(await other.acquire(['a', 'b', 'c', 'd'], 3), [
      { name: 'a', epoch: 1 },
      { name: 'c', epoch: 1 },
    ]);
    assert.deepEqual(await other.acquire(['x'], 0), []);
    assert.deepEqual(await other.acquire([]), []);
  });

  check('others acquire a lease from its end on, but not a renewed one', async ({ one, other, pass }) => {
    const leases = await one.acquire(['a', 'b']);
    pass(LEASE_MS - 1);
    assert.deepEqual(await other.acquire(['a', 'b']), []);
    assert.deepEqual(await one.renew(leases.slice(0, 1)), leases.slice(0, 1));
    pass(1);
    assert.deepEqual(await other.acquire(['a', 'b']), [{ name: 'b', epoch: 2 }]);
    assert.deepEqual(await one.renew(leases), leases.slice(0, 1));
    assert.deepEqual(await one.release(leases), leases.slice(0, 1));
    assert.deepEqual(await one.renew(leases), []);
    assert.deepEqual(await other.renew([{ name: 'never', epoch: 1 }]), []);
  });

  check('a lease that has ended is renewed while no other owner has it', async ({ one, other, pass }) => {
    const leases = await one.acquire(['a']);
    pass(5 * LEASE_MS);
    assert.deepEqual(await one.renew(leases), leases);
    assert.deepEqual(await other.acquire(['a']), []);
  });

  check('a clock that was set back prolongs no lease beyond its length', async ({ one, other, pass }) => {
    await one.acquire(['a']);
    pass(-3_600_000);
    assert.deepEqual(await other.acquire(['a']), []);
    pass(LEASE_MS - 1);
    assert.deepEqual(await other.acquire(['a']), []);
    pass(1);
    assert.deepEqual(await other.acquire(['a']), [{ name: 'a', epoch: 2 }]);
  });

  check('a change under a stale lease is not written', async ({ rows, one, other, pass }) => {
    const write = (owner: Leases, leases: readonly Lease[], key: string): Promise<void> =>
      rows.exclusive(async (change) => {
        await owner.require(change, leases);
        await change.write([put(key)]);
      });
    const former = await one.acquire(['a', 'b']);
    await write(one, former, 'first');
    await write(one, [], 'second');
    pass(LEASE_MS);
    await write(one, former, 'third');
    const later = await other.acquire(['a']);
    await assert.rejects(write(one, former, 'fourth'), (error) => {
      assert.ok(error instanceof StaleLeaseError);
      assert.deepEqual(error.names, ['a']);
      return true;
    });
    await assert.rejects(write(other, former.slice(1), 'fifth'), StaleLeaseError, 'those of another owner');
    await write(other, later, 'sixth');
    await other.release(later);
    await assert.rejects(write(other, later, 'seventh'), StaleLeaseError);
    await assert.rejects(write(other, [{ name: 'never', epoch: 1 }], 'eighth'), StaleLeaseError);
    const written = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth'];
    const values = await rows.getMany(written.map((key) => Buffer.from(key)));
    assert.deepEqual(
      written.filter((_, i) => values[i] !== undefined),
      ['first', 'second', 'third', 'sixth'],
    );
  });

  check('a change that has begun ends before another owner has its lease', async (scene) => {
    const { rows, one, other, pass } = scene;
    const leases = await one.acquire(['a']);
    const order: string[] = [];
    let taking: Promise<Lease[]> | undefined;
    await rows.exclusive(async (change) => {
      await one.require(change, leases);
      pass(2 * LEASE_MS);
      taking = other.acquire(['a']).finally(() => order.push('acquired'));
      if (rows.isShared) assert.deepEqual(await taking, [], 'it is not waited for');
      await change.write([put('x')]);
      order.push('written');
    });
    await taking;
    assert.deepEqual(order, rows.isShared ? ['acquired', 'written'] : ['written', 'acquired']);
    if (rows.isShared) assert.deepEqual(await other.acquire(['a']), [{ name: 'a', epoch: 2 }]);
    await assert.rejects(
      rows.exclusive((change) => one.require(change, leases)),
      StaleLeaseError,
    );
  });

  check('owners that acquire at once share what there is', async ({ rows }) => {
    const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
    const owners = ['a', 'b', 'c', 'd'].map((owner) => new Leases(rows, { owner, leaseMs: LEASE_MS }));
    const acquired = await Promise.all(owners.map((owner) => owner.acquire(names)));
    const all = acquired.flat();
    assert.equal(new Set(all.map((lease) => lease.name)).size, all.length, 'each has one owner');
    for (const owner of owners) all.push(...(await owner.acquire(names)));
    assert.deepEqual(all.map((lease) => lease.name).sort(), [...names].sort());
  });

  check('the holders of all leases, for people', async ({ one, other, pass }) => {
    await one.acquire(['site a', 'site b']);
    pass(300);
    await other.acquire(['index', 'site c']);
    await other.release([{ name: 'index', epoch: 1 }]);
    assert.deepEqual(await one.holders(), [
      { name: 'index', epoch: 1, owner: '', leftMs: 0 },
      { name: 'site a', epoch: 1, owner: 'one', leftMs: 700 },
      { name: 'site b', epoch: 1, owner: 'one', leftMs: 700 },
      { name: 'site c', epoch: 1, owner: 'other', leftMs: 1000 },
    ]);
    pass(800);
    assert.deepEqual(
      (await one.holders('site')).map(({ leftMs }) => leftMs),
      [0, 0, 200],
    );
  });
}
