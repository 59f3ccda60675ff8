// Runs `harvest` commands as processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Teardown } from './temporary-directory.js';

/** The compiled `harvest` program. */
export const PROGRAM = fileURLToPath(new URL('../../servers/cli/harvest.js', import.meta.url));

/** Options of `harvest run`: each server listens on a port that is free. */
export const ANY_PORTS: readonly string[] = ['gatherd', 'broker', 'web', 'references'].flatMap((name) => [
  `--${name}-port`,
  '0',
]);

/** The outcome of a process. */
export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running `harvest` command. */
export class CliProcess {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  readonly #waiting: {
    readonly pattern: RegExp;
    readonly stream: 'stdout' | 'stderr';
    readonly resolve: (match: RegExpExecArray) => void;
  }[] = [];

  /**
   * @param variables more variables of the environment
   * @param wrapper a command that runs it, e.g. `prlimit` with its options
   * @param input what it reads from standard input; default: nothing
   */
  constructor(
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
    wrapper: readonly string[] = [],
    input?: string,
  ) {
    const [command = '', ...words] = [...wrapper, process.execPath, PROGRAM, ...args];
    this.child = spawn(command, words, {
      env: { ...process.env, ...variables },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.child.stdin?.on('error', () => undefined).end(input);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#match();
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#match();
    });
    this.finished = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Waits until standard output, or standard error, matches a pattern. Rejects if the process ends first. */
  async output(pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout'): Promise<RegExpExecArray> {
    const ended = this.finished.then(({ code, stderr }) => {
      throw new Error(`the process ended (${code}) before it printed ${pattern}: ${stderr}`);
    });
    ended.catch(() => undefined);
    const found = new Promise<RegExpExecArray>((resolve) => {
      this.#waiting.push({ pattern, stream, resolve });
      this.#match();
    });
    return Promise.race([found, ended]);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  #match(): void {
    for (const { pattern, stream, resolve } of this.#waiting) {
      const match = pattern.exec(this[stream]);
      if (match !== null) resolve(match);
    }
  }
}

/**
 * Runs a `harvest` command and kills it at a moment, unless it ends before.
 *
 * @returns whether it was killed
 */
export async function killCli(moment: Promise<unknown>, ...args: readonly string[]): Promise<boolean> {
  const program = new CliProcess(args);
  await Promise.race([moment, program.finished]);
  program.kill('SIGKILL');
  return (await program.finished).signal === 'SIGKILL';
}

/**
 * Starts a server; the end of the test stops it.
 *
 * @returns it, and what the groups of `ready`, its first line, matched
 */
export async function startServer(
  t: Teardown,
  ready: RegExp,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly server: CliProcess; readonly found: readonly string[] }> {
  const server = new CliProcess(args, variables);
  t.teardown(async () => {
    server.kill('SIGTERM');
    await server.finished;
  });
  const [, ...found] = await server.output(ready);
  return { server, found };
}

/** Gives a process its standard input, if any, collects what it prints, and waits for its end. */
export async function finishedOf(child: ChildProcess, input?: string | Uint8Array): Promise<Finished> {
  const ended = new Promise<Pick<Finished, 'code' | 'signal'>>((resolve, reject) => {
    child.once('close', (code, signal) => resolve({ code, signal })).once('error', reject);
  });
  // A program can end without reading.
  child.stdin?.on('error', () => undefined).end(input);
  const printed = [child.stdout, child.stderr].map((stream) => (stream === null ? '' : textOf(stream)));
  const [stdout = '', stderr = ''] = await Promise.all(printed);
  return { ...(await ended), stdout, stderr };
}

/** Runs a `harvest` command with data on its standard input and waits for its end. */
export function cliWithInput(input: string | Uint8Array, ...args: readonly string[]): Promise<Finished> {
  return finishedOf(spawn(process.execPath, [PROGRAM, ...args]), input);
}

/** Reads output that is one JSON value a line. */
export function jsonLines<T = Record<string, unknown>>(text: string): T[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

/** Runs a `harvest` command and waits for its end. */
export function cli(...args: readonly string[]): Promise<Finished> {
  return new CliProcess(args).finished;
}
