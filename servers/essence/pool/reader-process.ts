// The pool's side of a reader process, in which documents of untrusted formats are read (E-45): start,
// documents, replies, end.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../../protocols/errors.js';
import type { EssenceInput } from '../model.js';
import {
  type DocumentWorker,
  frameHead,
  type ReaderMessage,
  type ReaderSetup,
  unpackOutput,
  type WorkerEvents,
} from './worker-messages.js';

const PROGRAM = fileURLToPath(new URL('./reader.js', import.meta.url));
/**
 * MiB of writable memory that the kernel grants in addition to the limit that the process watches itself:
 * stacks of threads, and memory that is reserved but not used.
 */
const RESERVED_MEMORY_MB = 512;
/**
 * MiB that V8 maps writable for compiled code when a process starts, without using them: since its version 13
 * (Node 24). Without them the process could not start under the limit.
 */
const CODE_RANGE_MB = Number.parseInt(process.versions.v8, 10) >= 13 ? 512 : 0;
const KIB_PER_MIB = 1024;

/** A {@link DocumentWorker} in a process of its own, which ends itself at its memory limit. */
export class ReaderProcess implements DocumentWorker {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #processorMs = 0;
  #ended = false;

  constructor(setup: ReaderSetup, events: WorkerEvents) {
    const child = startProcess(setup.maxMemoryMb);
    this.#child = child;
    let end: { reason: string; retry?: boolean } | undefined;
    const finish = (reason: string): void => {
      if (this.#ended) return;
      this.#ended = true;
      events.ended(end ?? { reason });
    };
    this.#gone = new Promise((resolve) => {
      child.once('error', (error) => {
        finish(`its reader process failed: ${messageOf(error)}`);
        resolve();
      });
      child.once('exit', (code, signal) => {
        const report = (): void => finish(`its reader process ended with ${signal ?? `code ${code}`}`);
        // The last messages may still be in the channel: `disconnect` comes after them.
        if (child.connected) child.once('disconnect', report);
        else report();
        resolve();
      });
    });
    child.on('message', (message: ReaderMessage) => {
      if (this.#ended) return;
      this.#processorMs = message.processorMs;
      if ('ready' in message) events.ready();
      else if ('pieces' in message) events.draft(message.pieces);
      else if ('end' in message) end = message.end;
      else if ('output' in message) events.reply({ kind: 'output', output: unpackOutput(message.output) });
      else events.reply({ kind: 'failure', reason: `summarizing it failed: ${message.failure}` });
    });
    // EPIPE: the process ends before it has read a document; its exit is reported.
    child.stdin?.on('error', () => undefined);
    child.send(setup, () => undefined);
    this.hold(false);
  }

  post(input: EssenceInput): void {
    const { stdin } = this.#child;
    stdin?.write(frameHead(input));
    if (input.body.length > 0) stdin?.write(input.body);
  }

  processorMs(): number {
    return this.#processorMs;
  }

  hold(busy: boolean): void {
    const { channel, stdin } = this.#child;
    // A pipe of a child process is a socket, which its type does not say.
    const pipe = stdin as { ref?: () => void; unref?: () => void } | null;
    if (busy) {
      this.#child.ref();
      channel?.ref();
      pipe?.ref?.();
    } else {
      this.#child.unref();
      channel?.unref();
      pipe?.unref?.();
    }
  }

  /** The process is killed: it may be in a loop that ends never. */
  async end(): Promise<void> {
    this.#ended = true;
    this.hold(true);
    this.#child.kill('SIGKILL');
    await this.#gone;
  }
}

/**
 * Starts the process with a limit that the kernel enforces, where the shell has one. The document never reaches
 * a command line. The limit of data is a soft one, because the user's programs that the reader starts have
 * limits of their own.
 */
function startProcess(maxMemoryMb: number): ChildProcess {
  // Without --max-old-space-size for its main thread: the flag would also replace the limit of the thread that
  // reads.
  const command = [process.execPath, PROGRAM];
  const limited = process.platform === 'linux';
  const dataKib = (maxMemoryMb + RESERVED_MEMORY_MB + CODE_RANGE_MB) * KIB_PER_MIB;
  const argv = limited
    ? ['/bin/sh', '-c', `ulimit -c 0; ulimit -S -d ${dataKib}; exec "$0" "$@"`, ...command]
    : command;
  return spawn(argv[0]!, argv.slice(1), {
    stdio: ['pipe', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    // Neither loaders nor secrets of this process.
    env: {},
  });
}
