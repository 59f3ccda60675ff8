import { setTimeout as sleep } from 'node:timers/promises';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import { Waiters } from '../../../protocols/waiters.js';

/** The lock of one host. */
interface HostLock {
  /** Requests in flight. */
  inFlight: number;
  /** When the last one ended, milliseconds since 1970. */
  lastEnd: number;
  /** An exclusive request waits or runs: no other one starts. */
  claimed: boolean;
  /** No request starts before this. */
  notBefore: number;
  /** Requests that wait until another one ends. */
  readonly waiters: Waiters;
}

/** Number of locks in memory above which unused ones are removed. */
const MAX_LOCKS = 100_000;

/**
 * A readers-writer lock for each host, with pauses. The state of a queue separates its own URIs (CRAWL-5.6.4),
 * but a redirected robots.txt leads to a host whose queues are not involved, and a response that is refused is
 * requested again. Such a request is exclusive: it waits until no other is in flight and the pause is over, and
 * a pause follows it. All schemes and ports of a host share one lock. So a host never gets two connections at
 * the same time, or a request before its pause is over.
 */
export class HostLocks {
  readonly #locks = new Map<string, HostLock>();

  /**
   * Runs a request of one of the host's own queues; it waits for an exclusive request and the pause after it.
   */
  async shared<T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lock = this.#lock(host);
    while (lock.claimed || lock.notBefore > steadyTime()) {
      if (lock.claimed) await lock.waiters.wait(signal);
      else await sleep(lock.notBefore - steadyTime(), undefined, { signal });
    }
    return this.#run(lock, work);
  }

  /**
   * Runs a request while no other is in flight, `delayMs` after the last one ended, and with the same pause
   * after it. Requests that come later wait for it, so that a busy host cannot keep it waiting forever.
   */
  async exclusive<T>(host: string, delayMs: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const lock = this.#lock(host);
    while (lock.claimed) await lock.waiters.wait(signal);
    lock.claimed = true;
    try {
      while (lock.inFlight > 0) await lock.waiters.wait(signal);
      for (;;) {
        const wait = Math.max(lock.lastEnd + delayMs, lock.notBefore) - steadyTime();
        if (wait <= 0) break;
        await sleep(Math.ceil(wait), undefined, { signal });
      }
      return await this.#run(lock, work);
    } finally {
      lock.claimed = false;
      lock.notBefore = Math.max(lock.notBefore, lock.lastEnd + delayMs);
      lock.waiters.wakeAll();
    }
  }

  async #run<T>(lock: HostLock, work: () => Promise<T>): Promise<T> {
    lock.inFlight++;
    try {
      return await work();
    } finally {
      lock.inFlight--;
      lock.lastEnd = steadyTime();
      lock.waiters.wakeAll();
    }
  }

  #lock(host: string): HostLock {
    let lock = this.#locks.get(host);
    if (lock === undefined) {
      if (this.#locks.size >= MAX_LOCKS) this.#removeUnused();
      lock = { inFlight: 0, lastEnd: 0, claimed: false, notBefore: 0, waiters: new Waiters() };
      this.#locks.set(host, lock);
    }
    return lock;
  }

  #removeUnused(): void {
    for (const [host, lock] of this.#locks) {
      if (lock.claimed || lock.inFlight > 0 || lock.waiters.size > 0 || lock.notBefore > steadyTime())
        continue;
      this.#locks.delete(host);
      if (this.#locks.size < MAX_LOCKS / 2) return;
    }
  }
}
