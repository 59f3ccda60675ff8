// Random histories of owners of leases that stand still, wake up, and lose the database.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Test } from 'tap';
import type { Rows } from '../../../storage/index.js';
import { type Lease, LeaseKeeper, Leases, StaleLeaseError } from '../../../storage/index.js';
import { rowsWithTime } from '../../../storage/leases/rows-with-time.js';
import { ManualClock, nextTurn } from '../../helpers/manual-clock.js';
import { assertProperty } from '../../helpers/property.js';

interface Histories {
  readonly name: string;
  readonly open: (place: string) => Promise<Rows>;
  readonly runs: number;
}

const LEASE_MS = 1200;
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const OWNERS = 3;

type Step =
  | { readonly kind: 'acquire'; readonly owner: number; readonly max: number }
  | { readonly kind: 'release' | 'write' | 'freeze' | 'thaw' | 'cut' | 'join'; readonly owner: number }
  | { readonly kind: 'pass'; readonly ms: number };

const owner = fc.nat(OWNERS - 1);
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('acquire'), owner, max: fc.integer({ min: 1, max: 5 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('pass'),
        ms: fc.integer({ min: 1, max: LEASE_MS / 50 }).map((n) => 50 * n),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('write'), owner }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('release', 'freeze', 'cut'), owner }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('thaw', 'join'), owner }) },
  ),
  { minLength: 5, maxLength: 60 },
) as fc.Arbitrary<readonly Step[]>;

/** An owner with a clock of its own, which stands while the owner does. */
class Owner {
  readonly clock = new ManualClock();
  readonly leases: Leases;
  readonly keeper: LeaseKeeper;
  /** Leases that it had at some time, also lost ones. */
  readonly known: Lease[] = [];
  isFrozen = false;
  isCut = false;
  /** Milliseconds that passed while it stood still. */
  missed = 0;
  /** Work of the keeper that waits for the database. */
  calls = 0;

  constructor(rows: Rows, name: string) {
    const reached = async <T>(call: () => Promise<T>): Promise<T> => {
      this.calls++;
      try {
        if (this.isCut) throw new Error('the database cannot be reached');
        return await call();
      } finally {
        this.calls--;
      }
    };
    this.leases = new Leases(rows, { owner: name, leaseMs: LEASE_MS });
    const { renew } = this.leases;
    this.leases.renew = (leases) => reached(() => renew.call(this.leases, leases));
    this.keeper = new LeaseKeeper(this.leases, { clock: this.clock });
  }

  async settle(): Promise<void> {
    do await nextTurn();
    while (this.calls > 0);
    await nextTurn();
  }
}

/** One history: its world, and what must hold after each step. */
class History {
  now = 3_000_000;
  readonly owners: Owner[];
  readonly #rows: Rows;
  readonly #epochs = new Map<string, number>();
  /** The epoch of the last write under each name. */
  readonly #written = new Map<string, number>();

  constructor(rows: Rows) {
    this.#rows = rowsWithTime(rows, () => this.now);
    this.owners = Array.from({ length: OWNERS }, (_, i) => new Owner(this.#rows, `owner${i}`));
  }

  async step(step: Step): Promise<void> {
    if (step.kind === 'pass') await this.#pass(step.ms);
    else {
      const one = this.owners[step.owner]!;
      if (step.kind === 'freeze') one.isFrozen = true;
      else if (step.kind === 'thaw') await this.#thaw(one);
      else if (step.kind === 'cut' || step.kind === 'join') one.isCut = step.kind === 'cut';
      else if (one.isFrozen || one.isCut) return;
      else if (step.kind === 'acquire') await this.#acquire(one, step.max);
      else if (step.kind === 'release') await one.keeper.release(one.known);
      else await this.#write(one);
    }
    this.#check();
  }

  async #pass(ms: number): Promise<void> {
    // In steps, as the timers of several processes follow each other.
    for (let left = ms; left > 0; left -= 50) {
      const part = Math.min(left, 50);
      this.now += part;
      for (const one of this.owners) {
        if (one.isFrozen) one.missed += part;
        else {
          one.clock.advance(part);
          await one.settle();
          // One after the other gets what is free.
          if (this.now % 150 === 0 && !one.isCut) await this.#acquire(one, 2);
        }
      }
      this.#check();
    }
  }

  /** It wakes up in the middle of its work: it writes before its timers say what has passed. */
  async #thaw(one: Owner): Promise<void> {
    if (!one.isFrozen) return;
    one.isFrozen = false;
    if (!one.isCut) await this.#write(one);
    one.clock.advance(one.missed);
    one.missed = 0;
    await one.settle();
  }

  async #acquire(one: Owner, max: number): Promise<void> {
    const acquired = await one.keeper.acquire(NAMES, max);
    assert.ok(acquired.length <= max);
    for (const { name, epoch } of acquired) {
      assert.ok(epoch > (this.#epochs.get(name) ?? 0), `${name}: epoch ${epoch}`);
      this.#epochs.set(name, epoch);
      one.known.push({ name, epoch });
    }
  }

  /** Writes under every lease that it ever had: the store decides. */
  async #write(one: Owner): Promise<void> {
    for (const lease of one.known) {
      const { name, epoch } = lease;
      try {
        await this.#rows.exclusive(async (change) => {
          await one.leases.require(change, [lease]);
          await change.write([{ key: Buffer.from(`w${name}`), value: Buffer.from(String(epoch)) }]);
        });
      } catch (error) {
        assert.ok(error instanceof StaleLeaseError, String(error));
        continue;
      }
      assert.equal(epoch, this.#epochs.get(name), `${name}: a write of epoch ${epoch}`);
      assert.ok(epoch >= (this.#written.get(name) ?? 0));
      this.#written.set(name, epoch);
    }
  }

  #check(): void {
    for (const name of NAMES) {
      const holders = this.owners.filter(
        ({ isFrozen, keeper }) => !isFrozen && keeper.held.some((lease) => lease.name === name),
      );
      assert.ok(holders.length <= 1, `${name} has ${holders.length} holders`);
    }
  }
}

/** Registers the property on a database. */
export function testHistories(t: Test, { name, open, runs }: Histories): void {
  let places = 0;
  t.test(`${name}: never two holders, rising epochs, no stale writes`, async (t) => {
    await assertProperty(
      fc.asyncProperty(steps, async (history) => {
        await using rows = await open(String(++places));
        const world = new History(rows);
        for (const step of history) await world.step(step);
      }),
      { numRuns: runs },
    );
    t.ok(places > 0);
  });
}
