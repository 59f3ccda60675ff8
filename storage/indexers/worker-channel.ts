import { Worker } from 'node:worker_threads';
import { StorageError } from '../../protocols/errors.js';

/** A worker thread that answers messages, and whose end is an answer too. */
export class WorkerChannel<Request, Reply> {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #failure: StorageError | undefined;

  constructor(
    script: URL,
    workerData: unknown,
    onReply: (reply: Reply) => void,
    /** The thread ended, expectedly or not; nothing will be answered any more. */
    onEnd: (error: StorageError) => void,
  ) {
    this.#worker = new Worker(script, { workerData, execArgv: [], env: {} });
    this.#worker.on('message', onReply);
    this.#worker.on('error', (cause) => {
      this.#failure = new StorageError(`the index thread failed: ${cause.message}`, { cause });
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#failure ??= new StorageError('the index is closed');
        onEnd(this.#failure);
        resolve();
      });
    });
  }

  /** @throws StorageError when the thread has ended. */
  send(request: Request, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#worker.postMessage(request, transfer);
  }

  /** Resolves when the thread, having been asked to close, is gone. */
  async ended(): Promise<void> {
    await this.#exited;
  }
}
