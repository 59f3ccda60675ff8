// A client under test: its interface, and a client that is a program.
import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { errorCode, UsageError } from '../../protocols/errors.js';

/** The address of the scripted server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** How a run of the client ended. */
export interface ClientEnd {
  /** Exit status; undefined if a signal ended it. */
  readonly status: number | undefined;
  /** The end of its standard error. */
  readonly diagnostics: string;
}

/**
 * The client under test. It requests data from a server (everything from a gatherd, the result of a query from
 * a Broker) and writes out what it received. It is a program ({@link CommandClient}) or a function. `Task`
 * contains its parameters.
 */
export interface ClientUnderTest<Task extends Address = Address> {
  /** The command line, for reports. */
  readonly name: string;
  /**
   * Runs one session against the server.
   * @param output receives each piece of the client's output; the caller awaits it, for backpressure
   * @param signal ends the run
   */
  run(
    task: Task,
    output: (piece: Uint8Array) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<ClientEnd>;
}

/** Characters that are kept of the end of standard error. */
const MAX_DIAGNOSTICS = 2_000;

/**
 * A client that is a program. Placeholders in its command (`{host}`, `{port}` and other fields of its task) are
 * replaced; if the command has none, all values are appended in their order. No shell is used.
 */
export class CommandClient<Task extends Address = Address> implements ClientUnderTest<Task> {
  readonly name: string;
  readonly #program: string;
  readonly #args: readonly string[];
  readonly #names: readonly (keyof Task & string)[];

  private constructor(words: readonly string[], names: readonly (keyof Task & string)[]) {
    const [program = '', ...args] = words;
    const placeholders = names.map(placeholder);
    this.name = words.join(' ');
    this.#program = program;
    this.#names = names;
    const placed = words.some((word) => placeholders.some((name) => word.includes(name)));
    this.#args = placed ? args : [...args, ...placeholders];
  }

  /**
   * @param names the fields of the task that are placeholders
   * @throws UsageError if the first word of the command is not a program
   */
  static async of<Task extends Address = Address>(
    words: readonly string[],
    names: readonly (keyof Task & string)[] = ['host', 'port'],
  ): Promise<CommandClient<Task>> {
    const [program = ''] = words;
    if (!(await isProgram(program))) throw new UsageError(`the client's program cannot be run: ${program}`);
    return new CommandClient<Task>(words, names);
  }

  async run(
    task: Task,
    output: (piece: Uint8Array) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<ClientEnd> {
    signal.throwIfAborted();
    const args = this.#args.map((word) => this.#fillIn(word, task));
    // The program gets its own process group, so that programs started by a wrapper script are killed with it.
    const child = spawn(this.#program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const kill = () => killGroup(child);
    signal.addEventListener('abort', kill, { once: true });
    try {
      const ended = waitForExit(child);
      ended.catch(() => {});
      let diagnostics = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        diagnostics = (diagnostics + text).slice(-MAX_DIAGNOSTICS);
      });
      for await (const piece of child.stdout) await output(piece);
      const status = await ended;
      signal.throwIfAborted();
      return { status, diagnostics };
    } finally {
      signal.removeEventListener('abort', kill);
      kill();
    }
  }

  /** Replaces the placeholders in one pass, so that a placeholder inside a value is kept. */
  #fillIn(word: string, task: Task): string {
    return word.replace(/\{(\w+)\}/g, (text, name: string) => {
      const known = this.#names.find((one) => one === name);
      return known === undefined ? text : String(task[known]);
    });
  }
}

function placeholder(name: string): string {
  return `{${name}}`;
}

/** Whether the word names a program, by its path or in one of the directories of PATH. */
async function isProgram(word: string): Promise<boolean> {
  const directories = word.includes('/') ? [''] : (process.env.PATH ?? '').split(delimiter);
  for (const directory of directories) {
    const file = join(directory, word);
    const found = await stat(file).catch(() => undefined);
    const runs =
      found?.isFile() &&
      (await access(file, constants.X_OK)
        .then(() => true)
        .catch(() => false));
    if (runs === true) return true;
  }
  return false;
}

function waitForExit(child: ChildProcess): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      reject(new UsageError(`the client cannot be started: ${error.message}`, { cause: error }));
    });
    child.once('close', (code) => resolve(code ?? undefined));
  });
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // No process of the group is left.
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
