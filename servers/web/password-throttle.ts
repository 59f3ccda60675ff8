// Limits the guessing of passwords.
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { addressGroup } from '../host/address-group.js';
import { partsOfVisitor } from './visitor.js';

/** Wrong passwords of one address within {@link WINDOW_MS} before it must wait. */
const MAX_FAILURES = 10;
const WINDOW_MS = 5 * 60_000;

/**
 * Wrong passwords of an IPv6 /48: a site usually has one, with 65 536 networks of the size that counts as one
 * address.
 */
const MAX_SITE_FAILURES = 100;

/**
 * Wrong passwords of all visitors that requests of one connection's address name: it may be a proxy, or one
 * client that names others.
 */
const MAX_CLAIMED_FAILURES = 100;

/** Addresses remembered; the least recently used is forgotten first. */
const MAX_ADDRESSES = 10_000;

/** Time between two reports of the refusals of one address. */
const REPORT_MS = 60_000;

interface Failures {
  readonly count: number;
  /** When the address may try again, or is forgotten; milliseconds of the clock. */
  readonly until: number;
  /** Refusals that no report has counted. */
  refused: number;
  reportAt: number;
}

/**
 * Limits the guessing of passwords: after ten wrong passwords an address must wait until five minutes have
 * passed without another. The addresses of one IPv6 network (/64) count as one, and a hundred of a /48 are the
 * limit of all its networks together. Visitors of a proxy that is not trusted (see {@link visitorOf}) are counted
 * each, so that one does not lock out the others, and a hundred are the limit of all.
 */
export class PasswordThrottle {
  readonly #now: Clock['now'];
  readonly #failures = new LRUCache<string, Failures>({ max: MAX_ADDRESSES });

  /** @param now the time of a clock */
  constructor(now: Clock['now'] = monotonicClock.now) {
    this.#now = now;
  }

  /** Seconds until the address may try a password; 0 if it may try now. */
  secondsToWait(address: string): number {
    const waits = countersOf(address).map(({ key, most }) => {
      const failures = this.#failures.peek(key);
      if (failures === undefined || failures.count < most) return 0;
      return Math.ceil((failures.until - this.#now()) / 1000);
    });
    return Math.max(0, ...waits);
  }

  /** Counts a wrong password of the address. */
  recordFailure(address: string): void {
    const now = this.#now();
    for (const { key } of countersOf(address)) {
      const known = this.#failures.get(key);
      const count = known === undefined || known.until <= now ? 1 : known.count + 1;
      this.#failures.set(key, { count, until: now + WINDOW_MS, refused: 0, reportAt: 0 });
    }
  }

  /**
   * Counts a password that was refused unread, because the address must wait. Returns the number of refusals to
   * report: at the first one, then once a minute, so that guessing does not fill a log; otherwise undefined.
   */
  recordRefusal(address: string): number | undefined {
    // The widest network that must wait: each of its addresses would begin a report of its own.
    const failures = countersOf(address)
      .map(({ key, most }) => ({ known: this.#failures.peek(key), most }))
      .findLast(({ known, most }) => known !== undefined && known.count >= most)?.known;
    if (failures === undefined) return 1;
    failures.refused += 1;
    const now = this.#now();
    if (now < failures.reportAt) return undefined;
    const { refused } = failures;
    failures.refused = 0;
    failures.reportAt = now + REPORT_MS;
    return refused;
  }
}

/** Returns the counters of a visitor and their limits: its own, and that of its IPv6 /48 or its proxy. */
function countersOf(visitor: string): readonly { readonly key: string; readonly most: number }[] {
  const { address, claimed } = partsOfVisitor(visitor);
  const group = addressGroup(address);
  if (claimed !== undefined)
    return [
      { key: `${group} for ${addressGroup(claimed)}`, most: MAX_FAILURES },
      { key: `${group} for others`, most: MAX_CLAIMED_FAILURES },
    ];
  const own = { key: group, most: MAX_FAILURES };
  const site = /^([\da-f]+:[\da-f]+:[\da-f]+):[\da-f]+::\/64$/.exec(group)?.[1];
  return site === undefined ? [own] : [own, { key: `${site}::/48`, most: MAX_SITE_FAILURES }];
}
