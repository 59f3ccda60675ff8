// Limits the guessing of passwords.
import { LRUCache } from 'lru-cache';

/** Wrong passwords of one address within {@link WINDOW_MS} before it must wait. */
const MAX_FAILURES = 10;
const WINDOW_MS = 5 * 60_000;

/** Addresses remembered; the least recently used is forgotten first. */
const MAX_ADDRESSES = 10_000;

/**
 * Limits the guessing of passwords: after ten wrong passwords an address must wait until five minutes have passed
 * without another.
 */
export class PasswordThrottle {
  readonly #failures = new LRUCache<string, { readonly count: number; readonly until: number }>({
    max: MAX_ADDRESSES,
  });

  /** @param now the clock, in milliseconds */
  constructor(readonly now: () => number = Date.now) {}

  /** Seconds until the address may try a password; 0 if it may try now. */
  secondsToWait(address: string): number {
    const failures = this.#failures.peek(address);
    if (failures === undefined || failures.count < MAX_FAILURES) return 0;
    return Math.max(0, Math.ceil((failures.until - this.now()) / 1000));
  }

  /** Counts a wrong password of the address. */
  recordFailure(address: string): void {
    const now = this.now();
    const known = this.#failures.get(address);
    const count = known === undefined || known.until <= now ? 1 : known.count + 1;
    this.#failures.set(address, { count, until: now + WINDOW_MS });
  }
}
