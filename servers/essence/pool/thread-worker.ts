// A worker thread that summarizes the documents of trusted readers (E-140).
import { Worker } from 'node:worker_threads';
import type { EssenceInput } from '../model.js';
import { measureThread } from '../time-budget.js';
import {
  type DocumentWorker,
  unpackOutput,
  type WorkerEvents,
  type WorkerReply,
  type WorkerSetup,
} from './worker-messages.js';

/**
 * MiB of a worker's young generation: summarizing makes many short-lived strings, and a larger one collects
 * them cheaply.
 */
const YOUNG_HEAP_MB = 64;

/** MiB for compiled code. V8 would map 512 MiB, which count against the limit of a reader process. */
const CODE_RANGE_MB = 64;

/** Starts a thread with a heap of `heapMb` MiB. */
export function startThread(setup: WorkerSetup, heapMb: number, youngHeapMb = YOUNG_HEAP_MB): Worker {
  return new Worker(new URL('./worker.js', import.meta.url), {
    workerData: setup,
    // The thread does not inherit the process's loaders and inspectors.
    execArgv: [],
    env: {},
    resourceLimits: {
      maxOldGenerationSizeMb: heapMb,
      maxYoungGenerationSizeMb: Math.min(youngHeapMb, heapMb / 4),
      codeRangeSizeMb: CODE_RANGE_MB,
    },
  });
}

/** Returns the reason why a thread ended with an error. */
export function threadFailure(error: Error, heapMb: number): string {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory
    ? `reading it takes more than ${heapMb} MiB of heap`
    : `its reader failed: ${error.message}`;
}

/** A {@link DocumentWorker} in a thread of this process. */
export class ThreadWorker implements DocumentWorker {
  readonly #worker: Worker;
  #processorMs: () => number = () => 0;

  constructor(setup: WorkerSetup, heapMb: number, events: WorkerEvents) {
    const worker = startThread(setup, heapMb);
    this.#worker = worker;
    worker.unref();
    worker.on('message', (reply: WorkerReply) => {
      if ('ready' in reply) {
        this.#processorMs = measureThread(reply.thread);
        events.ready();
      } else if ('piece' in reply) events.draft([reply.piece]);
      else if ('untrusted' in reply) events.reply({ kind: 'untrusted' });
      else if ('output' in reply) events.reply({ kind: 'output', output: unpackOutput(reply.output) });
      else events.reply({ kind: 'failure', reason: `summarizing it failed: ${reply.failure}` });
    });
    worker.on('error', (error) => events.ended({ reason: threadFailure(error, heapMb) }));
    worker.on('exit', (code) => events.ended({ reason: `its reader ended with code ${code}` }));
  }

  /** The body is copied once: the caller needs it if the thread does not read it to its end. */
  post(input: EssenceInput): void {
    const body = new Uint8Array(input.body);
    this.#worker.postMessage({ input: { ...input, body } }, [body.buffer]);
  }

  processorMs(): number {
    return this.#processorMs();
  }

  hold(busy: boolean): void {
    if (busy) this.#worker.ref();
    else this.#worker.unref();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
