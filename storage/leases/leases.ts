// Leases as rows of a store: each name belongs to one owner until a time of the database's clock, and each time it is
// acquired it gets a higher epoch. A change that requires its leases is written by their owner or not at all.
import { KitError } from '../../protocols/errors.js';
import { type LeaseRecord, rowCodec } from '../records/records.js';
import type { RowChange, Rows, RowTransaction } from '../rows/contract.js';
import { prefixRange, TABLE, textKeys } from '../rows/keys.js';
import { Table, TableFormat } from '../rows/table.js';

/** The right to something until another owner has acquired it, i.e. has a higher epoch. */
export interface Lease {
  readonly name: string;
  /** Number of times that the name was acquired, this one included. */
  readonly epoch: number;
}

/** A lease as the store has it, for people. */
export interface LeaseHolder extends Lease {
  /** Empty if it was released. */
  readonly owner: string;
  /** Milliseconds until others may acquire it; 0 if they may now. */
  readonly leftMs: number;
}

/** Options of {@link Leases}. */
export interface LeasesOptions {
  /** The owner's name, which no other owner has: of a process, not only of a host. */
  readonly owner: string;
  /** Milliseconds for which a lease is given and renewed. */
  readonly leaseMs: number;
}

/** A lease is no longer held: another owner may have what it stands for. */
export class StaleLeaseError extends KitError {
  readonly code = 'ERR_STALE_LEASE';

  constructor(readonly names: readonly string[]) {
    super(`no longer held: ${names.join(', ')}`);
  }
}

const LEASES = new TableFormat(textKeys(TABLE.leases), rowCodec<LeaseRecord>('Lease'));
/** The row of a name that was never acquired. */
const NEW = LEASES.encode({ owner: '', epoch: 0, until: 0, lengthMs: 0 });

/** The leases of one owner in a store. */
export class Leases {
  readonly #rows: Rows;
  readonly owner: string;
  readonly leaseMs: number;

  /** @throws RangeError unless the lease has a length and the owner a name */
  constructor(rows: Rows, { owner, leaseMs }: LeasesOptions) {
    if (!(leaseMs >= 1)) throw new RangeError(`leaseMs must be at least 1, not ${leaseMs}`);
    if (owner === '') throw new RangeError('the owner of leases must have a name');
    this.#rows = rows;
    this.owner = owner;
    this.leaseMs = Math.floor(leaseMs);
  }

  /**
   * Acquires those that were released or have expired, in the order of the names, at most `max`. Another owner that
   * acquires at the same moment may get those that this one does not.
   */
  async acquire(names: readonly string[], max = names.length): Promise<Lease[]> {
    const acquired: Lease[] = [];
    // Claims hinder those of others: only rows that may be free are claimed, and no more than wanted.
    const free = await this.#free(names);
    while (acquired.length < max && free.length > 0)
      acquired.push(...(await this.#take(free.splice(0, max - acquired.length))));
    return acquired;
  }

  async #free(names: readonly string[]): Promise<string[]> {
    const unique = [...new Set(names)];
    const now = await this.#rows.time();
    const records = await new Table(this.#rows, LEASES).getMany(unique);
    return unique.filter((_, i) => {
      const record = records[i];
      return record === undefined || isFree(record, now) || isOfOtherClock(record, now);
    });
  }

  #take(names: readonly string[]): Promise<Lease[]> {
    return this.#claim(names, false, (name, record, now) => {
      if (isFree(record, now)) {
        const lease = { name, epoch: record.epoch + 1 };
        return { lease, record: this.#given(lease.epoch, now) };
      }
      // The clock was set back, e.g. by a change of hosts: nothing lasts longer than it was given for.
      if (isOfOtherClock(record, now)) return { record: { ...record, until: now + record.lengthMs } };
      return {};
    });
  }

  /** Prolongs those that are still held, i.e. that no other owner has acquired and that were not released. */
  renew(leases: readonly Lease[]): Promise<Lease[]> {
    return this.#changeHeld(leases, (lease, now) => this.#given(lease.epoch, now));
  }

  /** Lets others acquire those that are still held, and returns them. */
  release(leases: readonly Lease[]): Promise<Lease[]> {
    return this.#changeHeld(leases, ({ epoch }) => ({ owner: '', epoch, until: 0, lengthMs: 0 }));
  }

  /**
   * To be called in a change, which then belongs to the owner of the leases: nothing of it is written if another has one
   * of them, and others acquire them after it.
   *
   * @throws StaleLeaseError if one is no longer held
   */
  async require(rows: RowTransaction, leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    const values = await rows.hold(leases.map(({ name }) => LEASES.keys.encode(name)));
    const lost = leases.filter((lease, i) => !this.#holds(lease, values[i]));
    if (lost.length > 0) throw new StaleLeaseError(lost.map(({ name }) => name));
  }

  /** The leases of all owners whose names begin with a text, in the order of their names. */
  async holders(prefix = ''): Promise<LeaseHolder[]> {
    const now = await this.#rows.time();
    const found: LeaseHolder[] = [];
    const range = prefixRange(LEASES.keys, prefix);
    for await (const page of new Table(this.#rows, LEASES).entryPages({ range })) {
      for (const [name, { owner, epoch, until, lengthMs }] of page)
        found.push({ name, epoch, owner, leftMs: Math.min(Math.max(0, until - now), lengthMs) });
    }
    return found;
  }

  #given(epoch: number, now: number): LeaseRecord {
    return { owner: this.owner, epoch, until: now + this.leaseMs, lengthMs: this.leaseMs };
  }

  #holds({ name, epoch }: Lease, value: Uint8Array | undefined): boolean {
    if (value === undefined) return false;
    const record = LEASES.decode(value, name);
    return record.owner === this.owner && record.epoch === epoch;
  }

  #changeHeld(
    leases: readonly Lease[],
    change: (lease: Lease, now: number) => LeaseRecord,
  ): Promise<Lease[]> {
    const byName = new Map(leases.map((lease) => [lease.name, lease]));
    return this.#claim([...byName.keys()], true, (name, record, now) => {
      const lease = byName.get(name);
      if (lease?.epoch !== record.epoch || record.owner !== this.owner) return {};
      return { lease, record: change(lease, now) };
    });
  }

  /** Changes rows that no other claim has, and returns the leases that come of it. */
  #claim(
    names: readonly string[],
    asHolder: boolean,
    decide: (name: string, record: LeaseRecord, now: number) => { lease?: Lease; record?: LeaseRecord },
  ): Promise<Lease[]> {
    if (names.length === 0) return Promise.resolve([]);
    return this.#rows.claim(
      names.map((name) => LEASES.keys.encode(name)),
      NEW,
      async (rows, values) => {
        const now = await rows.time();
        const leases: Lease[] = [];
        const changes: RowChange[] = [];
        names.forEach((name, i) => {
          const value = values[i];
          if (value === undefined) return;
          const { lease, record } = decide(name, LEASES.decode(value, name), now);
          if (lease !== undefined) leases.push(lease);
          if (record !== undefined) changes.push(LEASES.put(name, record));
        });
        if (changes.length > 0) await rows.write(changes);
        return leases;
      },
      { asHolder },
    );
  }
}

function isFree({ owner, until }: LeaseRecord, now: number): boolean {
  return owner === '' || until <= now;
}

/** Whether it ends later than a lease that was given now would. */
function isOfOtherClock({ until, lengthMs }: LeaseRecord, now: number): boolean {
  return until > now + lengthMs;
}
