// A run that several processes share: who begins it, the leases of its partitions, who ends it.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import { type Clock, pauseFor } from '../../../protocols/clock.js';
import { messageOf, UsageError } from '../../../protocols/errors.js';
import { type GathererStore, MAX_PARTITIONS } from '../../../storage/index.js';
import { LeaseKeeper } from '../../../storage/leases/lease-keeper.js';
import { announce } from '../../crawler/events.js';

/** Options of a run that several processes share. */
export interface SharedRunOptions {
  /** Whether this process begins a run if none is in progress. Default false: that is an error. */
  readonly begin?: boolean;
  /** Number of partitions, which the process that begins a run decides. Default 256. */
  readonly partitions?: number;
  /** Milliseconds for which a process has its partitions unless it renews them. Default 15 000. */
  readonly leaseMs?: number;
}

const PARTITIONS = 256;
export const LEASE_MS = 15_000;
/** The number of partitions of the run in progress. */
const PARTITIONS_META = 'run.partitions';
const TURN = 'run';
const TURN_MS = 200;

/** The name of a process, which no other one has. */
export function processName(): string {
  return `${hostname()} ${process.pid} ${randomBytes(4).toString('hex')}`;
}

/** @throws UsageError if the run in progress in the store is one that several processes share */
export async function refuseShared({ meta }: GathererStore): Promise<void> {
  if ((await meta.get(PARTITIONS_META)) !== undefined)
    throw new UsageError(
      'several processes share the run in progress in the store: harvest crawl join continues it',
    );
}

/** The part of a process in a shared run. */
export class SharedRun implements AsyncDisposable {
  readonly keeper: LeaseKeeper;
  #partitions: number;

  private constructor(
    readonly store: GathererStore,
    readonly owner: string,
    readonly leaseMs: number,
    /** Milliseconds by the clock of the database: a wake time means the same for all processes. */
    readonly clock: Clock,
    partitions: number,
  ) {
    this.#partitions = partitions;
    if (store.leases === undefined) throw new UsageError('only a store in a database can be shared');
    this.keeper = new LeaseKeeper(store.leases, {
      onError: (error) => announce(`the leases of this process cannot be renewed: ${messageOf(error)}`),
    });
  }

  /** @throws UsageError if the store has no leases */
  static async open(store: GathererStore, owner: string, options: SharedRunOptions): Promise<SharedRun> {
    const { leaseMs = LEASE_MS, partitions = PARTITIONS } = options;
    if (partitions < 1 || partitions > MAX_PARTITIONS)
      throw new UsageError(`a crawl has 1 to ${MAX_PARTITIONS} partitions, not ${partitions}`);
    const offset = (await store.time()) - monotonicClock.now();
    const clock = { ...monotonicClock, now: () => Math.round(monotonicClock.now() + offset) };
    return new SharedRun(store, owner, leaseMs, clock, partitions);
  }

  /** Number of partitions of the run. */
  get partitions(): number {
    return this.#partitions;
  }

  /** Learns into how many partitions the run in progress is divided, or notes it for the one that begins. */
  async settlePartitions(isInProgress: boolean): Promise<void> {
    const { meta } = this.store;
    if (isInProgress) {
      const stored = await meta.get(PARTITIONS_META);
      if (stored === undefined)
        throw new UsageError('the run in progress in the store is of one process: it must be finished first');
      this.#partitions = Number(stored);
    } else await this.store.batch().putMeta(PARTITIONS_META, this.#partitions).commit({ sync: true });
  }

  /**
   * Runs work that one process at a time may do.
   *
   * @throws the signal's reason when aborted
   */
  async alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const [turn] = await this.keeper.acquire([TURN]);
      if (turn !== undefined) {
        try {
          return await work();
        } finally {
          await this.keeper.release([turn]);
        }
      }
      await pauseFor(monotonicClock, TURN_MS, signal);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.keeper.close();
  }
}
