import type { StopReason } from '../contract.js';
import { Scheduler, type ThreadShare } from './scheduler.js';

/** Slices that the first turn of a query has. */
const FIRST_SLICES = 2;

/** A promise and what resolves it. */
interface Held {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

/**
 * Thrown inside a query to unwind it after its deadline, at its limit of work or after a cancellation. Internal
 * to this folder.
 */
export class QueryStopped extends Error {
  readonly code = 'ERR_QUERY_STOPPED';

  constructor(readonly reason: StopReason) {
    super(reason);
  }
}

/** Options of {@link TimeSlice}. */
export interface TimeSliceOptions {
  /** Milliseconds of work without a pause; twice as many in the first turn. */
  readonly sliceMs: number;
  /** Milliseconds from now after which the work stops with reason `lifetime` (BRK-8.16). */
  readonly lifetimeMs: number;
  /** Milliseconds of work after which it stops with reason `cost`. Default: no limit. */
  readonly maxWorkMs?: number;
  /** Divides the thread among queries. Default: one of its own. */
  readonly scheduler?: Scheduler;
  /** The client by which the scheduler divides it. */
  readonly client?: string | undefined;
  /** Whether the work is known to be long, so that its first turn is one like others. Default false. */
  readonly isLikelyLong?: boolean;
}

/**
 * Lets several queries share one thread. Work begins with {@link TimeSlice.begin} and ends with
 * {@link TimeSlice.end}. Long work calls {@link TimeSlice.yield} often and awaits its result, which gives the
 * thread to other queries and to messages of the owner every `sliceMs`. {@link TimeSlice.wait} gives it away
 * while something else works, such as the disk.
 */
export class TimeSlice {
  readonly #sliceMs: number;
  readonly #deadline: number;
  readonly #maxWorkMs: number;
  readonly #scheduler: Scheduler;
  readonly #share: ThreadShare;
  #sliceEnd = 0;
  #canceled = false;
  /** While the work is held: ends the waiting. */
  #held: Held | undefined;
  #hasJoined = false;

  constructor({ sliceMs, lifetimeMs, maxWorkMs, scheduler, client, isLikelyLong }: TimeSliceOptions) {
    this.#sliceMs = sliceMs;
    this.#deadline = performance.now() + lifetimeMs;
    this.#maxWorkMs = maxWorkMs ?? Number.POSITIVE_INFINITY;
    this.#scheduler = scheduler ?? new Scheduler();
    this.#share = this.#scheduler.enter(client, isLikelyLong);
  }

  /** Makes the work stop at its next {@link yield}. */
  cancel(): void {
    this.#canceled = true;
    this.resume();
  }

  /**
   * Makes the work wait at its next {@link yield}, until {@link resume} or {@link cancel}. The deadline still
   * runs.
   */
  hold(): void {
    if (this.#canceled || this.#held !== undefined) return;
    let resolve: () => void = () => undefined;
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    this.#held = { promise, resolve };
  }

  /** Ends a {@link hold}. */
  resume(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.resolve();
  }

  /** Whether other queries use the thread: then a piece of work that cannot be interrupted must be short. */
  get isShared(): boolean {
    return this.#scheduler.isShared;
  }

  /** Takes the thread. */
  begin(): Promise<void> {
    if (!this.#hasJoined) this.#scheduler.join(this.#share);
    this.#hasJoined = true;
    return this.#take();
  }

  /** Gives the thread to the other queries. May be called twice. */
  end(): void {
    if (this.#hasJoined) this.#scheduler.leave(this.#share);
    this.#hasJoined = false;
    this.#scheduler.release(this.#share);
  }

  async #take(): Promise<void> {
    const turn = this.#scheduler.take(this.#share);
    if (turn !== undefined) await turn;
    this.#beginSlice();
  }

  /** The first slice is longer: most queries need no other one. */
  #beginSlice(): void {
    this.#sliceEnd = performance.now() + (this.#share.work === 0 ? FIRST_SLICES : 1) * this.#sliceMs;
  }

  /**
   * Returns undefined within the slice, else a promise that the caller awaits. The promise rejects with
   * {@link QueryStopped} after the deadline, the limit of work, or {@link cancel}.
   */
  yield(): Promise<void> | undefined {
    const now = performance.now();
    if (now < this.#sliceEnd && now < this.#deadline && !this.#canceled && this.#held === undefined)
      return undefined;
    return this.#pause();
  }

  /** Waits for a promise without the thread. */
  async wait<T>(promise: Promise<T>): Promise<T> {
    if (this.#share.since === undefined) return promise;
    this.#scheduler.release(this.#share);
    try {
      return await promise;
    } finally {
      await this.#take();
    }
  }

  /** Others do not count this query as one that works meanwhile. */
  async #waitWhileHeld(): Promise<void> {
    const hadJoined = this.#hasJoined;
    this.end();
    while (this.#held !== undefined) await this.#held.promise;
    if (hadJoined) await this.begin();
    else await this.#take();
  }

  async #pause(): Promise<void> {
    if (this.#held === undefined) await this.#scheduler.pass(this.#share);
    else await this.#waitWhileHeld();
    this.#beginSlice();
    if (this.#canceled) throw new QueryStopped('aborted');
    if (performance.now() >= this.#deadline) throw new QueryStopped('lifetime');
    if (this.#share.work >= this.#maxWorkMs) throw new QueryStopped('cost');
  }
}
