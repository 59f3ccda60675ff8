// Starts a daemon in the background.
import { spawn } from 'node:child_process';
import { closeSync, createReadStream, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConnectionError, messageOf, StorageError } from '../../protocols/errors.js';
import { createDirectorySync } from '../../storage/files/make-directory.js';
import { serverEnvironment } from './allocator.js';

export interface DetachOptions {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** File that its standard error is appended to. */
  readonly logFile: string;
  /** Matches the line that it prints on standard output once it is ready. */
  readonly ready: RegExp;
  /** Milliseconds until that line. Default 30 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Bytes at the end of the output that are searched. */
const TAIL_BYTES = 4096;

/**
 * Starts a daemon that outlives this process, in its own session without a terminal, and waits until it is
 * ready.
 *
 * @returns its process id and the match of `ready`
 * @throws ConnectionError when it ends or is not ready in time, with the last line of its log
 */
export async function startDetached(
  options: DetachOptions,
): Promise<{ readonly pid: number; readonly match: RegExpExecArray }> {
  const [program, ...args] = options.command;
  const { log, begin } = openForAppending(options.logFile);
  const child = spawn(program, args, {
    detached: true,
    env: serverEnvironment(),
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  let timer: NodeJS.Timeout | undefined;
  try {
    const match = await new Promise<RegExpExecArray>((resolve, reject) => {
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output = `${output}${text}`.slice(-TAIL_BYTES);
        const found = options.ready.exec(output);
        if (found !== null) resolve(found);
      });
      child.once('error', (cause) => reject(new ConnectionError(`${program}: ${cause.message}`, { cause })));
      child.once('close', () => reject(new ConnectionError('it ended immediately')));
      const { timeoutMs = 30_000 } = options;
      timer = setTimeout(() => reject(new ConnectionError(`it was not ready in ${timeoutMs} ms`)), timeoutMs);
      options.signal?.addEventListener('abort', () => reject(new ConnectionError('the start was stopped')), {
        once: true,
      });
    });
    if (child.pid === undefined) throw new ConnectionError(`${program}: no process`);
    return { pid: child.pid, match };
  } catch (cause) {
    child.kill();
    const line = await lastLine(options.logFile, begin);
    throw new ConnectionError(line === '' ? messageOf(cause) : line, { cause });
  } finally {
    clearTimeout(timer);
    child.stdout?.destroy();
    child.unref();
  }
}

/**
 * Starts a process without a terminal and does not wait for it; its messages are appended to the file.
 *
 * @returns its process id
 * @throws StorageError if the file cannot be opened, ConnectionError if the program cannot be run
 */
export function startUnwatched(command: readonly [string, ...string[]], logFile: string): number {
  const [program, ...args] = command;
  const { log } = openForAppending(logFile);
  const child = spawn(program, args, {
    detached: true,
    env: serverEnvironment(),
    stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  // Without a process id it also emits the error, which would end this process.
  child.once('error', () => undefined);
  if (child.pid === undefined) throw new ConnectionError(`${program} cannot be run`);
  child.unref();
  return child.pid;
}

function openForAppending(file: string): { readonly log: number; readonly begin: number } {
  try {
    createDirectorySync(dirname(file));
    return { log: openSync(file, 'a'), begin: statSync(file).size };
  } catch (cause) {
    throw new StorageError(`the log ${file} cannot be opened: ${messageOf(cause)}`, { cause });
  }
}

/** The last line of a file after the offset `begin`. */
async function lastLine(file: string, begin: number): Promise<string> {
  const start = Math.max(begin, statSync(file).size - TAIL_BYTES);
  let text = '';
  for await (const piece of createReadStream(file, { start, encoding: 'utf8' })) text += piece;
  return text.trimEnd().split('\n').at(-1) ?? '';
}
