// Slows clients whose messages are refused, or left without their answers, again and again.
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import { type Clock, pauseFor } from '../../protocols/clock.js';
import { RecentWork } from '../../protocols/fair-queue.js';
import { addressGroup } from './address-group.js';
import { isProxyAddress } from './fair-share.js';

/** Options of a {@link RefusalBrake}. */
export interface RefusalBrakeOptions {
  /** Milliseconds for which a refusal, or a session, is held back at most, default 1000; 0 holds none. */
  readonly maxHoldMs?: number | undefined;
  /** Refusals and sessions that are held at once; further ones go on immediately. Default 128. */
  readonly maxHeld?: number | undefined;
  /** Default: that of this process. */
  readonly clock?: Clock | undefined;
}

const MAX_HOLD_MS = 1000;
const MAX_HELD = 128;

/** Recent refusals of an address that are sent immediately: a person corrects a query. */
const FREE_REFUSALS = 3;
/** The delay of the next refusal; each further one is held twice as long. */
const FIRST_HOLD_MS = 50;
/** A refusal counts half after this many milliseconds. */
const HALF_LIFE_MS = 5000;
/** Another address is being served if it has sent a message within this time. */
const PRESENT_MS = 1000;
/** Sessions of one address that are held at once: each has one of the places for connections. */
const MAX_SESSIONS = 4;
/** Addresses whose refusals are counted; the one that has been quiet longest is forgotten first. */
const MAX_ADDRESSES = 10_000;

/** An address and when it last sent a message. */
interface Sender {
  readonly group: string;
  readonly at: number;
}

/**
 * Holds refusals back: a connection whose message is refused costs its client nothing, so that clients that connect
 * again at once would have most of the thread. An address that was refused several times in the last seconds waits for
 * its next refusal, longer each time, while other addresses are served. Nothing else waits: neither its answers nor
 * the refusals of others. A request whose client does not wait for the answer counts as a refusal; since that has none
 * to hold back, the next session of its address begins later.
 */
export class RefusalBrake {
  readonly #maxHoldMs: number;
  readonly #maxHeld: number;
  readonly #clock: Clock;
  readonly #refusals = new LRUCache<string, RecentWork>({ max: MAX_ADDRESSES });
  /** Sessions that are held, by address. */
  readonly #waiting = new Map<string, number>();
  readonly #abandoned = new LRUCache<string, RecentWork>({ max: MAX_ADDRESSES });
  /** The last address that sent a message, and the last other one. */
  #latest: Sender | undefined;
  #other: Sender | undefined;
  #held = 0;

  constructor({
    maxHoldMs = MAX_HOLD_MS,
    maxHeld = MAX_HELD,
    clock = monotonicClock,
  }: RefusalBrakeOptions = {}) {
    this.#maxHoldMs = maxHoldMs;
    this.#maxHeld = maxHeld;
    this.#clock = clock;
  }

  /** Refusals and sessions that are held now. */
  get held(): number {
    return this.#held;
  }

  /** An address has sent a message, whatever becomes of it. */
  noteMessage(address: string): void {
    const group = addressGroup(address);
    if (this.#latest !== undefined && this.#latest.group !== group) this.#other = this.#latest;
    this.#latest = { group, at: this.#clock.now() };
  }

  /**
   * Counts a refusal. Resolves when it may be sent.
   *
   * @throws the signal's reason, when that is aborted before
   */
  async beforeRefusal(address: string, signal: AbortSignal): Promise<void> {
    const group = addressGroup(address);
    await this.#hold(group, this.#add(this.#refusals, group), signal);
  }

  /** A client has gone before the answer to its request was sent. */
  noteAbandoned(address: string): void {
    this.#add(this.#abandoned, addressGroup(address));
  }

  /**
   * Resolves when a session of the address may begin: immediately, unless its last requests were abandoned. Resolves
   * with false if it may not, because as many of the address wait already as may.
   *
   * @throws the signal's reason, when that is aborted before
   */
  async beforeSession(address: string, signal: AbortSignal): Promise<boolean> {
    const group = addressGroup(address);
    const abandoned = this.#abandoned.get(group)?.at(this.#clock.now()) ?? 0;
    if (isProxyAddress(address) || this.#holdMs(group, abandoned) <= 0) return true;
    const waiting = this.#waiting.get(group) ?? 0;
    if (waiting >= MAX_SESSIONS) return false;
    this.#waiting.set(group, waiting + 1);
    try {
      await this.#hold(group, abandoned, signal);
      return true;
    } finally {
      const left = (this.#waiting.get(group) ?? 1) - 1;
      if (left > 0) this.#waiting.set(group, left);
      else this.#waiting.delete(group);
    }
  }

  #add(counts: LRUCache<string, RecentWork>, group: string): number {
    const now = this.#clock.now();
    const count = counts.get(group) ?? new RecentWork(HALF_LIFE_MS);
    counts.set(group, count);
    count.add(1, now);
    return count.at(now);
  }

  /** Milliseconds for which the next answer of an address is held that has been at fault so often. */
  #holdMs(group: string, count: number): number {
    const excess = count - FREE_REFUSALS;
    if (excess <= 0 || this.#held >= this.#maxHeld) return 0;
    if (!this.#areOthersServed(group, this.#clock.now())) return 0;
    return Math.min(this.#maxHoldMs, FIRST_HOLD_MS * 2 ** (Math.ceil(excess) - 1));
  }

  async #hold(group: string, count: number, signal: AbortSignal): Promise<void> {
    const holdMs = this.#holdMs(group, count);
    if (holdMs <= 0) return;
    this.#held += 1;
    try {
      await pauseFor(this.#clock, holdMs, signal);
    } finally {
      this.#held -= 1;
    }
  }

  #areOthersServed(group: string, now: number): boolean {
    const other = this.#latest?.group === group ? this.#other : this.#latest;
    return other !== undefined && now - other.at < PRESENT_MS;
  }
}
