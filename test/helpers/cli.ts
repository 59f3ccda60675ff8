// Runs `harvest` commands as processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PLAIN_NODE } from './plain-node.js';

/** The compiled `harvest` program. */
export const PROGRAM = fileURLToPath(new URL('../../servers/cli/harvest.js', import.meta.url));

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
   */
  constructor(
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
    wrapper: readonly string[] = [],
  ) {
    const [unset = '', name = '', node = ''] = PLAIN_NODE;
    const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    this.child = spawn('env', [unset, name, ...assignments, ...wrapper, node, PROGRAM, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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

/** Runs a `harvest` command and waits for its end. */
export function cli(...args: readonly string[]): Promise<Finished> {
  return new CliProcess(args).finished;
}
