// The pool that summarizes documents: threads for formats that this project reads itself, reader processes for
// all others (E-45, E-140).

import { availableParallelism } from 'node:os';
import { debugChannel, publishDebug } from '../../../clients/fetch/debug-channel.js';
import type { Complete } from '../../../protocols/defined.js';
import { StateError } from '../../../protocols/errors.js';
import { decodeSoif } from '../../../protocols/soif/index.js';
import { OriginCharsets } from '../charset/decode.js';
import { compileEssence, type EssenceContext, readEssenceSources, type SelectionRules } from '../context.js';
import { EssenceError } from '../errors.js';
import type { EssenceInput, EssenceOptions, EssenceOutput } from '../model.js';
import { type RecognitionStep, recognize } from '../recognition/recognize.js';
import { MAX_THREAD_DOCUMENT_BYTES } from '../recognition/trust.js';
import { NESTED_TYPES } from '../recognition/types.js';
import { ReaderProcess } from './reader-process.js';
import { ThreadWorker } from './thread-worker.js';
import { type GroupResult, WorkerGroup } from './worker-group.js';
import type { WorkerSetup } from './worker-messages.js';

// The limits of a pool's threads and processes, and how the memory of the whole pool is divided among them.

/** Limits of the threads and processes that summarize (E-45, E-70, E-140). */
export interface PoolLimits {
  /**
   * Threads; 0 summarizes in the calling thread, without any limit below. Default: one less than the
   * processors, at least 1, at most 4.
   */
  readonly workers?: number;
  /**
   * Milliseconds of processor time one document may take before its worker is replaced; ten times as many by
   * the clock (E-70). A reader stops by itself at four fifths of them. What was read until then is kept.
   * Default 30 000.
   */
  readonly timeLimitMs?: number | undefined;
  /** Heap of one thread in MiB; a document that needs more ends its thread, not the process. Default 256. */
  readonly maxWorkerHeapMb?: number;
  /**
   * Memory of one reader process in MiB, everything counted: heap, buffers, native code (E-45). A document that
   * needs more is summarized by its name. Default 384.
   */
  readonly maxReaderMemoryMb?: number | undefined;
  /**
   * Memory of all reader processes in MiB (E-45). It bounds their number: at most as many as {@link workers},
   * and each may use {@link maxReaderMemoryMb}. Default 1024.
   */
  readonly maxPoolMemoryMb?: number | undefined;
  /** Milliseconds after which a reader process without a document ends. Default 60 000. */
  readonly readerIdleMs?: number;
}

/** {@link PoolLimits} with every default filled in, and the number of reader processes. */
interface ResolvedPoolLimits extends Complete<PoolLimits> {
  /** Reader processes; at least 1 unless there are no workers. */
  readonly readers: number;
}

/** The least memory of a reader process: Node itself and the summarizers take a third of it. */
const MIN_READER_MEMORY_MB = 128;

/** Fills in the defaults. */
function resolvePoolLimits(limits: PoolLimits): ResolvedPoolLimits {
  const workers = limits.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1));
  const maxPoolMemoryMb = Math.max(MIN_READER_MEMORY_MB, limits.maxPoolMemoryMb ?? 1024);
  const maxReaderMemoryMb = Math.min(
    maxPoolMemoryMb,
    Math.max(MIN_READER_MEMORY_MB, limits.maxReaderMemoryMb ?? 384),
  );
  return {
    workers,
    timeLimitMs: limits.timeLimitMs ?? 30_000,
    maxWorkerHeapMb: limits.maxWorkerHeapMb ?? 256,
    maxReaderMemoryMb,
    maxPoolMemoryMb,
    readerIdleMs: limits.readerIdleMs ?? 60_000,
    readers:
      workers === 0 ? 0 : Math.max(1, Math.min(workers, Math.floor(maxPoolMemoryMb / maxReaderMemoryMb))),
  };
}

/**
 * Share of a document's time after which a reader stops by itself: enough is left to make the summary of what
 * was read.
 */
const READING_SHARE = 0.8;

/** Options of a pool. */
export interface EssencePoolOptions extends EssenceOptions, PoolLimits {}

/** The summarizers are loaded when this thread needs them, which is rare: a pool usually has workers. */
const loadSummarizers = () => import('../summarize.js');

/** Counts of a pool since it was created. */
export interface EssenceStatistics {
  readonly summarized: number;
  readonly rejected: number;
  /** Rejected documents of a nested type: exploded into other objects, or empty. */
  readonly nested: number;
  /**
   * Documents whose worker did not read them to their end: they are summarized by the part that was read, or by
   * their name, except those for which no worker could be started.
   */
  readonly failed: number;
  /** Workers replaced after a crash or a document that took too long or too much memory. */
  readonly replaced: number;
}

/**
 * Summarizes documents in worker threads and reader processes (E-140). A thread recognizes the type and reads
 * the formats of `recognition/trust.ts`; it refuses all others, which a reader process reads: its memory is limited as a
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
   * end of the call. A document that needs more memory or time than its reader has is summarized by the part
   * that was read, else by its name, with a warning (E-45).
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

// Debug sections 60 to 69 (G-150). The calling thread writes them, not the worker, and computes nothing that is
// not shown.

/** Sections 60 and 63: the gathered document, and how its type is recognized. */
function debugDocument(input: EssenceInput, { rules, settings }: EssenceContext): void {
  if (!debugChannel.hasSubscribers) return;
  const { url, body, contentType, charset, lastModificationTime } = input;
  const bytes = body.length;
  publishDebug(60, 1, () => {
    const type = [contentType ?? 'no type declared', ...(charset === undefined ? [] : [charset])].join(', ');
    return `${url}: ${bytes} bytes, ${type}, modified ${lastModificationTime}`;
  });
  publishDebug(63, 1, () => {
    const steps: RecognitionStep[] = [];
    const { type } = recognize(input, rules, { access: settings.access, steps });
    return `${url}: type ${type}: ${steps.map(step).join('; ')}`;
  });
}

function step({ how, subject, type, rule, note }: RecognitionStep): string {
  const from = rule === undefined ? '' : ` (${rule.file} line ${rule.line})`;
  return `${how} ${JSON.stringify(subject)} says ${type ?? 'nothing'}${from}${note === undefined ? '' : `: ${note}`}`;
}

/** Sections 64 to 67, and 69: the summary. */
function debugOutput(url: string, output: EssenceOutput): void {
  if (!debugChannel.hasSubscribers) return;
  const { type, rejected, soif, md5, exploded = [], rules = [], url: renamed } = output;
  publishDebug(64, 1, () =>
    rejected || soif === undefined
      ? `${url}: no summary, type ${type}`
      : `${url}: ${soif.length} bytes, ${attributesOf(soif).length} attributes, ${output.links.length} links`,
  );
  if (exploded.length > 0) {
    publishDebug(65, 1, () => `${url}: ${exploded.length} objects, the first ${exploded[0]!.url}`);
  }
  if (rules.length > 0) publishDebug(66, 1, () => `${url}: rules of lines ${rules.join(', ')} apply`);
  if (renamed !== undefined) publishDebug(66, 2, () => `${url}: its URL is now ${renamed}`);
  if (rules.length > 0 && soif !== undefined) {
    publishDebug(66, 5, () => `${url}: the object after the rules: ${Buffer.from(soif).toString('utf8')}`);
  }
  publishDebug(67, 1, () => `${renamed ?? url}: MD5 ${md5 === '' ? 'none' : md5}`);
  if (soif === undefined) return;
  publishDebug(69, 1, () => `@${type} { ${renamed ?? url}: ${soif.length} bytes`);
  publishDebug(69, 5, () => `${renamed ?? url}: ${attributesOf(soif).join(' ')}`);
  publishDebug(69, 9, () => Buffer.from(soif).toString('utf8'));
}

/** Names and sizes in bytes. */
function attributesOf(soif: Uint8Array): string[] {
  return decodeSoif(soif).attributes.map(({ name, value }) => `${name}{${value.length}}`);
}
