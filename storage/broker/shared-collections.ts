// What Brokers that share a store know of each other's collections.
import { type Lease, type LeaseHolder, Leases, type LeasesOptions } from '../leases/leases.js';
import type { Rows } from '../rows/contract.js';
import { Table } from '../rows/table.js';
import { COLLECTION_REQUEST, type CollectionRun, RUNS } from './tables.js';

/** What is known of the collections from a point. */
export interface CollectionState {
  /** The key of the point. */
  readonly key: string;
  /** The Broker that collects now. */
  readonly holder?: LeaseHolder;
  /** The last collection that ended. */
  readonly last?: CollectionRun;
}

const PREFIX = 'collection ';

/** The collections of all Brokers that share a store. Times by the database's clock, milliseconds. */
export class SharedCollections {
  readonly #rows: Rows;
  readonly #runs: Table<string, CollectionRun>;

  constructor(rows: Rows) {
    this.#rows = rows;
    this.#runs = new Table(rows, RUNS);
  }

  /** The leases of a Broker on collections. */
  leases(options: LeasesOptions): Leases {
    return new Leases(this.#rows, options);
  }

  /** The name of a lease for the key of a point. */
  static leaseName(key: string): string {
    return PREFIX + key;
  }

  time(): Promise<number> {
    return this.#rows.time();
  }

  /** Requests a collection from every point of every Broker; returns the time of the request. */
  request(): Promise<number> {
    return this.#rows.exclusive(async (rows) => {
      const at = await rows.time();
      await rows.write([COLLECTION_REQUEST.put({ at })]);
      return at;
    });
  }

  /** The time of the last request; 0 if there was none. */
  async requestedAt(): Promise<number> {
    return (await COLLECTION_REQUEST.read(this.#rows)).at;
  }

  /** The last collections that ended, by the keys of the points. */
  last(keys: Iterable<string>): Promise<Map<string, CollectionRun>> {
    return this.#runs.getMap(keys);
  }

  /** Records the end of a collection. @throws StaleLeaseError if another Broker has the point */
  finish(
    leases: Leases,
    lease: Lease,
    key: string,
    run: Omit<CollectionRun, 'ended' | 'owner'>,
  ): Promise<void> {
    return this.#rows.exclusive(async (rows) => {
      await leases.require(rows, [lease]);
      await rows.write([RUNS.put(key, { ...run, ended: await rows.time(), owner: leases.owner })]);
    });
  }

  /** What is known of each point that was ever collected, in the order of their keys. */
  async states(): Promise<CollectionState[]> {
    const states = new Map<string, CollectionState>();
    for await (const page of this.#runs.entryPages())
      for (const [key, last] of page) states.set(key, { key, last });
    const leases = new Leases(this.#rows, { owner: 'console', leaseMs: 1 });
    for (const holder of await leases.holders(PREFIX)) {
      const key = holder.name.slice(PREFIX.length);
      if (holder.leftMs > 0) states.set(key, { ...states.get(key), key, holder });
    }
    return [...states.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}
