import { setTimeout as sleep } from 'node:timers/promises';
import { unlessAborted } from './host-addresses.js';

/** The lock of one host. */
interface HostLock {
  /** Requests in flight. */
  inFlight: number;
  /** When the last one ended, milliseconds since 1970. */
  lastEnd: number;
  /** No shared request starts before this. */
  notBefore: number;
  readonly waiting: (() => void)[];
}

/** Number of locks in memory above which unused ones are removed. */
const MAX_LOCKS = 100_000;

/**
 * A readers-writer lock for each host, with pauses. The state of a queue separates its own URIs (CRAWL-5.6.4), but a redirected
 * robots.txt leads to a host whose queues are not involved. Such a request is exclusive: it waits until no other is in flight and the
 * pause is over, and a pause follows it. So a host never gets two connections at the same time, or a request before its pause is over.
 */
export class HostLocks {
  readonly #locks = new Map<string, HostLock>();

  /** Runs a request of one of the host's own queues; it waits for an exclusive request and the pause after it. */
  async shared<T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lock = this.#lock(host);
    if (lock.notBefore > Date.now()) await this.#waitUntil(lock, signal, () => lock.notBefore - Date.now());
    lock.inFlight++;
    try {
      return await work();
    } finally {
      this.#release(lock);
    }
  }

  /** Runs a request while no other is in flight, `delayMs` after the last one ended, and with the same pause after it. */
  async exclusive<T>(host: string, delayMs: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lock = this.#lock(host);
    for (;;) {
      await this.#waitUntil(lock, signal, () => lock.lastEnd + delayMs - Date.now());
      if (lock.inFlight === 0) break;
      await this.#waitForRelease(lock, signal);
    }
    lock.inFlight++;
    lock.notBefore = Number.POSITIVE_INFINITY;
    try {
      return await work();
    } finally {
      lock.notBefore = Date.now() + delayMs;
      this.#release(lock);
    }
  }

  #release(lock: HostLock): void {
    lock.inFlight--;
    lock.lastEnd = Date.now();
    for (const wake of lock.waiting.splice(0)) wake();
  }

  #waitForRelease(lock: HostLock, signal: AbortSignal): Promise<void> {
    return unlessAborted(new Promise<void>((resolve) => lock.waiting.push(resolve)), signal);
  }

  async #waitUntil(lock: HostLock, signal: AbortSignal, remainingMs: () => number): Promise<void> {
    for (let wait = remainingMs(); wait > 0; wait = remainingMs()) {
      if (Number.isFinite(wait)) await sleep(Math.ceil(wait), undefined, { signal });
      else await this.#waitForRelease(lock, signal);
    }
  }

  #lock(host: string): HostLock {
    let lock = this.#locks.get(host);
    if (lock === undefined) {
      if (this.#locks.size >= MAX_LOCKS) this.#removeUnused();
      lock = { inFlight: 0, lastEnd: 0, notBefore: 0, waiting: [] };
      this.#locks.set(host, lock);
    }
    return lock;
  }

  #removeUnused(): void {
    for (const [host, lock] of this.#locks) {
      if (lock.inFlight > 0 || lock.waiting.length > 0 || lock.notBefore > Date.now()) continue;
      this.#locks.delete(host);
      if (this.#locks.size < MAX_LOCKS / 2) return;
    }
  }
}
