// The thread of StopWatchdog: kills the process if the main thread does not end it.
import { write } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { StopWatchdogData } from './stop-watchdog.js';

/** A listener for a signal of the process, as Node's own modules use it. */
interface SignalListener {
  onsignal: () => void;
  unref(): void;
  start(signal: number): number;
  stop(): void;
}

/** Milliseconds that the message may take. */
const MESSAGE_MS = 200;

const { program, limitMs, killMs, signals, secondExits } = workerData as StopWatchdogData;
const listeners: SignalListener[] = [];
let stopping = false;

function start(): void {
  if (stopping) return;
  stopping = true;
  // The second signal then has the system's default action, unless the program itself still listens.
  if (secondExits) for (const listener of listeners) listener.stop();
  setTimeout(kill, killMs);
}

function kill(): void {
  const sentence = `${program}: killed ${limitMs / 1000} s after the request to stop: its event loop is blocked`;
  const end = (): boolean => process.kill(process.pid, 'SIGKILL');
  // In the thread pool: standard error may be a pipe that is not read.
  write(2, `${sentence}\n`, end);
  setTimeout(end, MESSAGE_MS);
}

/**
 * Node delivers signals to the main thread only, whose event loop may be blocked. Its binding also works in a
 * thread.
 */
function listen(signal: number): void {
  const { Signal } = (
    process as unknown as { binding(name: 'signal_wrap'): { Signal: new () => SignalListener } }
  ).binding('signal_wrap');
  const listener = new Signal();
  listener.onsignal = start;
  listener.unref();
  listener.start(signal);
  listeners.push(listener);
}

parentPort?.on('message', start);
try {
  process.noDeprecation = true;
  for (const signal of signals) listen(signal);
} catch {
  // A Node without this binding: the main thread tells the thread when to start.
}
