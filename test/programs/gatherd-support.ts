import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Test } from 'tap';
import { CliProcess, type Finished, PROGRAM } from '../helpers/cli.js';
import { PLAIN_NODE } from '../helpers/plain-node.js';
import { Database, type Entry, entry, wrapped } from '../servers/gatherd/support.js';

export const ONE = entry('http://a.example/', 100, 'first');
const TWO = entry('http://b.example/', 200, 'second');
/** More data than the buffers of a connection hold. */
export const BIG = Array.from({ length: 400 }, (_, i) =>
  entry(`http://big.example/${i}`, 100, 'x'.repeat(65_536)),
);

export const SESSION = 'HELLO me\nSEND-UPDATE 0\nQUIT\n';
/** The answer of a daemon with ONE and TWO whose host name is g.example. */
export const ANSWER = `000 - HELLO 1.8 g.example
100 - HELLO me
400 - Sending all objects since 0
${wrapped(ONE.soif + TWO.soif)}499 - Sent 2 objects
999 - Bye
`;

/** A Gatherer's data directory with those objects in it. */
export async function dataDirectory(t: Test, entries: readonly Entry[] = [ONE, TWO]): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'program-test-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  if (entries.length > 0) await new Database(path).publish(entries);
  return path;
}

export interface Daemon {
  readonly process: CliProcess;
  readonly port: number;
}

export async function gatherd(t: Test, ...words: readonly string[]): Promise<Daemon> {
  const child = new CliProcess(['gatherd', ...words]);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await child.finished;
  });
  const [, port] = await child.output(/^ready gatherd=127\.0\.0\.1:(\d+)\n/);
  return { process: child, port: Number(port) };
}

/** Starts a program as a process with the given descriptors. */
export function start(
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
  return finished(child);
}

/** Output of a program until its end. */
export async function finished(child: ChildProcess): Promise<Finished> {
  const [out, err] = [new Heard(child.stdout), new Heard(child.stderr)];
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout: out.text, stderr: err.text };
}

/** Collects the text of a stream. */
export class Heard {
  text = '';

  constructor(stream: Readable | null) {
    stream?.setEncoding('latin1').on('data', (text: string) => {
      this.text += text;
    });
  }
}
