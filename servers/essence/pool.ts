import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { StateError } from '../../protocols/errors.js';
import { compileEssence, type EssenceContext, readEssenceSources, type SelectionRules } from './context.js';
import { debugDocument, debugOutput } from './debug.js';
import { EssenceError } from './errors.js';
import type { EssenceInput, EssenceOptions, EssenceOutput } from './model.js';
import { NESTED_TYPES } from './recognize.js';
import { summarizeDocument } from './summarize.js';
import {
  detached,
  transferable,
  unpackOutput,
  type WorkerReply,
  type WorkerSetup,
} from './worker-messages.js';

/** Options of a pool. */
export interface EssencePoolOptions extends EssenceOptions {
  /** Threads; 0 summarizes in the calling thread (no time limit there). Default: one less than the processors, at least 1, at most 4. */
  readonly workers?: number;
  /** Milliseconds one document may take before its worker is replaced (E-70). Default 30 000. */
  readonly timeLimitMs?: number;
  /** Heap of one worker in MiB; a document that needs more ends its worker, not the process. Default 512. */
  readonly maxWorkerHeapMb?: number;
}

/** Counts of a pool since it was created. */
export interface EssenceStatistics {
  readonly summarized: number;
  readonly rejected: number;
  /** Rejected documents of a nested type: exploded into other objects, or empty. */
  readonly nested: number;
  readonly failed: number;
  /** Workers replaced after a crash or a document that took too long. */
  readonly replaced: number;
}

/** MiB of a worker's young generation. */
const YOUNG_HEAP_MB = 64;

interface Job {
  readonly input: EssenceInput;
  readonly resolve: (output: EssenceOutput) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
  readonly onAbort: () => void;
}

/** Documents posted to a worker: the current one and the next, so that the worker never waits for the event loop. */
const JOBS_PER_WORKER = 2;
/** A larger body is posted only to an idle worker. Smaller ones are posted by copy, so that they survive the worker. */
const MAX_QUEUED_BODY_BYTES = 256 * 1024;

interface WorkerSlot {
  worker: Worker | undefined;
  /** Whether the worker has compiled its context; before that, no document's time limit runs. */
  ready: boolean;
  /** Posted to the worker, in order; the worker processes the first one. */
  jobs: Job[];
  timer: NodeJS.Timeout | undefined;
}

/**
 * Summarizes documents in worker threads (E-140). A worker has the current document and at most one small next one; further calls
 * are queued with the body still owned by the caller, so the pool itself uses little memory.
 */
export class EssencePool implements AsyncDisposable {
  /** For {@link typeByUrl} and {@link isRejected} before fetching. */
  readonly rules: SelectionRules;
  readonly #context: EssenceContext;
  readonly #setup: WorkerSetup;
  readonly #slots: WorkerSlot[];
  readonly #waiting: Job[] = [];
  readonly #timeLimitMs: number;
  readonly #heapMb: number;
  #counts = { summarized: 0, rejected: 0, nested: 0, failed: 0, replaced: 0 };
  #closed = false;

  private constructor(options: EssencePoolOptions, setup: WorkerSetup, context: EssenceContext) {
    this.#setup = setup;
    this.#context = context;
    this.rules = context.rules;
    this.#timeLimitMs = options.timeLimitMs ?? 30_000;
    this.#heapMb = options.maxWorkerHeapMb ?? 512;
    const workers = options.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1));
    this.#slots = Array.from({ length: workers }, () => ({
      worker: undefined,
      ready: false,
      jobs: [],
      timer: undefined,
    }));
  }

  /** Reads the configuration once, starts the threads and waits until they are ready. @throws ConfigError naming file and line. */
  static async create(options: EssencePoolOptions): Promise<EssencePool> {
    const sources = await readEssenceSources(options);
    const { workers: _w, timeLimitMs: _t, maxWorkerHeapMb: _h, ...plain } = options;
    const pool = new EssencePool(options, { options: plain, sources }, compileEssence(plain, sources));
    try {
      await Promise.all(pool.#slots.map((slot) => pool.#begin(slot)));
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** Number of threads. */
  get workers(): number {
    return this.#slots.length;
  }

  get statistics(): EssenceStatistics {
    return { ...this.#counts };
  }

  /**
   * Summarizes one document; waits while all workers are busy. The body's buffer is transferred if the body is all of it: the
   * caller must not use it after the call.
   *
   * @throws EssenceError when its worker crashed or exceeded the time limit; StateError when the pool is closed; the signal's reason
   */
  async summarize(input: EssenceInput, signal?: AbortSignal): Promise<EssenceOutput> {
    if (this.#closed) throw new StateError('the essence pool is closed');
    signal?.throwIfAborted();
    // Before the body is transferred.
    debugDocument(input, this.#context);
    const output = await this.#summarize(input, signal);
    debugOutput(input.url, output);
    return output;
  }

  async #summarize(input: EssenceInput, signal: AbortSignal | undefined): Promise<EssenceOutput> {
    if (this.#slots.length === 0) return this.#count(await this.#summarizeHere(input));
    return new Promise<EssenceOutput>((resolve, reject) => {
      const job: Job = { input, resolve, reject, signal, onAbort: () => this.#abort(job) };
      signal?.addEventListener('abort', job.onAbort, { once: true });
      const slot =
        this.#slots.find((candidate) => candidate.jobs.length === 0) ??
        this.#slots.find((candidate) => hasRoom(candidate, job));
      if (slot === undefined || this.#waiting.length > 0) this.#waiting.push(job);
      else this.#assign(slot, job);
    });
  }

  async #summarizeHere(input: EssenceInput): Promise<EssenceOutput> {
    try {
      return await summarizeDocument(input, this.#context);
    } catch (error) {
      this.#counts.failed++;
      throw new EssenceError(`summarizing failed: ${String(error)}`, input.url, error);
    }
  }

  /** Stops the threads. Calls of {@link summarize} that are pending reject with a StateError. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const reason = new StateError('the essence pool was closed');
    for (const job of this.#waiting.splice(0)) settle(job, () => job.reject(reason));
    await Promise.all(
      this.#slots.map((slot) => {
        const { worker } = slot;
        slot.worker = undefined;
        for (const job of this.#removeJobs(slot)) settle(job, () => job.reject(reason));
        return worker?.terminate();
      }),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Starts a slot's thread and waits until it is ready. A thread that fails to start is reported by its first document. */
  async #begin(slot: WorkerSlot): Promise<void> {
    const worker = this.#start(slot);
    worker.ref();
    await new Promise<void>((resolve) => {
      worker
        .once('message', () => resolve())
        .once('error', () => resolve())
        .once('exit', () => resolve());
    });
    if (slot.worker === worker && slot.jobs.length === 0) worker.unref();
  }

  #start(slot: WorkerSlot): Worker {
    const worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: this.#setup,
      // The thread does not inherit the process's loaders and inspectors.
      execArgv: [],
      env: {},
      // Summarizing makes many short-lived strings: a larger young generation collects them cheaply.
      resourceLimits: {
        maxOldGenerationSizeMb: this.#heapMb,
        maxYoungGenerationSizeMb: Math.min(YOUNG_HEAP_MB, this.#heapMb / 4),
      },
    });
    // An idle pool must not keep the process alive; a busy worker is referenced.
    worker.unref();
    slot.worker = worker;
    slot.ready = false;
    worker.on('message', (reply: WorkerReply) => this.#receive(slot, worker, reply));
    worker.on('error', (error) => this.#replaceWorker(slot, worker, error.message, error));
    worker.on('exit', (code) => this.#replaceWorker(slot, worker, `it ended with code ${code}`));
    return worker;
  }

  #assign(slot: WorkerSlot, job: Job): void {
    const worker = slot.worker ?? this.#start(slot);
    slot.jobs.push(job);
    if (slot.jobs.length === 1 && slot.ready) this.#watch(slot, worker);
    worker.ref();
    const body = detached(job.input.body);
    // The next document is posted by copy: if the worker ends first, another one gets it.
    const transferred = slot.jobs.length === 1 ? transferable(body) : [];
    try {
      worker.postMessage({ input: { ...job.input, body } }, transferred);
    } catch (error) {
      // An untransferable buffer (a WebAssembly memory, or one that is marked): the bytes are copied.
      if (!(error instanceof Error && error.name === 'DataCloneError')) throw error;
      worker.postMessage({ input: { ...job.input, body: new Uint8Array(body) } });
    }
  }

  #watch(slot: WorkerSlot, worker: Worker): void {
    slot.timer = setTimeout(() => {
      this.#replaceWorker(slot, worker, `it took more than ${this.#timeLimitMs} ms`);
    }, this.#timeLimitMs);
  }

  #receive(slot: WorkerSlot, worker: Worker, reply: WorkerReply): void {
    if (slot.worker !== worker) return;
    if ('ready' in reply) {
      slot.ready = true;
      if (slot.jobs.length > 0) this.#watch(slot, worker);
      return;
    }
    const job = slot.jobs.shift();
    if (job === undefined) return;
    clearTimeout(slot.timer);
    if (slot.jobs.length > 0) this.#watch(slot, worker);
    else worker.unref();
    if ('output' in reply) {
      settle(job, () => job.resolve(this.#count(unpackOutput(reply.output))));
    } else {
      this.#counts.failed++;
      settle(job, () => job.reject(new EssenceError(`summarizing failed: ${reply.failure}`, job.input.url)));
    }
    this.#next(slot);
  }

  /** Ends a worker that failed or must end: its current document fails, the next one returns to the queue. */
  #replaceWorker(slot: WorkerSlot, worker: Worker, reason: string, cause?: unknown): void {
    if (slot.worker !== worker) return;
    slot.worker = undefined;
    const [job, ...queued] = this.#removeJobs(slot);
    this.#waiting.unshift(...queued);
    this.#counts.replaced++;
    void worker.terminate();
    if (job !== undefined) {
      this.#counts.failed++;
      const error = new EssenceError(
        `the worker that summarized ${job.input.url} was replaced: ${reason}`,
        job.input.url,
        cause,
      );
      settle(job, () => job.reject(error));
    }
    this.#next(slot);
  }

  #removeJobs(slot: WorkerSlot): Job[] {
    clearTimeout(slot.timer);
    slot.timer = undefined;
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

  #count(output: EssenceOutput): EssenceOutput {
    if (!output.rejected) this.#counts.summarized++;
    else this.#counts.rejected++;
    if (output.rejected && NESTED_TYPES.has(output.type)) this.#counts.nested++;
    return output;
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
