// Starts gatherd and in.gatherd with prepared data directories, for the tests of this folder.
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Test } from 'tap';
import { CliProcess, type Finished, PROGRAM } from '../helpers/cli.js';
import { PLAIN_NODE } from '../helpers/plain-node.js';
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
  const path = await mkdtemp(join(tmpdir(), 'program-test-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
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
  const child = new CliProcess(['gatherd', ...words]);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await child.finished;
  });
  const [, port] = await child.output(/^ready gatherd=127\.0\.0\.1:(\d+)\n/);
  return { process: child, port: Number(port) };
}

/** Starts a program with the given descriptors. */
export function startProgram(
  t: Test,
  words: readonly string[],
  stdio: StdioOptions,
  program = PROGRAM,
): ChildProcess {
  const child = spawn('env', [...PLAIN_NODE, program, ...words], { stdio });
  t.teardown(() => void child.kill('SIGKILL'));
  return child;
}

/** Runs a shell line in which `"$@"` is the program and its arguments. */
export async function shell(line: string, words: readonly string[]): Promise<Finished> {
  const child = spawn('sh', ['-c', line, 'sh', 'env', ...PLAIN_NODE, PROGRAM, ...words]);
  return collectOutput(child);
}

/** Collects the output of a program and waits for its end. */
export async function collectOutput(child: ChildProcess): Promise<Finished> {
  const [out, err] = [new TextCollector(child.stdout), new TextCollector(child.stderr)];
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout: out.text, stderr: err.text };
}

/** Collects the text of a stream. */
export class TextCollector {
  text = '';

  constructor(stream: Readable | null) {
    stream?.setEncoding('latin1').on('data', (text: string) => {
      this.text += text;
    });
  }
}
