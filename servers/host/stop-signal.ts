// Turns SIGINT, SIGTERM and SIGHUP into an AbortSignal.
export interface StopSignalOptions {
  /**
   * Signals that are caught immediately although {@link StopSignal.on} sets their handler later; those that arrive before
   * are kept for it. For programs that take long to start.
   */
  readonly held?: readonly NodeJS.Signals[];
  /** Whether a second request ends the process immediately, as users expect of Ctrl-C. Default true. */
  readonly secondExits?: boolean;
  /** Creates the reason of the abort. Default: an Error `stopped by SIGTERM`. */
  readonly reason?: (by: NodeJS.Signals) => unknown;
}

/**
 * A program's stop request: SIGINT, SIGTERM or SIGHUP aborts {@link StopSignal.signal}. After the first one these signals
 * have the system's default action again, so a second one ends the process. A daemon gives SIGHUP another meaning by
 * {@link StopSignal.on}.
 *
 * Disposing removes all listeners.
 */
export class StopSignal implements Disposable {
  /** Resolves at the first request to stop, with the name of the signal. */
  readonly stopped: Promise<NodeJS.Signals>;
  readonly #controller = new AbortController();
  readonly #stopSignals = new Set<NodeJS.Signals>(['SIGINT', 'SIGTERM', 'SIGHUP']);
  readonly #handlers = new Map<NodeJS.Signals, () => void>();
  readonly #caught = new Set<NodeJS.Signals>();
  /** Signals that arrived before their handler was set. */
  #pending: NodeJS.Signals[] = [];

  constructor(options: StopSignalOptions = {}) {
    const { held = [], secondExits = true, reason = (by) => new Error(`stopped by ${by}`) } = options;
    for (const signal of held) this.#stopSignals.delete(signal);
    this.stopped = new Promise((resolve) => {
      for (const signal of this.#stopSignals) {
        this.#handlers.set(signal, () => {
          if (secondExits) for (const stop of this.#stopSignals) this.#release(stop);
          this.#controller.abort(reason(signal));
          resolve(signal);
        });
      }
    });
    for (const signal of [...this.#stopSignals, ...held]) this.#catch(signal);
  }

  /** Aborted at the first request to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Calls `handler` for each signal of this name, which then does not stop the program; signals that were held count
   * too.
   */
  on(signal: NodeJS.Signals, handler: () => void): this {
    this.#stopSignals.delete(signal);
    this.#handlers.set(signal, handler);
    this.#catch(signal);
    const pending = this.#pending;
    this.#pending = [];
    for (const earlier of pending) this.#handleSignal(earlier);
    return this;
  }

  [Symbol.dispose](): void {
    for (const signal of this.#caught) this.#release(signal);
  }

  #catch(signal: NodeJS.Signals): void {
    if (this.#caught.has(signal)) return;
    this.#caught.add(signal);
    process.on(signal, this.#handleSignal);
  }

  #release(signal: NodeJS.Signals): void {
    this.#caught.delete(signal);
    process.off(signal, this.#handleSignal);
  }

  readonly #handleSignal = (signal: NodeJS.Signals): void => {
    const handler = this.#handlers.get(signal);
    if (handler === undefined) this.#pending.push(signal);
    else handler();
  };
}
