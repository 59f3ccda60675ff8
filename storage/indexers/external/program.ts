// Runs the programs of external engines, without a shell, with limits of time and output.
import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { errorCode, StorageError } from '../../../protocols/errors.js';

/** How to run a program. */
export interface ProgramOptions {
  readonly arguments: readonly string[];
  /**
   * Maximum CPU seconds (BRK-8.13 (1)), enforced by the kernel even after this process has exited. Default: no
   * limit. Requires `prlimit`.
   */
  readonly cpuSeconds?: number;
  /** Milliseconds from SIGTERM to SIGKILL (BRK-8.13 (2) "a few more seconds"). Default 3000. */
  readonly graceMs?: number | undefined;
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
const MAX_ERROR_CHARACTERS = 16_384;
/** Characters of control, which would begin a line of the log or change a terminal. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g;

/** The environment of programs: only the variables that they need, and a locale that sorts by bytes. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env;
  return { PATH, LC_ALL: 'C', TMPDIR };
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

/**
 * A running program, started without a shell. Its output is read by lines; it is stopped by the rules of
 * BRK-8.13.
 */
export class Program {
  readonly #child: ChildProcess;
  readonly #stdin: Writable;
  readonly #stdout: Readable;
  readonly #graceMs: number;
  readonly #maxLineBytes: number;
  #errorOutput = '';
  #droppedErrors = 0;
  #kill: NodeJS.Timeout | undefined;
  /** Set when the program has ended and its output is closed; until then its process group exists. */
  #isOver = false;
  /** Whether it has input that it has not read, or its input has ended. */
  #isFed = false;
  #activeAt = performance.now();
  /** Resolves when the program has ended; rejects with StorageError if it cannot be started. */
  readonly ended: Promise<ProgramEnd>;

  private constructor(path: string, options: ProgramOptions, prefix: readonly string[]) {
    this.#graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
    this.#maxLineBytes = options.maxLineBytes ?? DEFAULT_LINE_BYTES;
    const [command, ...first] = [...prefix, path];
    const child = spawn(command!, [...first, ...options.arguments], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: environment(),
      // A group of its own: programs that it starts (`sort`) end with it.
      detached: true,
      cwd: options.cwd,
    });
    this.#child = child;
    this.#stdin = child.stdin;
    this.#stdout = child.stdout;
    // A program may end before it has read its input; then its exit status decides.
    child.stdin.on('error', () => undefined);
    child.stderr.setEncoding('latin1').on('data', (text: string) => {
      const kept = text.slice(0, MAX_ERROR_CHARACTERS - this.#errorOutput.length);
      this.#errorOutput += kept;
      this.#droppedErrors += text.length - kept.length;
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', (cause) => {
        reject(new StorageError(`${path} cannot be started: ${cause.message}`, { cause }));
      });
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    const clearKill = () => {
      this.#isOver = true;
      clearTimeout(this.#kill);
    };
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

  /** The first 16 384 characters of its standard error. */
  get errorOutput(): string {
    return this.#errorOutput;
  }

  /** {@link errorOutput} as one line for a log: its lines are joined by ` | `. Empty if it wrote nothing. */
  get errorLine(): string {
    const lines = this.#errorOutput.split('\n').map((line) => line.replace(CONTROLS, ' ').trim());
    if (this.#droppedErrors > 0) lines.push(`and ${this.#droppedErrors} more characters`);
    return lines.filter((line) => line !== '').join(' | ');
  }

  /** Milliseconds since it last took input or printed something; 0 while it waits for more input. */
  get idleMs(): number {
    return this.#isFed ? performance.now() - this.#activeAt : 0;
  }

  /** Writes to its standard input. Resolves when it accepts more input, or has ended. */
  async write(text: string): Promise<void> {
    const stdin = this.#stdin;
    if (stdin.destroyed || stdin.write(text)) return;
    this.#activeAt = performance.now();
    this.#isFed = true;
    await new Promise<void>((resolve) => {
      const done = () => {
        stdin.off('drain', done).off('close', done);
        resolve();
      };
      stdin.on('drain', done).on('close', done);
    });
    this.#isFed = false;
  }

  endInput(): void {
    this.#activeAt = performance.now();
    this.#isFed = true;
    this.#stdin.end();
  }

  /** Yields the lines of each chunk of output, without line ends; reads only on demand. */
  async *lines(): AsyncGenerator<string[]> {
    let rest = '';
    let skipping = false;
    try {
      for await (const chunk of this.#stdout.setEncoding('latin1')) {
        this.#activeAt = performance.now();
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

  /**
   * BRK-8.13 (2): sends SIGTERM to the program and to those that it started, and SIGKILL after `graceMs`.
   * Output that they have written can still be read.
   */
  stop(): void {
    if (this.#kill !== undefined || this.#isOver) return;
    this.#signalGroup('SIGTERM');
    this.#kill = setTimeout(() => this.#signalGroup('SIGKILL'), this.#graceMs);
  }

  /** Like {@link stop}, but also closes its output, so that it gets SIGPIPE (BRK-8.13 (3)). */
  drop(): void {
    this.#stdout.destroy();
    this.#stdin.destroy();
    this.stop();
  }

  #signalGroup(name: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#isOver) return;
    try {
      process.kill(-pid, name);
    } catch (error) {
      if (errorCode(error) !== 'ESRCH') throw error;
    }
  }
}

/** How {@link runToEnd} waits. */
export interface RunLimits {
  /** Stops the program when it aborts. */
  readonly signal?: AbortSignal;
  /**
   * Maximum milliseconds in which it neither takes input nor prints anything; then it is stopped. Default half
   * an hour.
   */
  readonly silenceMs?: number | undefined;
}

/** Half an hour: an indexing program prints a line for each file, but sorts a large index silently. */
const DEFAULT_SILENCE_MS = 1_800_000;

/**
 * Discards the output of a program and waits for its end.
 *
 * @throws StorageError with its whole standard error, up to the limit of {@link Program.errorOutput}, if the
 *   program fails or prints nothing for too long
 */
export async function runToEnd(program: Program, name: string, limits: RunLimits = {}): Promise<void> {
  const { signal, silenceMs = DEFAULT_SILENCE_MS } = limits;
  const drop = () => program.drop();
  let isSilent = false;
  const watch = () => {
    const rest = silenceMs - program.idleMs;
    if (rest > 0) timer = setTimeout(watch, rest);
    else {
      isSilent = true;
      program.drop();
    }
  };
  let timer = setTimeout(watch, silenceMs);
  signal?.addEventListener('abort', drop, { once: true });
  if (signal?.aborted === true) drop();
  try {
    let last = '';
    for await (const lines of program.lines()) last = lines.findLast((line) => line.trim() !== '') ?? last;
    const end = await program.ended;
    if (isSilent)
      throw new StorageError(failureOf(program, name, `nothing happened for ${silenceMs / 1000} s`, ''));
    if (end.code === 0) return;
    throw new StorageError(failureOf(program, name, statusOf(end), last));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', drop);
  }
}

/** Says how a program ended, e.g. `exit status 2` or `SIGKILL`. */
export function statusOf({ code, signal }: ProgramEnd): string {
  return signal ?? `exit status ${code}`;
}

/**
 * Returns the sentence about a failed program: how it ended, and its whole standard error, or else its last
 * line of output.
 */
export function failureOf(program: Program, name: string, status: string, last: string): string {
  const reason = program.errorLine || last.replace(CONTROLS, ' ').trim();
  return `${name} failed (${status})${reason === '' ? '' : `: ${reason}`}`;
}
