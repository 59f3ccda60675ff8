// Keeps leases while their owner works under them, and says so when one is lost.
import { type Clock, withTimeout } from '../../protocols/clock.js';
import { StorageError } from '../../protocols/errors.js';
import { processClock } from '../files/process-clock.js';
import { type Lease, type Leases, StaleLeaseError } from './leases.js';

/** A lease that is renewed until it is released or lost. */
export interface HeldLease extends Lease {
  /**
   * Aborted when the lease is released or lost: with a {@link StaleLeaseError} if another owner has it, or if it could not
   * be renewed in time. Work under it ends then.
   */
  readonly signal: AbortSignal;
}

/** Options of {@link LeaseKeeper}. */
export interface LeaseKeeperOptions {
  /** Default: the monotonic clock of the process. */
  readonly clock?: Clock;
  /** A renewal or the release at the close failed; renewals are repeated while the leases last. */
  readonly onError?: (error: unknown) => void;
}

/** The parts of a lease after which it is renewed, after which a failed renewal is repeated, and by which it ends early. */
const RENEW_PART = 1 / 3;
const REPEAT_PART = 1 / 12;
const MARGIN_PART = 1 / 10;

interface Kept extends HeldLease {
  readonly controller: AbortController;
  /** When it ends unless it is renewed, by the keeper's clock: before it ends by the database's. */
  deadline: number;
}

/**
 * Acquires leases and renews them at a third of their length. A lease that could not be renewed in time is given up
 * before another owner can have it.
 */
export class LeaseKeeper implements AsyncDisposable {
  readonly #leases: Leases;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #kept = new Map<string, Kept>();
  readonly #lengthMs: number;
  #renewal: Promise<void> | undefined;
  #cancelRenewal: (() => void) | undefined;
  #cancelDeadline: (() => void) | undefined;
  #closed = false;

  constructor(leases: Leases, options: LeaseKeeperOptions = {}) {
    this.#leases = leases;
    this.#clock = options.clock ?? processClock;
    this.#onError = options.onError ?? (() => undefined);
    this.#lengthMs = leases.leaseMs * (1 - MARGIN_PART);
  }

  /** The leases that are held now. */
  get held(): HeldLease[] {
    this.#dropLate();
    return [...this.#kept.values()];
  }

  /** Whether a lease is held now. False as soon as it may have ended, whether or not its signal is aborted yet. */
  holds({ name, epoch }: Lease): boolean {
    this.#dropLate();
    return this.#kept.get(name)?.epoch === epoch;
  }

  /** Acquires leases, see {@link Leases.acquire}, and keeps them. */
  async acquire(names: readonly string[], max?: number): Promise<HeldLease[]> {
    if (this.#closed) return [];
    const sentAt = this.#clock.now();
    const acquired = await this.#leases.acquire(names, max);
    if (this.#closed) {
      await this.#leases.release(acquired);
      return [];
    }
    const deadline = sentAt + this.#lengthMs;
    const kept = acquired.map((lease): Kept => {
      const controller = new AbortController();
      return { ...lease, controller, signal: controller.signal, deadline };
    });
    for (const lease of kept) {
      this.#drop(this.#kept.get(lease.name), new StaleLeaseError([lease.name]));
      this.#kept.set(lease.name, lease);
    }
    this.#watch();
    return kept.filter((lease) => this.holds(lease));
  }

  /** Ends the work under leases, and lets others acquire them. Those that are not held are left out. */
  async release(leases: readonly Lease[]): Promise<void> {
    const released = leases.filter((lease) => this.holds(lease));
    for (const lease of released) this.#drop(this.#kept.get(lease.name), releasedReason());
    this.#watch();
    // A renewal in progress does not bring them back: it is over before, or finds them released.
    await this.#leases.release(released);
  }

  /** Releases all leases. Waits no longer than they last anyway. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { held } = this;
    const ended = this.release(held).catch(this.#onError);
    this.#cancelRenewal?.();
    await withTimeout(this.#clock, this.#leases.leaseMs, ended, () => undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Sets the timers for what is kept. */
  #watch(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
    if (this.#kept.size === 0) {
      this.#cancelRenewal?.();
      this.#cancelRenewal = undefined;
      return;
    }
    const first = Math.min(...Array.from(this.#kept.values(), ({ deadline }) => deadline));
    this.#cancelDeadline = this.#clock.setTimer(
      () => {
        this.#dropLate();
        this.#watch();
      },
      first - this.#clock.now(),
      true,
    );
    if (this.#renewal === undefined && this.#cancelRenewal === undefined) this.#renewIn(RENEW_PART);
  }

  #renewIn(part: number): void {
    this.#cancelRenewal = this.#clock.setTimer(
      () => {
        this.#cancelRenewal = undefined;
        this.#renewal = this.#renew();
      },
      this.#leases.leaseMs * part,
      true,
    );
  }

  async #renew(): Promise<void> {
    const leases = this.held;
    let part = RENEW_PART;
    try {
      const sentAt = this.#clock.now();
      // Without an answer the next renewal tries another connection.
      const patience = this.#leases.leaseMs * RENEW_PART;
      const renewed = await withTimeout(this.#clock, patience, this.#leases.renew(leases), () => {
        throw new StorageError(`the leases of ${this.#leases.owner} were not renewed in time`);
      });
      const epochs = new Map(renewed.map(({ name, epoch }) => [name, epoch]));
      for (const { name, epoch } of leases) {
        const kept = this.#kept.get(name);
        // Released or acquired anew meanwhile.
        if (kept?.epoch !== epoch) continue;
        if (epochs.get(name) === epoch) kept.deadline = sentAt + this.#lengthMs;
        else this.#drop(kept, new StaleLeaseError([name]));
      }
    } catch (error) {
      this.#onError(error);
      part = REPEAT_PART;
    }
    this.#renewal = undefined;
    this.#dropLate();
    if (this.#kept.size > 0 && !this.#closed) this.#renewIn(part);
    this.#watch();
  }

  #dropLate(): void {
    const now = this.#clock.now();
    for (const kept of this.#kept.values())
      if (kept.deadline <= now) this.#drop(kept, new StaleLeaseError([kept.name]));
  }

  #drop(kept: Kept | undefined, reason: Error): void {
    if (kept === undefined) return;
    this.#kept.delete(kept.name);
    kept.controller.abort(reason);
  }
}

function releasedReason(): Error {
  return new DOMException('the lease is released', 'AbortError');
}
