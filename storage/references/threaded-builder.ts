// A references builder whose work is done by a thread, for programs that serve while they publish.
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { StorageError } from '../../protocols/errors.js';
import type { PublishedReferences, ReferencesBuilderOptions } from './builder.js';
import type { DocumentInput } from './contract.js';
import { type BuilderData, type BuilderReply, type BuilderRequest, revivedError } from './thread-messages.js';

/** Unanswered requests: bounds the memory of the sent rows. */
const MAX_UNANSWERED = 4;
/** The words of one message of links. */
const MESSAGE_WORDS = 1 << 16;

interface Waiter {
  readonly resolve: (published: PublishedReferences | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Builds a generation like {@link ReferencesBuilder} without delaying the event loop, at the price of a thread
 * and of a copy of each document and link.
 */
export class ThreadedReferencesBuilder implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #options: ReferencesBuilderOptions;
  readonly #waiting: Waiter[] = [];
  readonly #onAbort = (): void => this.#worker.postMessage({ kind: 'abort' } satisfies BuilderRequest);
  #pairs = new Uint32Array(MESSAGE_WORDS);
  #words = 0;
  #failure: unknown;
  #room: (() => void) | undefined;

  /** @param data the data directory; only one builder may work there at a time */
  constructor(data: string, options: ReferencesBuilderOptions = {}) {
    const { memoryBytes, keepGenerations, signal } = options;
    signal?.throwIfAborted();
    this.#options = options;
    const workerData: BuilderData = { data, memoryBytes, keepGenerations };
    this.#worker = new Worker(new URL('./builder-thread.js', import.meta.url), {
      workerData,
      execArgv: [],
      env: {},
    });
    this.#worker.on('message', (reply: BuilderReply) => this.#receive(reply));
    this.#worker.on('error', (cause) => {
      this.#failure = new StorageError(`the references cannot be published: ${cause.message}`, { cause });
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#failure ??= new StorageError('the references cannot be published: their thread has ended');
        for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
        this.#room?.();
        resolve();
      });
    });
    signal?.addEventListener('abort', this.#onAbort);
  }

  /** @throws as {@link ReferencesBuilder.addDocument}, at the latest at {@link publish} */
  addDocuments(documents: readonly DocumentInput[]): Promise<void> {
    return this.#add({ kind: 'documents', documents });
  }

  /** @param pairs source, target, source, target ...; the array is copied */
  async addLinks(pairs: Uint32Array): Promise<void> {
    for (let from = 0; from < pairs.length; ) {
      const piece = pairs.subarray(from, from + MESSAGE_WORDS - this.#words);
      this.#pairs.set(piece, this.#words);
      this.#words += piece.length;
      from += piece.length;
      if (this.#words === MESSAGE_WORDS) await this.#sendLinks();
    }
  }

  /**
   * Sorts, writes and publishes the generation. If that fails, is aborted, or the process is killed, the
   * previous generation stays current.
   *
   * @throws StorageError if an addition was refused or the disk fails; the reason of the signal if it is
   *   aborted
   */
  async publish(): Promise<PublishedReferences> {
    if (this.#words > 0) await this.#sendLinks();
    this.#throwFailure();
    const published = await this.#send({ kind: 'publish' });
    if (published === undefined) throw this.#failure;
    return published;
  }

  /** Ends the thread, which removes the temporary files of a generation that was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#onAbort();
    this.#worker.postMessage({ kind: 'end' } satisfies BuilderRequest);
    await this.#exited;
  }

  async #sendLinks(): Promise<void> {
    const pairs = this.#pairs.subarray(0, this.#words);
    this.#pairs = new Uint32Array(MESSAGE_WORDS);
    this.#words = 0;
    await this.#add({ kind: 'links', pairs }, [pairs.buffer]);
  }

  /** Sends rows; waits only as long as there are too many unanswered requests. */
  async #add(request: BuilderRequest, transfer: readonly ArrayBuffer[] = []): Promise<void> {
    this.#throwFailure();
    this.#send(request, transfer).catch((error: unknown) => {
      this.#failure ??= error;
    });
    while (this.#waiting.length >= MAX_UNANSWERED) {
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
      // Ports deliver up to 1,000 messages per tick; yield here or a busy caller starves the event loop.
      await setImmediate();
    }
    this.#throwFailure();
  }

  #send(
    request: BuilderRequest,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<PublishedReferences | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(request, transfer);
    });
  }

  #receive(reply: BuilderReply): void {
    if (reply.kind === 'progress') {
      this.#options.onProgress?.(reply.phase, reply.done, reply.total);
      return;
    }
    const waiter = this.#waiting.shift();
    if (reply.kind === 'done') waiter?.resolve(reply.published);
    else {
      const { signal } = this.#options;
      waiter?.reject(signal?.aborted === true ? signal.reason : revivedError(reply.error));
    }
    this.#room?.();
  }

  #throwFailure(): void {
    this.#options.signal?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
  }
}
