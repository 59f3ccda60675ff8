// The partitions of a shared crawl that this process holds: each is a frontier over tables of its own, under a lease.
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../../protocols/clock.js';
import {
  type GathererStore,
  PARTITION_LEASES,
  type PartitionStore,
  partitionLease,
} from '../../../storage/index.js';
import type { HeldLease, LeaseKeeper } from '../../../storage/leases/lease-keeper.js';
import type { SeenFilter } from '../../../storage/seen/index.js';
import { Frontier, type FrontierOptions } from './frontier.js';

/** The name of a process among those that share the crawl, as a lease. */
const PROCESS_PREFIX = 'crawler ';

/** A partition that this process holds. */
export interface HeldPartition {
  readonly number: number;
  readonly lease: HeldLease;
  readonly store: PartitionStore;
  readonly seen: SeenFilter;
  readonly frontier: Frontier;
  /** URIs of it that workers of this process have. */
  inProcess: number;
  /** It is to be released, and gives no more URIs. */
  leaving: boolean;
}

/** Options of {@link Partitions}. */
export interface PartitionsOptions {
  readonly store: GathererStore;
  readonly keeper: LeaseKeeper;
  /** Number of partitions of the crawl. */
  readonly count: number;
  /** Of the frontiers, beside those that a partition determines. */
  readonly frontier: Omit<FrontierOptions, 'store' | 'seen'>;
  readonly clock: Clock;
  /** The set of partitions has changed. */
  readonly onChange: () => void;
  /** A partition was lost to another process. */
  readonly onLost: (partition: number) => void;
}

/**
 * Takes and releases partitions, so that each of the processes has about the same number. A partition that is lost is
 * dropped from memory: what it had in flight there belongs to the process that has it now.
 */
export class Partitions {
  readonly #options: PartitionsOptions;
  readonly #held = new Map<number, HeldPartition>();
  readonly #process: string;
  /** Partitions in the order in which this process tries them, another one for each process. */
  readonly #names: readonly (readonly [number: number, name: string])[];
  #presence: HeldLease | undefined;
  #alive: ReadonlySet<string> = new Set();

  constructor(options: PartitionsOptions, owner: string) {
    this.#options = options;
    this.#process = `${PROCESS_PREFIX}${owner}`;
    const { count } = options;
    const shift = [...owner].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % count, 0);
    this.#names = Array.from({ length: count }, (_, i) => {
      const number = (i + shift) % count;
      return [number, partitionLease(number)] as const;
    });
  }

  get held(): ReadonlyMap<number, HeldPartition> {
    return this.#held;
  }

  /** The names of the processes that share the crawl, as of the last {@link balance}. */
  get processes(): ReadonlySet<string> {
    return this.#alive;
  }

  /** Whether a partition is held, now and until its signal is aborted. */
  holds(held: HeldPartition): boolean {
    return this.#held.get(held.number) === held && this.#options.keeper.holds(held.lease);
  }

  /** Takes partitions up to the share of this process, and begins to release what is above it. */
  async balance(): Promise<void> {
    const { store, keeper, count } = this.#options;
    if (this.#presence === undefined || this.#presence.signal.aborted)
      [this.#presence] = await keeper.acquire([this.#process]);
    const processes = (await store.leases?.holders(PROCESS_PREFIX)) ?? [];
    const alive = processes.filter(({ leftMs }) => leftMs > 0);
    this.#alive = new Set(alive.map(({ name }) => name.slice(PROCESS_PREFIX.length)));
    const share = Math.ceil(count / Math.max(1, alive.length));
    const staying = [...this.#held.values()].filter(({ leaving }) => !leaving);
    for (const held of staying.slice(share)) held.leaving = true;
    for (const held of this.#held.values()) await this.#releaseIfIdle(held);
    const wanted = share - this.#held.size;
    if (wanted <= 0) return;
    const free = this.#names.filter(([number]) => !this.#held.has(number));
    const leases = await keeper.acquire(
      free.map(([, name]) => name),
      wanted,
    );
    await Promise.all(leases.map((lease) => this.#open(lease)));
    if (leases.length > 0) this.#options.onChange();
  }

  /** A worker has returned a URI: a partition that is leaving may be released now. */
  async returned(held: HeldPartition): Promise<void> {
    held.inProcess--;
    if (held.leaving) await this.#releaseIfIdle(held);
  }

  /** Drops a partition whose lease is lost. */
  drop(held: HeldPartition): void {
    if (this.#held.get(held.number) !== held) return;
    this.#held.delete(held.number);
    held.frontier.close();
    this.#options.onLost(held.number);
    this.#options.onChange();
  }

  /** Releases all partitions. Workers have returned their URIs. */
  async leave(): Promise<void> {
    for (const held of this.#held.values()) {
      held.leaving = true;
      await this.#releaseIfIdle(held);
    }
    if (this.#presence !== undefined) await this.#options.keeper.release([this.#presence]);
  }

  /** The processes that share the crawl, and how many partitions each has, for people. */
  async holders(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { owner, leftMs } of (await this.#options.store.leases?.holders(PARTITION_LEASES)) ?? [])
      if (leftMs > 0) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return counts;
  }

  async #open(lease: HeldLease): Promise<void> {
    const { store, frontier: options } = this.#options;
    const found = this.#names.find(([, name]) => name === lease.name);
    if (found === undefined) return;
    const [number] = found;
    // Every worker may listen.
    setMaxListeners(0, lease.signal);
    const part = store.partition(number, lease);
    const seen = await part.openSeenFilter();
    const frontier = await Frontier.open({ ...options, store: part, seen });
    const held = { number, lease, store: part, seen, frontier, inProcess: 0, leaving: false };
    if (lease.signal.aborted) {
      frontier.close();
      return;
    }
    this.#held.set(number, held);
    lease.signal.addEventListener('abort', () => this.drop(held), { once: true });
  }

  async #releaseIfIdle(held: HeldPartition): Promise<void> {
    if (!held.leaving || held.inProcess > 0) return;
    held.frontier.close();
    await held.frontier.settled();
    if (this.#held.get(held.number) !== held) return;
    this.#held.delete(held.number);
    await this.#options.keeper.release([held.lease]);
    this.#options.onChange();
  }
}
