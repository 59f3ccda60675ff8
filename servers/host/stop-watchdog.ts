// Ends a program that does not end by itself after a request to stop.
import { spawn } from 'node:child_process';
import { Worker } from 'node:worker_threads';

/** Milliseconds before the limit at which the program reports what it waits for and exits. */
const REPORT_AHEAD_MS = 1000;
/** Milliseconds before the limit at which the thread kills a program that did neither. */
const KILL_AHEAD_MS = 500;
/** Milliseconds after which a process that hangs in its exit is killed. */
const EXIT_MS = 500;
/** Exit status of a program that did not end by itself. */
const STATUS = 1;

/** The data that a watchdog shares with its thread. */
export interface StopWatchdogData {
  readonly program: string;
  readonly limitMs: number;
  readonly killMs: number;
  /** Signals that the thread catches, too, since the event loop may be blocked. */
  readonly signals: readonly number[];
  /** Whether the default action of the signals is restored after the first one. */
  readonly secondExits: boolean;
}

export interface StopWatchdogOptions {
  /** The program's name, for the message. */
  readonly program: string;
  /** Milliseconds from the first request to stop to the end of the process. */
  readonly limitMs: number;
  /** Numbers of the signals that request the stop. */
  readonly signals: readonly number[];
  readonly secondExits: boolean;
  /** Names what the program still waits for. */
  readonly waitsFor: () => readonly string[];
  /** Receives the message as well, for the program's log. */
  readonly report?: ((sentence: string) => void) | undefined;
}

/**
 * Ends a program within a limit after the first request to stop, whatever it waits for, with a message that
 * names it and exit status 1. Its thread receives the signals itself, so that it also ends a program whose
 * event loop is blocked (by SIGKILL).
 */
export class StopWatchdog {
  readonly #options: StopWatchdogOptions;
  readonly #thread: Worker;
  #stopping = false;

  constructor(options: StopWatchdogOptions) {
    this.#options = options;
    const { program, limitMs, signals, secondExits } = options;
    const data: StopWatchdogData = {
      program,
      limitMs,
      killMs: Math.max(limitMs - KILL_AHEAD_MS, 1),
      signals,
      secondExits,
    };
    this.#thread = new Worker(new URL('./stop-watchdog-thread.js', import.meta.url), {
      workerData: data,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 },
    });
    // Without the thread the timer of this thread still ends a program whose event loop runs.
    this.#thread.on('error', () => undefined);
    this.#thread.unref();
  }

  /** The stop was requested: the time runs. Further calls have no effect. */
  start(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#thread.postMessage('stop');
    setTimeout(() => this.#end(), Math.max(this.#options.limitMs - REPORT_AHEAD_MS, 1)).unref();
  }

  #end(): void {
    const { program, limitMs, waitsFor, report } = this.#options;
    const reasons = [...waitsFor(), ...countedResources()];
    const what = reasons.length === 0 ? 'the end of the process' : reasons.join(', ');
    const sentence = `stopped after ${limitMs / 1000} s while waiting for: ${what}`;
    report?.(sentence);
    process.stderr.write(`${program}: ${sentence}\n`);
    // A file operation that never returns would hold the exit: the system waits for the thread pool.
    const command = `sleep ${EXIT_MS / 1000}; kill -9 ${process.pid} 2>/dev/null`;
    spawn('/bin/sh', ['-c', command], { detached: true, stdio: 'ignore' })
      .on('error', () => undefined)
      .unref();
    process.exit(STATUS);
  }
}

/** What keeps the event loop alive, as Node names it, with numbers: `3 TCPSocketWrap`. */
function countedResources(): string[] {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (name !== 'Timeout' && name !== 'Immediate') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} ${name}`);
}
