// Which point a Broker collects from next: of a shared store, one that no other Broker has.

import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import { type Clock, pauseFor } from '../../../protocols/clock.js';
import type { CollectionPoint } from '../../../protocols/config/index.js';
import { messageOf } from '../../../protocols/errors.js';
import {
  type ApplyOptions,
  type HeldLease,
  LeaseKeeper,
  type Leases,
  SharedCollections,
  StaleLeaseError,
} from '../../../storage/index.js';
import type { Logger } from '../../host/index.js';
import { pointKey } from './collector.js';
import type { PointReport } from './report.js';

/** Milliseconds for which a point is leased: after them others take over the points of a killed Broker. */
const LEASE_MS = 10_000;
/** Milliseconds between looks for the points that other Brokers have. */
const LOOK_MS = 1000;

/** The points with one key, whose turn it is. */
export interface PointTurn {
  readonly points: readonly CollectionPoint[];
  /** Ends the collection from them. */
  readonly signal: AbortSignal;
  /** The right of each change of the store, see {@link ApplyOptions}. */
  readonly allow?: NonNullable<ApplyOptions['allow']>;
}

/** The turns of one collection. */
export interface PointTurns extends AsyncDisposable {
  /** The next turn; undefined if every point has been collected from. */
  next(): Promise<PointTurn | undefined>;
  /** The turn has ended. */
  end(reports: readonly PointReport[]): Promise<void>;
  /** Whether another Broker has the points of the turn, so that an error means no more than that. */
  isLost(error: unknown): boolean;
}

/** The points in file order. */
export function turnsInOrder(points: readonly CollectionPoint[], signal: AbortSignal): PointTurns {
  const left = [...points];
  return {
    next: async () => {
      const point = left.shift();
      return point && { points: [point], signal };
    },
    end: () => Promise.resolve(),
    isLost: () => false,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Options of {@link SharedTurns}. */
export interface SharedTurnsOptions {
  readonly collections: SharedCollections;
  /** This Broker, for people. */
  readonly owner: string;
  readonly points: readonly CollectionPoint[];
  /** A point is done when a collection that began at this time or later has ended, by any Broker. */
  readonly since: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Called while other Brokers have the points that are left. */
  readonly onWait: () => Promise<void>;
  readonly clock?: Clock;
}

/**
 * Takes points that no other Broker has, until each has been collected from by one of them: those of a Broker that was
 * killed come again.
 */
export class SharedTurns implements PointTurns {
  readonly #options: SharedTurnsOptions;
  readonly #leases: Leases;
  readonly #keeper: LeaseKeeper;
  readonly #clock: Clock;
  /** The points that are not done, by key. */
  readonly #left = new Map<string, CollectionPoint[]>();
  #turn: { readonly key: string; readonly lease: HeldLease; readonly begun: number } | undefined;

  constructor(options: SharedTurnsOptions) {
    const { collections, owner, points, log, clock = monotonicClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#leases = collections.leases({ owner, leaseMs: LEASE_MS });
    this.#keeper = new LeaseKeeper(this.#leases, {
      clock,
      onError: (error) => log.warn(`Collection: the lease is not renewed: ${messageOf(error)}`),
    });
    for (const point of points) {
      const key = pointKey(point);
      this.#left.set(key, [...(this.#left.get(key) ?? []), point]);
    }
  }

  async next(): Promise<PointTurn | undefined> {
    const { collections, since, signal, onWait } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      await this.#giveBack();
      await this.#dropDone([...this.#left.keys()]);
      if (this.#left.size === 0) return undefined;
      const begun = await collections.time();
      const names = Array.from(this.#left.keys(), SharedCollections.leaseName);
      const [lease] = await this.#keeper.acquire(names, 1);
      if (lease === undefined) {
        await onWait();
        await pauseFor(this.#clock, LOOK_MS, signal);
        continue;
      }
      const key = [...this.#left.keys()].find((key) => SharedCollections.leaseName(key) === lease.name) ?? '';
      this.#turn = { key, lease, begun: Math.max(begun, since) };
      // Another Broker may have ended its turn a moment ago.
      await this.#dropDone([key]);
      const points = this.#left.get(key);
      if (points === undefined) continue;
      return {
        points,
        signal: AbortSignal.any([signal, lease.signal]),
        allow: (rows) => this.#leases.require(rows, [lease]),
      };
    }
  }

  async end(reports: readonly PointReport[]): Promise<void> {
    if (this.#turn === undefined) return;
    const { key, lease, begun } = this.#turn;
    const complete = reports.every((report) => report.complete);
    const received = reports.reduce((sum, report) => sum + report.received, 0);
    await this.#options.collections.finish(this.#leases, lease, key, { begun, complete, received });
    this.#left.delete(key);
  }

  isLost(error: unknown): boolean {
    return error instanceof StaleLeaseError;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keeper.close();
  }

  async #giveBack(): Promise<void> {
    if (this.#turn === undefined) return;
    const { lease } = this.#turn;
    this.#turn = undefined;
    await this.#keeper.release([lease]);
  }

  async #dropDone(keys: readonly string[]): Promise<void> {
    const { collections, since } = this.#options;
    for (const [key, { begun }] of await collections.last(keys)) if (begun >= since) this.#left.delete(key);
  }
}
