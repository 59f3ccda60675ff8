// Starts gatherd and in.gatherd with prepared data directories, for the tests of this folder.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Test } from 'tap';
import { type CliProcess, type Finished, finishedOf, PROGRAM, startServer } from '../helpers/cli.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { Database, type Entry, entry, updateStream } from '../servers/gatherd/helpers.js';

export const ONE = entry('http://a.example/', 100, 'first');
const TWO = entry('http://b.example/', 200, 'second');
/** More data than the buffers of a connection can contain. */
export const BIG = Array.from({ length: 400 }, (_, i) =>
  entry(`http://big.example/${i}`, 100, 'x'.repeat(65_536)),
);

/** A complete session of a client. */
export const SESSION = 'HELLO me\nSEND-UPDATE 0\nQUIT\n';
/** The answer to SESSION of a daemon with ONE and TWO whose host name is g.example. */
export const ANSWER = `000 - HELLO 1.8 g.example
100 - HELLO me
400 - Sending all objects since 0
${updateStream(ONE.soif + TWO.soif)}499 - Sent 2 objects
999 - Bye
`;

/** Creates the data directory of a Gatherer with published objects. */
export async function createDataDirectory(t: Test, entries: readonly Entry[] = [ONE, TWO]): Promise<string> {
  const path = await temporaryDirectory(t);
  if (entries.length > 0) await new Database(path).publish(entries);
  return path;
}

/** A running gatherd. */
export interface Daemon {
  readonly process: CliProcess;
  readonly port: number;
}

/** Starts gatherd and waits until it is ready. */
export async function startGatherd(t: Test, ...words: readonly string[]): Promise<Daemon> {
  const { server, found } = await startServer(t, /^ready gatherd=127\.0\.0\.1:(\d+)\n/, [
    'gatherd',
    ...words,
  ]);
  return { process: server, port: Number(found[0]) };
}

/** Starts a program with the given descriptors. */
export function startProgram(
  t: Test,
  words: readonly string[],
  stdio: StdioOptions,
  program = PROGRAM,
): ChildProcess {
  const child = spawn(process.execPath, [program, ...words], { stdio });
  t.teardown(() => void child.kill('SIGKILL'));
  return child;
}

/** Runs a shell line in which `"$@"` is the program and its arguments. */
export function shell(line: string, words: readonly string[]): Promise<Finished> {
  return finishedOf(spawn('sh', ['-c', line, 'sh', process.execPath, PROGRAM, ...words]));
}
