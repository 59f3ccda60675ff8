// The hosts that asked by Retry-After to be left alone, also across runs (CRAWL-22.4).
import type { LRUCache } from 'lru-cache';
import { steadyTime } from '../../../clients/connection/monotonic-clock.js';
import { hostOf } from '../../../protocols/urls/index.js';
import { lruCache } from '../lru.js';

/** Hosts that are remembered. */
const MAX_HOSTS = 10_000;

/** A host and the milliseconds until it may be asked again. */
export type HostHold = readonly [host: string, leftMs: number];

/** http and https of a host are one server; other ports have servers of their own. */
function keyOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : hostOf(url);
}

/** The hosts that no request goes to until a time that their server named. */
export class HostHolds {
  readonly #until: LRUCache<string, number>;
  readonly #now: () => number;
  readonly #changed = new Set<() => void>();

  /** @param now milliseconds since 1970 */
  constructor(now: () => number = steadyTime) {
    this.#now = now;
    this.#until = lruCache(MAX_HOSTS);
  }

  /** Milliseconds until the host of a URL may be asked; 0: now. */
  wait(url: string): number {
    const host = keyOf(url);
    const until = this.#until.peek(host);
    if (until === undefined) return 0;
    const left = until - this.#now();
    if (left > 0) return left;
    this.#until.delete(host);
    return 0;
  }

  /** The server of a URL asked for this many milliseconds. A longer wait of its host stays. */
  hold(url: string, milliseconds: number): void {
    if (milliseconds <= 0 || milliseconds <= this.wait(url)) return;
    this.#until.set(keyOf(url), this.#now() + milliseconds);
    for (const changed of this.#changed) changed();
  }

  /** Calls back after each change. */
  onChange(changed: () => void): void {
    this.#changed.add(changed);
  }

  /** The waits that are not over, for the next run. */
  rows(): HostHold[] {
    const now = this.#now();
    return [...this.#until.entries()]
      .map(([host, until]): HostHold => [host, until - now])
      .filter(([, left]) => left > 0);
  }

  /**
   * Continues the waits of the last run. Those that are further ahead than a server can ask for are from a clock that
   * was set back.
   *
   * @param longestMs the longest wait that is obeyed
   */
  restore(rows: readonly HostHold[], longestMs: number): void {
    const now = this.#now();
    for (const [host, left] of rows) if (left > 0 && left <= longestMs) this.#until.set(host, now + left);
  }
}
