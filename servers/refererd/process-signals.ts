/** What the signals of ask for. */
export interface SignalHandlers {
  readonly onHangup: () => void;
  /** SIGUSR1: finish, then stop. */
  readonly onFinish: () => void;
  /** SIGTERM and SIGINT: stop at once. */
  readonly onStop: (signal: NodeJS.Signals) => void;
}

/**
 * to be installed first of all, because without a listener SIGUSR1 opens the debugger's port. What arrives before
 * {@link handle} is called waits for it. The fault signals have no listeners.
 */
export class ProcessSignals implements Disposable {
  #handlers: SignalHandlers | undefined;
  #early: NodeJS.Signals[] = [];
  readonly #stop = new AbortController();
  readonly #listeners: readonly (readonly [NodeJS.Signals, () => void])[];

  /** Aborted by SIGTERM or SIGINT, also before {@link handle}: a long start or reload ends by it. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  constructor() {
    this.#listeners = (['SIGHUP', 'SIGUSR1', 'SIGTERM', 'SIGINT'] as const).map((signal) => {
      const listener = () => this.#arrived(signal);
      process.on(signal, listener);
      return [signal, listener] as const;
    });
  }

  handle(handlers: SignalHandlers): void {
    this.#handlers = handlers;
    for (const signal of this.#early.splice(0)) this.#arrived(signal);
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #arrived(signal: NodeJS.Signals): void {
    if (signal === 'SIGTERM' || signal === 'SIGINT') this.#stop.abort();
    if (this.#handlers === undefined) this.#early.push(signal);
    else if (signal === 'SIGHUP') this.#handlers.onHangup();
    else if (signal === 'SIGUSR1') this.#handlers.onFinish();
    else this.#handlers.onStop(signal);
  }
}
