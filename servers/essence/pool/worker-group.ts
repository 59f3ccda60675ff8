// Workers of one kind and the queue of documents before them: posts, time limit, replacement, idle end.

import { monotonicClock } from '../../../clients/connection/monotonic-clock.js';
import type { Clock } from '../../../protocols/clock.js';
import { StateError } from '../../../protocols/errors.js';
import type { DraftPiece } from '../document.js';
import type { EssenceInput } from '../model.js';
import { TimeBudget, TimeWatch } from '../time-budget.js';
import type { DocumentReply, DocumentWorker, WorkerEnd, WorkerEvents } from './worker-messages.js';

/** Options of a group. */
export interface WorkerGroupOptions {
  readonly workers: number;
  /**
   * Milliseconds of the worker's processor time that one document may take before the worker is replaced; by
   * the clock see {@link TimeBudget}.
   */
  readonly timeLimitMs: number;
  /** Default: that of this machine. */
  readonly clock?: Clock;
  /** Milliseconds after which a worker without a document ends; Infinity keeps it. */
  readonly idleMs: number;
  readonly start: (events: WorkerEvents) => DocumentWorker;
}

/** The result of a document that the group has processed. */
export type GroupResult =
  | DocumentReply
  /** No worker can be started, for reasons that are not the document's. */
  | { readonly kind: 'unavailable'; readonly reason: string };

interface Job {
  readonly input: EssenceInput;
  readonly resolve: (result: GroupResult) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
  /** Milliseconds of processor time that are left to read it, over all attempts. */
  remainingMs: number;
  retried: boolean;
}

/**
 * Documents posted to a worker: the current one and the next, so that the worker never waits for the event
 * loop.
 */
const JOBS_PER_WORKER = 2;
/** A larger body is posted only to an idle worker. */
const MAX_QUEUED_BODY_BYTES = 256 * 1024;

interface WorkerSlot {
  worker: DocumentWorker | undefined;
  /** Whether the worker has compiled its context; before that, no document's time limit runs. */
  ready: boolean;
  /** Posted to the worker, in order; the worker processes the first one. */
  jobs: Job[];
  /** The time limit of the current document. */
  watch: TimeWatch | undefined;
  /** The parts that the worker has read so far. */
  pieces: DraftPiece[];
  /** The end of a worker without a document. */
  idleTimer: NodeJS.Timeout | undefined;
}

/**
 * Starts workers when documents need them, and replaces those that end or take too long. A document that ends
 * its worker fails alone.
 */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions;
  readonly #slots: WorkerSlot[];
  readonly #waiting: Job[] = [];
  readonly #ending = new Set<Promise<void>>();
  #closed = false;
  /** Workers replaced after a crash or a document that took too long or too much memory. */
  replaced = 0;

  constructor(options: WorkerGroupOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.workers }, () => ({
      worker: undefined,
      ready: false,
      jobs: [],
      watch: undefined,
      pieces: [],
      idleTimer: undefined,
    }));
  }

  /**
   * Starts all workers and waits until they are ready. A worker that fails to start is reported by its first
   * document.
   */
  async startAll(): Promise<void> {
    await Promise.all(
      this.#slots.map(
        (slot) =>
          new Promise<void>((resolve) => {
            const worker = this.#start(slot, resolve);
            worker.hold(true);
          }),
      ),
    );
    for (const slot of this.#slots) if (slot.jobs.length === 0) slot.worker?.hold(false);
  }

  /**
   * Processes one document; waits while all workers are busy. @throws StateError when the group is closed; the
   * signal's reason
   */
  run(input: EssenceInput, signal?: AbortSignal): Promise<GroupResult> {
    return new Promise<GroupResult>((resolve, reject) => {
      if (this.#closed) throw new StateError('the essence pool is closed');
      signal?.throwIfAborted();
      const job: Job = {
        input,
        resolve,
        reject,
        signal,
        onAbort: () => this.#abort(job),
        remainingMs: this.#options.timeLimitMs,
        retried: false,
      };
      signal?.addEventListener('abort', job.onAbort, { once: true });
      const slot = this.#slotFor(job);
      if (slot === undefined || this.#waiting.length > 0) this.#waiting.push(job);
      else this.#assign(slot, job);
    });
  }

  /**
   * A worker that is idle, then one that can start, then one with room for a document after its current one.
   */
  #slotFor(job: Job): WorkerSlot | undefined {
    const idle = this.#slots.filter(({ jobs }) => jobs.length === 0);
    return (
      idle.find(({ worker }) => worker !== undefined) ??
      idle[0] ??
      this.#slots.find((candidate) => hasRoom(candidate, job))
    );
  }

  /** Ends the workers and waits until they are gone. Pending documents reject with a StateError. */
  async close(): Promise<void> {
    this.#closed = true;
    const reason = new StateError('the essence pool was closed');
    for (const job of this.#waiting.splice(0)) settle(job, () => job.reject(reason));
    for (const slot of this.#slots) {
      for (const job of this.#removeJobs(slot)) settle(job, () => job.reject(reason));
      this.#end(slot);
    }
    await Promise.all(this.#ending);
  }

  #start(slot: WorkerSlot, onReady: () => void = () => undefined): DocumentWorker {
    const isCurrent = (): boolean => slot.worker === worker;
    slot.ready = false;
    const worker: DocumentWorker = this.#options.start({
      ready: () => {
        if (!isCurrent()) return;
        slot.ready = true;
        if (slot.jobs.length > 0) this.#watch(slot);
        onReady();
      },
      draft: (pieces) => {
        if (isCurrent()) slot.pieces.push(...pieces);
      },
      reply: (reply) => {
        if (isCurrent()) this.#receive(slot, reply);
      },
      ended: (end) => {
        onReady();
        if (isCurrent()) this.#replace(slot, end);
      },
    });
    slot.worker = worker;
    return worker;
  }

  #assign(slot: WorkerSlot, job: Job): void {
    const worker = slot.worker ?? this.#start(slot);
    slot.jobs.push(job);
    if (slot.jobs.length === 1) {
      clearTimeout(slot.idleTimer);
      if (slot.ready) this.#watch(slot);
    }
    worker.hold(true);
    worker.post(job.input);
  }

  #watch(slot: WorkerSlot): void {
    const { timeLimitMs, clock = monotonicClock } = this.#options;
    const budget = new TimeBudget(slot.jobs[0]?.remainingMs ?? timeLimitMs, {
      processorMs: () => slot.worker?.processorMs() ?? 0,
      now: () => clock.now(),
    });
    slot.watch = new TimeWatch(budget, clock, (clause) => {
      this.#replace(slot, { reason: `reading it takes ${clause} (E-70)` });
    });
  }

  #receive(slot: WorkerSlot, reply: DocumentReply): void {
    const job = slot.jobs.shift();
    if (job === undefined) return;
    slot.watch?.stop();
    slot.pieces = [];
    if (slot.jobs.length > 0) this.#watch(slot);
    settle(job, () => job.resolve(reply));
    this.#next(slot);
    if (slot.jobs.length > 0) return;
    slot.worker?.hold(false);
    const { idleMs } = this.#options;
    if (idleMs !== Number.POSITIVE_INFINITY)
      slot.idleTimer = setTimeout(() => this.#end(slot), idleMs).unref();
  }

  /**
   * Ends a worker that failed or must end: its current document fails, or is read once more; the next one
   * returns to the queue.
   */
  #replace(slot: WorkerSlot, end: WorkerEnd): void {
    const { ready: isReady, watch, pieces } = slot;
    const usedMs = watch?.budget.usedMs ?? 0;
    const [job, ...queued] = this.#removeJobs(slot);
    this.#waiting.unshift(...queued);
    this.#end(slot);
    if (end.reason !== '') this.replaced++;
    if (job !== undefined) {
      if (isReady) job.remainingMs -= usedMs;
      if (end.retry === true && !job.retried && job.remainingMs > 0) {
        job.retried = true;
        this.#waiting.unshift(job);
      } else {
        const { reason } = end;
        settle(job, () =>
          job.resolve(isReady ? { kind: 'failure', reason, pieces } : { kind: 'unavailable', reason }),
        );
      }
    }
    this.#next(slot);
  }

  #end(slot: WorkerSlot): void {
    const { worker } = slot;
    clearTimeout(slot.idleTimer);
    slot.worker = undefined;
    slot.ready = false;
    if (worker === undefined) return;
    const ending = worker.end().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #removeJobs(slot: WorkerSlot): Job[] {
    slot.watch?.stop();
    slot.watch = undefined;
    slot.pieces = [];
    return slot.jobs.splice(0);
  }

  #next(slot: WorkerSlot): void {
    for (let job = this.#waiting[0]; job !== undefined && hasRoom(slot, job); job = this.#waiting[0]) {
      this.#waiting.shift();
      this.#assign(slot, job);
    }
  }

  /** Removes a document from the queue; the output of one that a worker already has is ignored. */
  #abort(job: Job): void {
    const index = this.#waiting.indexOf(job);
    if (index >= 0) this.#waiting.splice(index, 1);
    job.reject(job.signal?.reason);
  }
}

function hasRoom(slot: WorkerSlot, job: Job): boolean {
  if (slot.jobs.length === 0) return true;
  return slot.jobs.length < JOBS_PER_WORKER && job.input.body.length <= MAX_QUEUED_BODY_BYTES;
}

function settle(job: Job, finish: () => void): void {
  job.signal?.removeEventListener('abort', job.onAbort);
  finish();
}
