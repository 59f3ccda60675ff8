// Which of the Brokers that share an index writes it.
import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';
import { type HeldLease, LeaseKeeper, type Leases } from '../../../storage/index.js';

/** Milliseconds for which the index is leased: after them another Broker continues the work of one that was killed. */
export const INDEX_LEASE_MS = 10_000;

/** Options of {@link IndexLead}. */
export interface IndexLeadOptions {
  /** The leases of this Broker. */
  readonly leases: Leases;
  /** The name of the index among those of the store. */
  readonly index: string;
  /** A renewal failed; it is repeated while the lease lasts. */
  readonly onError?: (error: unknown) => void;
  /** Default: the monotonic clock. */
  readonly clock?: Clock;
}

/** The lease on an index that several Brokers share. The one that holds it writes the index. */
export class IndexLead implements AsyncDisposable {
  readonly #leases: Leases;
  readonly #keeper: LeaseKeeper;
  /** The name of the lease, and that of the writer among those that follow the store. */
  readonly name: string;
  readonly clock: Clock;

  constructor({ leases, index, onError, clock = monotonicClock }: IndexLeadOptions) {
    this.#leases = leases;
    this.name = `index ${index}`;
    this.clock = clock;
    this.#keeper = new LeaseKeeper(leases, { clock, ...(onError === undefined ? {} : { onError }) });
  }

  /** The lease, if this Broker has it now. */
  get held(): HeldLease | undefined {
    return this.#keeper.held[0];
  }

  /** Takes the lease if no Broker has it; undefined if another one has. */
  async take(): Promise<HeldLease | undefined> {
    return this.held ?? (await this.#keeper.acquire([this.name], 1))[0];
  }

  /** Lets another Broker take it. */
  async giveUp(): Promise<void> {
    await this.#keeper.release(this.#keeper.held);
  }

  /** The other Broker that writes the index, for people; undefined if this one does, or none at present. */
  async other(): Promise<string | undefined> {
    if (this.held !== undefined) return undefined;
    const found = (await this.#leases.holders(this.name)).find(({ name }) => name === this.name);
    return found === undefined || found.leftMs === 0 ? undefined : found.owner;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#keeper.close();
  }
}
