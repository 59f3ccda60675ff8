// Runs the programs of external engines, without a shell, with limits of time and output.
import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { StorageError } from '../../../protocols/errors.js';

/** How to run a program. */
export interface ProgramOptions {
  readonly arguments: readonly string[];
  /**
   * Maximum CPU seconds (BRK-8.13 (1)), enforced by the kernel even after this process has exited. Default: no limit.
   * Requires `prlimit`.
   */
  readonly cpuSeconds?: number;
  /** Milliseconds from SIGTERM to SIGKILL (BRK-8.13 (2) "a few more seconds"). Default 3000. */
  readonly graceMs?: number;
  /** Maximum length of a line of output in bytes; longer lines are dropped. Default 64 KiB. */
  readonly maxLineBytes?: number;
  readonly cwd?: string;
}

/** How a program ended. */
export interface ProgramEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const DEFAULT_GRACE_MS = 3000;
const DEFAULT_LINE_BYTES = 64 * 1024;
/** Maximum number of characters kept of the standard error of a program. */
const MAX_ERROR_CHARACTERS = 4000;

/** The environment of programs: only the variables that they need, and a locale that sorts by bytes. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env;
  return { PATH, LC_ALL: 'C', ...(TMPDIR === undefined ? {} : { TMPDIR }) };
}

/** Returns the path of a program; undefined if it is not installed. A relative name is looked up in PATH. */
async function findProgram(name: string): Promise<string | undefined> {
  const paths = isAbsolute(name)
    ? [name]
    : (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, name));
  for (const path of paths) {
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // Not executable here: try the next path.
    }
  }
  return undefined;
}

/** @throws StorageError that names the Debian package if the program is not installed */
export async function requireProgram(name: string, debianPackage: string): Promise<string> {
  const path = await findProgram(name);
  if (path !== undefined) return path;
  throw new StorageError(
    `${name} is not installed (Debian: ${debianPackage}); or choose another Indexer-Type`,
  );
}

/** A running program, started without a shell. Its output is read by lines; it is stopped by the rules of BRK-8.13. */
export class Program {
  readonly #child: ChildProcess;
  readonly #stdin: Writable;
  readonly #stdout: Readable;
  readonly #graceMs: number;
  readonly #maxLineBytes: number;
  #errorOutput = '';
  #kill: NodeJS.Timeout | undefined;
  /** Resolves when the program has ended; rejects with StorageError if it cannot be started. */
  readonly ended: Promise<ProgramEnd>;

  private constructor(path: string, options: ProgramOptions, prefix: readonly string[]) {
    this.#graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
    this.#maxLineBytes = options.maxLineBytes ?? DEFAULT_LINE_BYTES;
    const [command, ...first] = [...prefix, path];
    const child = spawn(command!, [...first, ...options.arguments], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: environment(),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    this.#child = child;
    this.#stdin = child.stdin;
    this.#stdout = child.stdout;
    // A program may end before it has read its input; then its exit status decides.
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('latin1').on('data', (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(0, MAX_ERROR_CHARACTERS);
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', (cause) => {
        reject(new StorageError(`${path} cannot be started: ${cause.message}`, { cause }));
      });
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    const clearKill = () => clearTimeout(this.#kill);
    this.ended.then(clearKill, clearKill);
  }

  /** Starts a program. If that fails, {@link ended} rejects with StorageError. */
  static async start(path: string, options: ProgramOptions): Promise<Program> {
    const prefix: string[] = [];
    // Ends the program with the Broker, even if the Broker is killed.
    const setpriv = await findProgram('setpriv');
    if (setpriv !== undefined) prefix.push(setpriv, '--pdeathsig', 'TERM');
    if (options.cpuSeconds !== undefined) {
      const prlimit = await findProgram('prlimit');
      if (prlimit !== undefined) prefix.push(prlimit, `--cpu=${Math.max(1, Math.ceil(options.cpuSeconds))}`);
    }
    return new Program(path, options, prefix);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The first 4000 characters of its standard error. */
  get errorOutput(): string {
    return this.#errorOutput;
  }

  /** Writes to its standard input. Resolves when it accepts more input, or has ended. */
  async write(text: string): Promise<void> {
    const stdin = this.#stdin;
    if (stdin.destroyed || stdin.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        stdin.off('drain', done).off('close', done);
        resolve();
      };
      stdin.on('drain', done).on('close', done);
    });
  }

  endInput(): void {
    this.#stdin.end();
  }

  /** Yields the lines of each chunk of output, without line ends; reads only on demand. */
  async *lines(): AsyncGenerator<string[]> {
    let rest = '';
    let skipping = false;
    try {
      for await (const chunk of this.#stdout.setEncoding('latin1')) {
        const lines = (rest + String(chunk)).split('\n');
        rest = lines.pop() ?? '';
        if (skipping && lines.length > 0) {
          lines.shift();
          skipping = false;
        }
        if (rest.length > this.#maxLineBytes) {
          rest = '';
          skipping = true;
        }
        if (lines.length > 0) yield lines;
      }
    } catch (error) {
      // Destroyed by drop(): there is no more output.
      if (!this.#stdout.destroyed) throw error;
    }
    if (rest !== '' && !skipping) yield [rest];
  }

  /** Sends a signal; does nothing if the program has ended. */
  signal(name: NodeJS.Signals): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(name);
  }

  /** BRK-8.13 (2): sends SIGTERM, and SIGKILL after `graceMs`. Output that it has written can still be read. */
  stop(): void {
    if (this.#kill !== undefined) return;
    this.signal('SIGTERM');
    this.#kill = setTimeout(() => this.signal('SIGKILL'), this.#graceMs);
  }

  /** Like {@link stop}, but also closes its output, so that it gets SIGPIPE (BRK-8.13 (3)). */
  drop(): void {
    this.#stdout.destroy();
    this.#stdin.destroy();
    this.stop();
  }
}

/**
 * Discards the output of a program and waits for its end.
 *
 * @throws StorageError with its error message if the program fails
 */
export async function runToEnd(program: Program, name: string, signal?: AbortSignal): Promise<void> {
  const drop = () => program.drop();
  signal?.addEventListener('abort', drop, { once: true });
  if (signal?.aborted === true) drop();
  try {
    let last = '';
    for await (const lines of program.lines()) last = lines.findLast((line) => line.trim() !== '') ?? last;
    const { code, signal: killedBy } = await program.ended;
    if (code === 0) return;
    const reason = program.errorOutput.trim().split('\n')[0] || last || `exit status ${code ?? killedBy}`;
    throw new StorageError(`${name} failed: ${reason}`);
  } finally {
    signal?.removeEventListener('abort', drop);
  }
}
