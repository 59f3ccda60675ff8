import { Worker } from 'node:worker_threads';
import { StateError, StorageError } from '../../../protocols/errors.js';

/** A worker thread that answers messages. Its exit is reported by `onEnd`. */
export class WorkerChannel<Request, Reply> {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #failure: StateError | StorageError | undefined;

  constructor(
    script: URL,
    workerData: unknown,
    onReply: (reply: Reply) => void,
    /** The thread has exited; no more replies will arrive. */
    onEnd: (error: StateError | StorageError) => void,
  ) {
    this.#worker = new Worker(script, { workerData, execArgv: [], env: {} });
    this.#worker.on('message', onReply);
    this.#worker.on('error', (cause) => {
      this.#failure = new StorageError(`the index thread failed: ${cause.message}`, { cause });
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#failure ??= new StateError('the index is closed');
        onEnd(this.#failure);
        resolve();
      });
    });
  }

  /** @throws StorageError if the thread failed, StateError if it was closed. */
  send(request: Request, transfer: readonly ArrayBuffer[] = []): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#worker.postMessage(request, transfer);
  }

  /** Resolves when the thread has exited. */
  async ended(): Promise<void> {
    await this.#exited;
  }
}
