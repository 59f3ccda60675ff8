// Counts and reports of a collection, and the diagnostics channel of its progress.
import { channel } from 'node:diagnostics_channel';
import type { CollectionPoint } from '../../../protocols/config/index.js';
import { textOfUrl } from '../../../protocols/soif/index.js';
import type { UnixSeconds } from '../../../protocols/time.js';
import { type ApplyCounts, type ApplyResult, addCounts, NO_COUNTS } from '../../../storage/index.js';

/** Reasons kept in one report. */
const MAX_REASONS = 10;

/**
 * Unknown refreshed objects that are requested one by one; a Gatherer that refreshes more of them is at fault.
 */
const MAX_UNKNOWN = 10_000;

/** The result of a collection from one point. */
export interface PointReport extends ApplyCounts {
  readonly host: string;
  readonly port: number;
  readonly type: number;
  /** The time that was requested; 0 for everything. */
  readonly since: UnixSeconds;
  /** Objects received, whatever their outcome. */
  readonly received: number;
  /** Objects whose time to live had passed on arrival; they were not stored (BRK-7.14). */
  readonly expired: number;
  /** Faults in the stream that were skipped. */
  readonly malformed: number;
  /**
   * Objects whose Update-Time was more than a day ahead of our clock; they were stored with the time of
   * arrival.
   */
  readonly ahead: number;
  /** Connections that were opened. */
  readonly connections: number;
  /** True when the whole transfer arrived; only then `<last>` moved (GATHERD-13.6). */
  readonly complete: boolean;
  /** Why it is not complete. */
  readonly error?: string | undefined;
  /** Some of the reasons for `rejected` and `malformed`. */
  readonly reasons: readonly string[];
  readonly milliseconds: number;
}

/** Message on the diagnostics channel `harvest:broker:collect`. */
export type CollectEvent =
  | { readonly event: 'start'; readonly points: number }
  | { readonly event: 'progress'; readonly host: string; readonly port: number; readonly received: number }
  | { readonly event: 'point'; readonly report: PointReport }
  | { readonly event: 'end'; readonly received: number; readonly milliseconds: number };

/** Diagnostics channel of {@link CollectEvent}s. */
export const collectChannel = channel('harvest:broker:collect');

/** Publishes on {@link collectChannel} if it has subscribers. */
export function publish(event: CollectEvent): void {
  if (collectChannel.hasSubscribers) collectChannel.publish(event);
}

/** The counts of a collection from one point while it runs. */
export class Tally {
  readonly #point: CollectionPoint;
  readonly arrived = { received: 0, expired: 0, malformed: 0, ahead: 0, connections: 0 };
  readonly reasons: string[] = [];
  /** URLs that were refreshed but are not stored. */
  readonly unknown: string[] = [];
  counts: ApplyCounts = NO_COUNTS;
  readonly #started = performance.now();

  constructor(point: CollectionPoint) {
    this.#point = point;
  }

  /** Counts an object that arrived; every 256th is reported on the channel. */
  countReceived(): void {
    const received = ++this.arrived.received;
    const { host, port } = this.#point;
    if (received % 256 === 0) publish({ event: 'progress', host, port, received });
  }

  addResult(result: ApplyResult): void {
    this.counts = addCounts(this.counts, result);
    for (const url of result.unknown) {
      if (this.unknown.length < MAX_UNKNOWN) this.unknown.push(url);
      else this.countUnknown(url);
    }
    for (const reason of result.reasons) this.#addReason(reason);
  }

  /** Counts a refresh of an object that is neither stored nor available from the peer. */
  countUnknown(url: string): void {
    this.countRejected(`refresh of ${textOfUrl(url)}: the object is not known`);
  }

  /** Counts an object that the store does not take. */
  countRejected(reason: string): void {
    this.counts = { ...this.counts, rejected: this.counts.rejected + 1 };
    this.#addReason(reason);
  }

  countMalformed(reason: string): void {
    this.arrived.malformed += 1;
    this.#addReason(reason);
  }

  countAhead(url: string, updateTime: UnixSeconds): void {
    this.arrived.ahead += 1;
    this.#addReason(
      `${textOfUrl(url)}: Update-Time ${updateTime} is more than a day ahead; the time of arrival is stored`,
    );
  }

  /** @param error why the transfer is not complete; undefined if it is */
  report(since: UnixSeconds, error: string | undefined): PointReport {
    const { host, port, type } = this.#point;
    return {
      host,
      port,
      type,
      since,
      ...this.arrived,
      ...this.counts,
      complete: error === undefined,
      error,
      reasons: this.reasons,
      milliseconds: Math.round(performance.now() - this.#started),
    };
  }

  #addReason(reason: string): void {
    if (this.reasons.length < MAX_REASONS) this.reasons.push(reason);
  }
}
