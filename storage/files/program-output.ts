// Reads files of foreign formats through the programs that know them.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { errorCode, messageOf, StorageError } from '../../protocols/errors.js';

/** How to read a file through a program that writes text to its standard output. */
export interface FileReader<T> {
  /** The file, for messages. */
  readonly path: string;
  /** Names of the program, found through PATH: the first that is installed reads the file. */
  readonly programs: readonly string[];
  readonly args: readonly string[];
  /** The sentence if none is installed. */
  readonly notInstalled: string;
  readonly read: (output: Readable) => AsyncIterable<T>;
  /**
   * Returns the text that replaces the output if the program fails, by its standard error (at most 2000
   * characters). Default: an error.
   */
  readonly onFailure?: (errorOutput: string) => AsyncIterable<T> | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Program = ChildProcessByStdio<null, Readable, Readable>;

const STDERR_CHARACTERS = 2000;

/**
 * Starts the program and yields what `read` makes of its output. The program is stopped when the caller stops
 * reading.
 *
 * @throws StorageError if the program is not installed or fails, whatever `read` found wrong before
 */
export async function* readThrough<T>(reader: FileReader<T>): AsyncGenerator<T> {
  reader.signal?.throwIfAborted();
  const { child, program } = await startFirst(reader);
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(0, STDERR_CHARACTERS);
  });
  const ended = once(child, 'close') as Promise<[status: number | null]>;
  // The promise is awaited below; until then a rejection must not count as unhandled.
  ended.catch(() => undefined);
  try {
    let failure: unknown;
    try {
      yield* reader.read(child.stdout);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      failure = error;
    }
    const [status] = await ended;
    if (status !== 0) {
      const instead = reader.onFailure?.(errorOutput);
      if (instead !== undefined) return yield* instead;
      const reason = errorOutput.trim().split('\n')[0] || `exit status ${status}`;
      throw new StorageError(`${reader.path} cannot be read by ${program}: ${reason}`);
    }
    if (failure !== undefined) throw failure;
  } finally {
    child.kill();
  }
}

async function startFirst<T>({ programs, args, notInstalled }: FileReader<T>): Promise<{
  readonly child: Program;
  readonly program: string;
}> {
  for (const program of programs) {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      await once(child, 'spawn');
      return { child, program };
    } catch (cause) {
      if (errorCode(cause) === 'ENOENT') continue;
      throw new StorageError(`${program} cannot be started: ${messageOf(cause)}`, { cause });
    }
  }
  throw new StorageError(notInstalled);
}
