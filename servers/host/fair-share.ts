// Shares the event loop among the sessions of the servers of a process.
import { LRUCache } from 'lru-cache';
import { monotonicClock } from '../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../protocols/clock.js';
import { FairQueue, RecentWork } from '../../protocols/fair-queue.js';
import { addressGroup } from './address-group.js';

/** Options of a {@link FairShare}. */
export interface FairShareOptions {
  /** Milliseconds for which sessions work in one turn of the event loop before they wait. Default 0.25. */
  readonly sliceMs?: number;
  /** The time of a {@link Clock}. Default: that of this process. */
  readonly now?: Clock['now'];
  /** Replaces the call in the next turn of the event loop. */
  readonly nextTurn?: (callback: () => void) => void;
}

/** Milliseconds of recent work from which a session, or an address, comes after those with less. */
const CLASS_LIMITS_MS = [0.25, 2, 20];
const CLASSES = CLASS_LIMITS_MS.length + 1;

/** A session that has used little may exceed the slice by this factor: it is about to become idle. */
const LIGHT_FACTOR = 4;

/** Recent work counts half after this many milliseconds. */
const HALF_LIFE_MS = 1000;

/**
 * Every such selection goes to the session that has waited longest, so that a flood of new sessions does not
 * stop it.
 */
const SELECTIONS_PER_OLDEST = 8;

/** Addresses whose work is counted; the one that has been quiet longest is forgotten first. */
const MAX_ADDRESSES = 10_000;

/** Addresses that have worked about as much, in milliseconds, take turns. */
const SAME_WORK_MS = 1;

/** The addresses of this machine from which proxies connect for all their clients. Others of loopback are chosen. */
const PROXY_GROUPS: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

/** Whether clients of many addresses may connect from this one: they are not counted together. */
export function isProxyAddress(address: string): boolean {
  return PROXY_GROUPS.has(addressGroup(address));
}

/** A session that waits for its turn. */
interface WaitingSession {
  readonly resume: () => void;
  /**
   * Whether the session has done its work when `resume` returns; one that awaits a promise only begins then.
   */
  readonly synchronous: boolean;
}

/**
 * Shares one thread among the sessions of a server. Promises and pipelined input let a session continue for as
 * long as it has work, without a return to the event loop; meanwhile no other peer is served. A session asks
 * {@link SessionShare.mayContinue} before each command. When the sessions together have used their slice of the
 * turn, it waits for {@link SessionShare.turn}. In each turn, waiting sessions continue until the slice is
 * used, at least one of them: first those of addresses that have used least recently, and of one address first
 * those that have used least themselves. So a client that opens many connections queues behind one that opens
 * few.
 */
export class FairShare {
  readonly #sliceMs: number;
  readonly #nextTurn: (callback: () => void) => void;
  /** The time of the clock. @internal */
  readonly now: Clock['now'];
  readonly #addresses = new LRUCache<string, RecentWork>({ max: MAX_ADDRESSES });
  /** Waiting sessions by their rank, in which addresses take turns. */
  readonly #queue = new FairQueue<RecentWork, WaitingSession>();
  #turnBegin: number | undefined;
  #selections = 0;
  #scheduled = false;

  constructor({ sliceMs = 0.25, now = monotonicClock.now, nextTurn = setImmediate }: FairShareOptions = {}) {
    this.#sliceMs = sliceMs;
    this.now = now;
    this.#nextTurn = (callback) => void nextTurn(callback);
  }

  /** Sessions that wait for their turn. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Creates the share of one session.
   *
   * @param address of the peer; the sessions of one IPv4 address or IPv6 /64 are counted together, too, except
   *   those of 127.0.0.1 and ::1, from where proxies connect
   */
  join(address?: string): SessionShare {
    return new SessionShare(this, this.workOf(address));
  }

  /** The work of an address; undefined if its sessions are not counted together. @internal */
  workOf(address: string | undefined): RecentWork | undefined {
    const group = address === undefined ? undefined : addressGroup(address);
    if (group === undefined || PROXY_GROUPS.has(group)) return undefined;
    const known = this.#addresses.get(group) ?? new RecentWork(HALF_LIFE_MS);
    this.#addresses.set(group, known);
    return known;
  }

  /** Whether a session may continue in this turn, whose slice counts `factor` times. @internal */
  mayContinue(share: SessionShare, factor: number): boolean {
    const now = this.now();
    if (this.#turnBegin === undefined) {
      this.#turnBegin = now;
      this.#schedule();
      return true;
    }
    const elapsed = now - this.#turnBegin;
    if (elapsed < this.#sliceMs * factor) return true;
    return elapsed < this.#sliceMs * LIGHT_FACTOR && share.rank === 0;
  }

  /** Calls back in a later turn. The result ends the waiting. @internal */
  wait(share: SessionShare, resume: () => void, synchronous: boolean): () => void {
    const waiting = this.#queue.add(share.key, { resume, synchronous }, share.rank);
    this.#schedule();
    return () => void this.#queue.remove(waiting);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#nextTurn(this.#onTurn);
  }

  readonly #onTurn = (): void => {
    this.#scheduled = false;
    this.#turnBegin = undefined;
    // Those that wait again meanwhile have their next turn later.
    let left = this.#queue.size;
    let next = this.#next();
    if (next === undefined) return;
    this.#turnBegin = this.now();
    this.#schedule();
    const end = this.#turnBegin + this.#sliceMs;
    next.resume();
    while (next.synchronous && --left > 0 && this.now() < end) {
      next = this.#next();
      if (next === undefined) return;
      next.resume();
    }
  };

  #next(): WaitingSession | undefined {
    this.#selections += 1;
    if (this.#selections % SELECTIONS_PER_OLDEST === 0) return this.#queue.take('oldest')?.item;
    const now = this.now();
    return this.#queue.take('level', (work) => Math.floor(work.at(now) / SAME_WORK_MS))?.item;
  }
}

/**
 * The share of this thread: the sessions of all servers of a process take turns with each other, because they
 * have one event loop.
 */
export const threadShare = new FairShare();

/** 0 for little recent work, up to 3. */
function classOf(milliseconds: number): number {
  const found = CLASS_LIMITS_MS.findIndex((limit) => milliseconds < limit);
  return found < 0 ? CLASS_LIMITS_MS.length : found;
}

/** The share of one session. */
export class SessionShare {
  readonly #owner: FairShare;
  #address: RecentWork | undefined;
  readonly #own = new RecentWork(HALF_LIFE_MS);

  constructor(owner: FairShare, address: RecentWork | undefined) {
    this.#owner = owner;
    this.#address = address;
  }

  /**
   * Whether the session may continue now; otherwise it waits for {@link turn} or {@link whenTurn}.
   *
   * @param factor lengthens or shortens the slice, for a session that knows a good point to stop at. Default 1
   */
  mayContinue(factor = 1): boolean {
    return this.#owner.mayContinue(this, factor);
  }

  /**
   * Resolves when the session may continue, or when the signal is aborted: a session that is closed waits no
   * longer.
   */
  async turn(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const onAbort = (): void => {
        leave();
        resolve();
      };
      const onTurn = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      const leave = this.#owner.wait(this, onTurn, false);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /**
   * Calls back when the session may continue. The callback does the work of the turn before it returns.
   *
   * @returns ends the waiting: the callback is not called any more
   */
  whenTurn(resume: () => void): () => void {
    return this.#owner.wait(this, resume, true);
  }

  /** From now on the session works for another address than that of its peer, such as for one behind a proxy. */
  workFor(address: string): void {
    this.#address = this.#owner.workOf(address);
  }

  /** Counts work of the session, in milliseconds of processor time. */
  charge(milliseconds: number): void {
    const now = this.#owner.now();
    this.#own.add(milliseconds, now);
    this.#address?.add(milliseconds, now);
  }

  /** Those of one client have the same key. @internal */
  get key(): RecentWork {
    return this.#address ?? this.#own;
  }

  /** The order among waiting sessions: the smallest comes first. @internal */
  get rank(): number {
    const now = this.#owner.now();
    return classOf(this.#address?.at(now) ?? 0) * CLASSES + classOf(this.#own.at(now));
  }
}
