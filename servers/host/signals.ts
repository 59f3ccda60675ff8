/**
 * A daemon's signals. SIGTERM and SIGINT ask it to stop; a second one, of either kind, ends the process at once, as
 * people expect of Ctrl-C. SIGHUP asks it to look at its files again; left out, it ends the process as usual.
 */
export class DaemonSignals implements Disposable {
  /** Resolves at the first request to stop, with the signal's name. */
  readonly stopped: Promise<NodeJS.Signals>;
  readonly #listeners = new Map<NodeJS.Signals, () => void>();

  constructor(options: { readonly onHangup?: () => void } = {}) {
    this.stopped = new Promise((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        this.#listen(signal, () => {
          // Without listeners the system's own handling is back.
          this.#forget('SIGTERM');
          this.#forget('SIGINT');
          resolve(signal);
        });
      }
    });
    if (options.onHangup !== undefined) this.#listen('SIGHUP', options.onHangup);
  }

  [Symbol.dispose](): void {
    for (const signal of [...this.#listeners.keys()]) this.#forget(signal);
  }

  #listen(signal: NodeJS.Signals, listener: () => void): void {
    this.#listeners.set(signal, listener);
    process.on(signal, listener);
  }

  #forget(signal: NodeJS.Signals): void {
    const listener = this.#listeners.get(signal);
    if (listener === undefined) return;
    this.#listeners.delete(signal);
    process.off(signal, listener);
  }
}
