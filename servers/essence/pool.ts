// The pool that summarizes documents: threads for formats that this project reads itself, reader processes for
// all others (E-45, E-140).
import { StateError } from '../../protocols/errors.js';
import { OriginCharsets } from './charset/index.js';
import { compileEssence, type EssenceContext, readEssenceSources, type SelectionRules } from './context.js';
import { debugDocument, debugOutput } from './debug.js';
import { EssenceError } from './errors.js';
import type { EssenceInput, EssenceOptions, EssenceOutput } from './model.js';
import { type PoolLimits, type ResolvedPoolLimits, resolvePoolLimits } from './pool-limits.js';
import { ReaderProcess } from './reader-process.js';
import { ThreadWorker } from './thread-worker.js';
import { MAX_THREAD_DOCUMENT_BYTES } from './trust.js';
import { NESTED_TYPES } from './types.js';
import { type GroupResult, WorkerGroup } from './worker-group.js';
import type { WorkerSetup } from './worker-messages.js';

/**
 * Share of a document's time after which a reader stops by itself: enough is left to make the summary of what
 * was read.
 */
const READING_SHARE = 0.8;

/** Options of a pool. */
export interface EssencePoolOptions extends EssenceOptions, PoolLimits {}

/** The summarizers are loaded when this thread needs them, which is rare: a pool usually has workers. */
const loadSummarizers = () => import('./summarize.js');

/** Counts of a pool since it was created. */
export interface EssenceStatistics {
  readonly summarized: number;
  readonly rejected: number;
  /** Rejected documents of a nested type: exploded into other objects, or empty. */
  readonly nested: number;
  /**
   * Documents whose worker did not read them to their end: they are summarized by what was read or by their
   * name, except those for which no worker could be started.
   */
  readonly failed: number;
  /** Workers replaced after a crash or a document that took too long or too much memory. */
  readonly replaced: number;
}

/**
 * Summarizes documents in worker threads and reader processes (E-140). A thread recognizes the type and reads
 * the formats of `trust.ts`; it refuses all others, which a reader process reads: its memory is limited as a
 * whole (E-45), and the first such document starts it. A worker has the current document and at most one small
 * next one; further calls are queued with the body still owned by the caller, so the pool itself uses little
 * memory.
 */
export class EssencePool implements AsyncDisposable {
  /** For {@link typeByUrl} and {@link isRejected} before fetching. */
  readonly rules: SelectionRules;
  readonly #context: EssenceContext;
  readonly #limits: ResolvedPoolLimits;
  readonly #threads: WorkerGroup;
  readonly #readers: WorkerGroup;
  #counts = { summarized: 0, rejected: 0, nested: 0, failed: 0 };
  readonly #charsets = new OriginCharsets();
  #closed = false;

  private constructor(limits: ResolvedPoolLimits, setup: WorkerSetup, context: EssenceContext) {
    const { workers, readers, timeLimitMs, readerIdleMs, maxReaderMemoryMb, maxWorkerHeapMb } = limits;
    this.#context = context;
    this.#limits = limits;
    this.rules = context.rules;
    this.#threads = new WorkerGroup({
      workers,
      timeLimitMs,
      idleMs: Number.POSITIVE_INFINITY,
      start: (events) => new ThreadWorker(setup, maxWorkerHeapMb, events),
    });
    this.#readers = new WorkerGroup({
      workers: readers,
      timeLimitMs,
      idleMs: readerIdleMs,
      start: (events) =>
        new ReaderProcess({ worker: { ...setup, isolated: true }, maxMemoryMb: maxReaderMemoryMb }, events),
    });
  }

  /**
   * Reads the configuration once, starts the threads and waits until they are ready. @throws ConfigError naming
   * file and line.
   */
  static async create(options: EssencePoolOptions): Promise<EssencePool> {
    const sources = await readEssenceSources(options);
    const {
      workers: _w,
      timeLimitMs: _t,
      maxWorkerHeapMb: _h,
      maxReaderMemoryMb: _m,
      maxPoolMemoryMb: _p,
      readerIdleMs: _i,
      ...plain
    } = options;
    const limits = resolvePoolLimits(options);
    const setup = { options: plain, sources, readingMs: limits.timeLimitMs * READING_SHARE };
    const pool = new EssencePool(limits, setup, compileEssence(plain, sources));
    try {
      await pool.#threads.startAll();
    } catch (error) {
      await pool.close();
      throw error;
    }
    return pool;
  }

  /** Number of threads. */
  get workers(): number {
    return this.#limits.workers;
  }

  get statistics(): EssenceStatistics {
    return { ...this.#counts, replaced: this.#threads.replaced + this.#readers.replaced };
  }

  /**
   * Summarizes one document; waits while all workers are busy. The caller must not change the body before the
   * end of the call. A document that needs more memory or time than its reader has is summarized by what was
   * read of it, else by its name, with a warning (E-45).
   *
   * @throws EssenceError when no worker can be started; StateError when the pool is closed; the signal's reason
   */
  async summarize(input: EssenceInput, signal?: AbortSignal): Promise<EssenceOutput> {
    if (this.#closed) throw new StateError('the essence pool is closed');
    signal?.throwIfAborted();
    debugDocument(input, this.#context);
    const likelyCharset = input.likelyCharset ?? this.#charsets.likely(input.url);
    const hinted = likelyCharset === undefined ? input : { ...input, likelyCharset };
    const output = this.#count(await this.#summarize(hinted, signal));
    if (output.charset !== undefined) this.#charsets.remember(input.url, output.charset);
    debugOutput(input.url, output);
    return output;
  }

  async #summarize(input: EssenceInput, signal: AbortSignal | undefined): Promise<EssenceOutput> {
    const result = this.#limits.workers === 0 ? await this.#readHere(input) : await this.#read(input, signal);
    if (result.kind === 'output') return result.output;
    this.#counts.failed++;
    if (result.kind === 'failure') {
      const { summarizeDraft } = await loadSummarizers();
      return summarizeDraft(input, this.#context, result.reason, result.pieces);
    }
    const reason = result.kind === 'unavailable' ? result.reason : 'no reader process takes it';
    throw new EssenceError(`summarizing failed: ${reason}`, input.url);
  }

  async #read(input: EssenceInput, signal: AbortSignal | undefined): Promise<GroupResult> {
    if (input.body.length <= MAX_THREAD_DOCUMENT_BYTES) {
      const result = await this.#threads.run(input, signal);
      if (result.kind !== 'untrusted') return result;
    }
    return this.#readers.run(input, signal);
  }

  async #readHere(input: EssenceInput): Promise<GroupResult> {
    try {
      const { summarizeDocument } = await loadSummarizers();
      return { kind: 'output', output: await summarizeDocument(input, this.#context) };
    } catch (error) {
      return { kind: 'failure', reason: `summarizing it failed: ${String(error)}` };
    }
  }

  /** Ends threads and processes. Calls of {@link summarize} that are pending reject with a StateError. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([this.#threads.close(), this.#readers.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #count(output: EssenceOutput): EssenceOutput {
    if (!output.rejected) this.#counts.summarized++;
    else this.#counts.rejected++;
    if (output.rejected && NESTED_TYPES.has(output.type)) this.#counts.nested++;
    return output;
  }
}
