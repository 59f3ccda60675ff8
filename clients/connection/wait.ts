import type { Clock } from '../../protocols/clock.js';

/** A promise that is settled by its owner, by a time limit or by an abort, whichever is first. */
export class Wait<T> {
  readonly promise: Promise<T>;
  settled = false;
  readonly #signal: AbortSignal | undefined;
  readonly #cancelTimer: (() => void) | undefined;
  readonly #onAbort: (() => void) | undefined;
  #settle!: { readonly resolve: (value: T) => void; readonly reject: (reason: unknown) => void };

  /**
   * @param timeoutMs milliseconds until `onTimeout`, which settles the wait; 0 for no limit
   * @param signal must not be aborted yet; its abort rejects with its reason
   */
  constructor(timeoutMs: number, signal: AbortSignal | undefined, clock: Clock, onTimeout: () => void) {
    this.promise = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    if (timeoutMs > 0) this.#cancelTimer = clock.setTimer(onTimeout, timeoutMs);
    if (signal === undefined) return;
    this.#signal = signal;
    this.#onAbort = () => this.reject(signal.reason);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Has no effect after the wait is settled. */
  resolve(value: T): void {
    if (this.#release()) this.#settle.resolve(value);
  }

  /** Has no effect after the wait is settled. */
  reject(reason: unknown): void {
    if (this.#release()) this.#settle.reject(reason);
  }

  #release(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#cancelTimer?.();
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
