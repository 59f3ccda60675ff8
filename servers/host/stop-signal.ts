// Turns SIGINT, SIGTERM and SIGHUP into an AbortSignal, and bounds the time that a program takes to stop.
import { constants } from 'node:os';
import { StopWatchdog } from './stop-watchdog.js';

/** Milliseconds that programs may take to stop, unless an option says otherwise. */
export const STOP_LIMIT_MS = 10_000;

/** Bounds the time from the first request to stop to the end of the process. */
export interface StopLimit {
  /** The program's name, for the message. */
  readonly program: string;
  /** Milliseconds, default {@link STOP_LIMIT_MS}. */
  readonly limitMs?: number;
  /** Receives the message with what the program waits for; it is written to standard error in any case. */
  readonly report?: ((sentence: string) => void) | undefined;
}

/** The limit of a program whose options may have none. */
export function stopLimit(
  program: string,
  limitMs: number | undefined,
  report?: (sentence: string) => void,
): StopLimit | undefined {
  return limitMs === undefined ? undefined : { program, limitMs, report };
}

export interface StopSignalOptions {
  /**
   * Signals that are caught immediately although {@link StopSignal.on} sets their handler later; those that
   * arrive before are kept for it. For programs that take long to start.
   */
  readonly held?: readonly NodeJS.Signals[];
  /** Whether a second request ends the process immediately, as users expect of Ctrl-C. Default true. */
  readonly secondExits?: boolean;
  /**
   * Ends the process with status 1 if it has not ended by itself (see {@link StopWatchdog}). Default: it may
   * take any time.
   */
  readonly limit?: StopLimit | undefined;
  /** Creates the reason of the abort. Default: an Error `stopped by SIGTERM`. */
  readonly reason?: (by: NodeJS.Signals) => unknown;
}

/**
 * A program's stop request: SIGINT, SIGTERM or SIGHUP aborts {@link StopSignal.signal}. After the first one
 * these signals have the system's default action again, so a second one ends the process. A daemon gives SIGHUP
 * another meaning by {@link StopSignal.on}.
 *
 * Disposing removes all listeners; the limit stays.
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
  readonly #watchdog: StopWatchdog | undefined;
  #waitsFor: () => readonly string[] = () => [];

  constructor(options: StopSignalOptions = {}) {
    const { held = [], secondExits = true, reason = (by) => new Error(`stopped by ${by}`) } = options;
    for (const signal of held) this.#stopSignals.delete(signal);
    const { limit } = options;
    if (limit !== undefined) {
      const { program, limitMs = STOP_LIMIT_MS, report } = limit;
      // SIGHUP may have another meaning.
      const signals = [constants.signals.SIGINT, constants.signals.SIGTERM];
      const waitsFor = (): readonly string[] => this.#waitsFor();
      this.#watchdog = new StopWatchdog({ program, limitMs, signals, secondExits, waitsFor, report });
    }
    this.stopped = new Promise((resolve) => {
      for (const signal of this.#stopSignals) {
        this.#handlers.set(signal, () => {
          if (secondExits) for (const stop of this.#stopSignals) this.#release(stop);
          this.#watchdog?.start();
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
   * Calls `handler` for each signal of this name, which then does not stop the program; signals that were held
   * count too.
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

  /**
   * Names what the program waits for when it stops, e.g. `3 connections`, for the message of
   * {@link StopSignalOptions.limit}.
   */
  waitsFor(names: () => readonly string[]): this {
    this.#waitsFor = names;
    return this;
  }

  /**
   * Starts the time of {@link StopSignalOptions.limit}, for a program that stops for another reason, e.g. a
   * command.
   */
  startLimit(): void {
    this.#watchdog?.start();
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
